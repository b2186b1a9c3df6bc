#!/bin/sh
# Installs missing packages, builds dlasim and runs a layer. Progress goes to stderr, the result to stdout.
#
#   scripts/run.sh LAYER.json [options of dlasim run]      scripts/run.sh models/resnet50_res3a_branch2b.json --hw nv_large
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -eq 0 ]; then
    sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
. "$root/scripts/prepare.sh"
# The tests are built in the same place; whoever has them keeps them.
tests=OFF
grep -qs '^DLASIM_TESTS:BOOL=ON' "$root/build/CMakeCache.txt" && tests=ON
build_targets "$root/build" Release -DDLASIM_TESTS=$tests -- dlasim
exec "$root/build/dlasim" run "$@"
