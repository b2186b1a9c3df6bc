#!/bin/sh
# Installs dlasim from a build folder into a fresh prefix, builds the consumer against it and runs it.
#   run.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$2" --prefix "$prefix/dlasim" >/dev/null
cmake -S "$1" -B "$prefix/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix/dlasim" >/dev/null
cmake --build "$prefix/build" >/dev/null
"$prefix/build/consumer"
