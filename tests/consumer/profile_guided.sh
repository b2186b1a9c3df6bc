#!/bin/sh
# The profile-guided build gives what the other one gives: every model and two networks on three machines and two memories, byte for byte.
#   profile_guided.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$1" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDLASIM_PROFILE_GUIDED=ON -DDLASIM_TESTS=OFF >"$work/log" 2>&1 &&
    cmake --build "$work/build" --target dlasim >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ -n "$(find "$work/build/profile/counts" -name '*.gcda')" ] || { echo "nothing was counted"; exit 1; }
compared=0
for model in "$1"/models/*.json "$1"/models/networks/lenet5.json "$1"/models/networks/squeezenet_v1_1.json; do
    for options in "nv_small ideal" "nv_large ddr4-3200" "nv_full ideal" "nv_full ddr4-3200"; do
        for program in "$2/dlasim" "$work/build/dlasim"; do
            rm -rf "$work/out"
            "$program" run "$model" --hw "${options% *}" --memory "${options#* }" --reproducible --out "$work/out" >/dev/null 2>&1 || echo "status $?"
            [ ! -f "$work/out/result.json" ] || echo "result $(sha256sum <"$work/out/result.json")"
        done >"$work/results"
        [ "$(sort -u "$work/results" | wc -l)" -eq 1 ] || { echo "$model on $options: the builds differ"; exit 1; }
        if grep -q ^result "$work/results"; then compared=$((compared + 1)); fi
    done
done
echo "$compared results are equal"
[ "$compared" -ge 100 ]
