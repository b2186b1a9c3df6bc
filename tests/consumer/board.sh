#!/bin/sh
# Installs dlasim from a build folder into a fresh prefix, builds the board of examples/baremetal against it and runs a layer on it that
# `dlasim export` has written.
#   board.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$2" --prefix "$prefix/dlasim" >/dev/null
echo '{"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}, "bias": true}' \
    >"$prefix/layer.json"
for run in "nv_small $prefix/layer.json" "nv_full $prefix/layer.json" "nv_small $1/models/onnx/acri_mnist.onnx"; do
    hardware=${run%% *}
    "$2/dlasim" export "${run#* }" --hw "$hardware" --form c --to "$prefix/program.h" --quiet
    rm -rf "${prefix:?}/$hardware"
    cmake -S "$1/examples/baremetal" -B "$prefix/$hardware" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/dlasim" \
        -DPROGRAM="$prefix/program.h" -DHARDWARE="$hardware" >/dev/null
    cmake --build "$prefix/$hardware" >/dev/null
    "$prefix/$hardware/board"
done
