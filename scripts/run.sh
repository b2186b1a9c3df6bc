#!/bin/sh
# Installs what is missing, builds dlasim and runs a layer. What it does it says on stderr; stdout has the result alone.
#
#   scripts/run.sh LAYER.json [options of dlasim run]      scripts/run.sh models/resnet50_res3a_branch2b.json --hw nv_large
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -eq 0 ]; then
    sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
. "$root/scripts/prepare.sh"
build_targets "$root/build" Release -DDLASIM_TESTS=OFF -- dlasim
exec "$root/build/dlasim" run "$@"
