#!/bin/sh
# Builds examples/platforms against an installed dlasim and runs them. Two accelerators behind one DRAM: each alone takes the cycles of
# `dlasim run`, every run repeats, every byte that a master counts has crossed its port.
#   platforms.sh SOURCE_FOLDER BUILD_FOLDER [--write]      --write: the table of docs/LIBRARY.md
set -eu
source=$1 dlasim=$2/dlasim
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$2" --prefix "$prefix/dlasim" >/dev/null
cmp "$source/models/lenet5_conv2.json" "$prefix/dlasim/share/dlasim/models/lenet5_conv2.json"
cmp "$source/examples/platforms/own_bus.cpp" "$prefix/dlasim/share/dlasim/examples/platforms/own_bus.cpp"
cmake -S "$source/examples/platforms" -B "$prefix/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix/dlasim" >/dev/null
cmake --build "$prefix/build" >/dev/null
layer=$source/models/lenet5_conv2.json memory=ddr4-3200
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
for run in "own_memory $layer" "our_dram $layer" "our_dram $layer nv_full hbm2" "our_dram $layer nv_small ddr4-3200 in_order" "loosely_timed $layer" "loosely_timed $layer 1" "own_bus $layer" "own_driver $layer"; do
    echo "$run" | sed "s|$source/||"
    # shellcheck disable=SC2086
    "$prefix/build/"$run >"$prefix/out" 2>/dev/null || { cat "$prefix/out"; exit 1; }
    cat "$prefix/out"
done
# Without CMake.
PKG_CONFIG_PATH=$(dirname "$(find "$prefix/dlasim" -name dlasim.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
c++ -std=c++20 "$source/examples/platforms/our_dram.cpp" -o "$prefix/our_dram" $(pkg-config --cflags --libs dlasim)
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH") "$prefix/our_dram" "$layer" >/dev/null

# The first platform of the page, as it stands there.
sed -n '/^```cpp/,/^```$/p' "$source/docs/LIBRARY.md" | sed '/^```/d' >"$prefix/first.cpp"
# shellcheck disable=SC2046
c++ -std=c++20 "$prefix/first.cpp" -o "$prefix/first_platform" $(pkg-config --cflags --libs dlasim)
cp "$layer" "$prefix/layer.json"
"$dlasim" run "$layer" --hw nv_small --memory $memory --out "$prefix/run" --quiet
cycles=$(sed -n 's/^ *"cycles": \([0-9]*\),$/\1/p' "$prefix/run/result.json" | head -1)
(cd "$prefix" && LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH") ./first_platform 2>/dev/null) | grep -x "$cycles cycles, verified"
layer=$source/models/lenet5_fc1.json hardware=nv_medium_512
"$dlasim" run "$layer" --hw $hardware --memory $memory --out "$prefix/run" --quiet
alone=$(sed -n 's/^ *"cycles": \([0-9]*\),$/\1/p' "$prefix/run/result.json" | head -1)
shared() {
    "$prefix/build/shared_dram" "$layer" $hardware $memory "$@" >"$prefix/first" 2>/dev/null || { cat "$prefix/first"; exit 1; }
    "$prefix/build/shared_dram" "$layer" $hardware $memory "$@" >"$prefix/again" 2>/dev/null
    cmp "$prefix/first" "$prefix/again"
    cycles_a=$(sed -n 's/^a \([0-9]*\) .*/\1/p' "$prefix/first")
    cycles_b=$(sed -n 's/^b \([0-9]*\) .*/\1/p' "$prefix/first")
}
row() {
    text=$1
    shift
    shared "$@"
    printf '| %s | %s | %s |\n' "$text" "$(told "$cycles_a")" "$(told "$cycles_b")"
}
told() { [ -z "$1" ] && echo - || awk -v c="$1" -v a="$alone" 'BEGIN { printf "%d (%.3f)", c, c / a }'; }
shared a
[ "$cycles_a" = "$alone" ]
shared b
[ "$cycles_b" = "$alone" ]
{
    echo "| with $memory | cycles of a | cycles of b |"
    echo "|---|---|---|"
    row "a alone" a
    row "b alone" b
    row "both" ab
    row "both, generator of 64 bytes every 4 cycles" ab 4
    row "the same, a first" ab 4 1
    row "the same, generator limited to 2 bursts" ab 4 0 2
    row "the same, a first and generator limited to 2 bursts" ab 4 1 2
} >"$prefix/table"
cat "$prefix/table"
page=$source/docs/LIBRARY.md
if [ "${3:-}" = --write ]; then
    awk -v table="$prefix/table" '/^\| with /{while ((getline line < table) > 0) print line; skip = 1} skip && !/^\|/{skip = 0} !skip' "$page" >"$prefix/page"
    cat "$prefix/page" >"$page"
else
    sed -n '/^| with /,/^$/p' "$page" | sed '/^$/d' | cmp - "$prefix/table"
fi
