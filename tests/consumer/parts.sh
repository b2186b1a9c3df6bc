#!/bin/sh
# A build without ONNX, pictures, Timeloop, timelines and searches runs layers and networks, and refuses the others by the name of the part.
#   parts.sh SOURCE_FOLDER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build() { # FOLDER PART...
    folder=$work/$1
    shift
    cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release $(printf -- '-DDLASIM_%s=OFF ' "$@") >"$work/log" 2>&1 &&
        cmake --build "$folder" --target dlasim >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$folder/dlasim" run "$source/models/lenet5_conv2.json" --hw nv_small --out "$work/out" | grep "verified     yes" >/dev/null
}
refuses() { # PART PROGRAM ARGUMENT...
    part=$1
    shift
    if "$@" >"$work/said" 2>&1; then echo "$* is no refusal"; exit 1; fi
    grep "expected one configured with -DDLASIM_$part=ON" "$work/said" >/dev/null || { cat "$work/said"; exit 1; }
}
source=$1
printf '\211PNG\r\n\032\n' >"$work/picture.png"
model=$source/models/onnx/resnet_small.onnx
build pictures PICTURES
"$work/pictures/dlasim" net "$model" --hw nv_small --input "$source/models/onnx/images.npy" --timing-only --quiet --out "$work/out"
refuses PICTURES "$work/pictures/dlasim" net "$model" --hw nv_small --input "$work/picture.png" --quiet
build bare ONNX PICTURES TIMELOOP PERFETTO SEARCH
refuses ONNX "$work/bare/dlasim" net "$model" --hw nv_small --quiet
refuses PERFETTO "$work/bare/dlasim" run "$source/models/lenet5_conv2.json" --hw nv_small --timeline "$work/t.pftrace" --quiet
"$work/bare/dlasim" export "$source/models/networks/lenet5.json" --hw nv_small --form nvdla --to "$work/lenet5.nvdla" --quiet
