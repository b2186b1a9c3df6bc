#!/bin/sh
# The tutorial and the installation of the Python package in a bare Debian 12, by somebody who has nothing but the sources.
#
#   tests/pages/bare.sh FOLDER     as root, with debootstrap, git and a mirror of Debian; FOLDER is made, and used again if it is there
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -eq 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$1
[ -f "$root/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$root" >&2
mkdir -p "$root/root/dlasim"
git -C "$source" archive HEAD | tar -x -C "$root/root/dlasim"
for mounted in proc dev; do
    mountpoint -q "$root/$mounted" || mount --bind "/$mounted" "$root/$mounted"
done
trap 'umount "$root/proc" "$root/dev"' EXIT
"$source/scripts/page_examples.py" --root "$root" "$source/docs/TUTORIAL.md" "$source/docs/PYTHON.md"
