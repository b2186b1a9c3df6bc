#!/bin/sh
# Installs what is missing, builds everything and runs the tests.
#
#   scripts/test.sh [LABEL...]      labels: quick, golden, rtl, long; none: all but long
#   DLASIM_CONFIGURE                more options for cmake
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# Shows pages in a browser; reads waveforms; writes models; runs a sweep as jobs of a cluster, where the user is root; makes the site of the pages.
with_tests=yes
more_packages="chromium gtkwave python3-onnx slurmctld slurmd slurm-client munge sqlite3 mkdocs-material debootstrap xz-utils mold"
command -v node >/dev/null || more_packages="$more_packages nodejs ca-certificates"
. "$root/scripts/prepare.sh"
directory="$root/build"
"$root/scripts/browser_tools.sh" "$directory/browser" || echo "no Playwright from npm: the page of a run is not driven by it" >&2
# shellcheck disable=SC2086
build_targets "$directory" Release -DDLASIM_TESTS=ON ${DLASIM_CONFIGURE:-}
if [ $# -gt 0 ]; then
    pattern=$(printf '%s|' "$@")
    set -- --label-regex "^(${pattern%|})\$"
else
    set -- --label-exclude '^long$'
fi
exec ctest --test-dir "$directory" --output-on-failure --no-tests=error --parallel "$jobs" "$@"
