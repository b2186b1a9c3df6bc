#!/bin/sh
# Installs dlasim from a build folder into a fresh prefix, moves it elsewhere, builds the consumer against it and runs it.
#   run.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$2" --prefix "$prefix/first" >/dev/null
mv "$prefix/first" "$prefix/dlasim"
cmake -S "$1" -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/dlasim" >/dev/null
cmake --build "$prefix/build" >/dev/null
"$prefix/build/consumer"

# A project that can do without learns that SystemC is missing, and why.
mkdir "$prefix/without"
cat >"$prefix/without/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(without LANGUAGES CXX)
find_package(dlasim QUIET)
if(dlasim_FOUND)
    message(FATAL_ERROR "found without SystemC")
endif()
message(STATUS "${dlasim_NOT_FOUND_MESSAGE}")
END
PKG_CONFIG_LIBDIR="$prefix/none" PKG_CONFIG_PATH='' cmake -S "$prefix/without" -B "$prefix/without/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/dlasim" |
    grep "dlasim needs SystemC"
