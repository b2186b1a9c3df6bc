#!/bin/sh
# Makes the Debian packages of a build, installs them in a clean Debian 12 and tries them there: the command, a platform built with CMake and with
# pkg-config, the Python package. As root, with debootstrap and a mirror of Debian.
#   packages.sh SOURCE_FOLDER BUILD_FOLDER [ROOT]      ROOT is kept, and used again if it is there
set -eu
work=$(mktemp -d)
root=${3:-$work/root}
unmount() {
    for mounted in proc dev; do if mountpoint -q "$root/$mounted"; then umount "$root/$mounted"; fi; done
    rm -rf "$work"
}
trap unmount EXIT
(cd "$work" && cpack --config "$2/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
for package in "$work"/made/*.deb; do dpkg-deb -I "$package" | sed -n 's/^ \(Package\|Depends\):/\1:/p'; done
[ -f "$root/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
for mounted in proc dev; do mountpoint -q "$root/$mounted" || mount --bind "/$mounted" "$root/$mounted"; done
mkdir -p "$root/tmp/packages"
cp "$work"/made/*.deb "$root/tmp/packages"
cp -r "$1/examples/platforms" "$1/models/lenet5_conv2.json" "$root/tmp/packages"
chroot "$root" sh -e <<'IN'
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends /tmp/packages/*.deb g++ cmake make pkg-config >/dev/null
cd /tmp/packages
dlasim run lenet5_conv2.json --hw nv_small --memory ddr4-3200 --quiet --out out
dpkg -L dlasim | grep -c -E 'man1/dlasim|bash-completion/completions/dlasim|zsh/site-functions/_dlasim' | grep -x 3
test -f /usr/share/dlasim/models/lenet5_conv2.json
test -f /usr/share/dlasim/examples/platforms/own_bus.cpp
cmake -S platforms -B built >/dev/null
cmake --build built >/dev/null
built/our_dram /tmp/packages/lenet5_conv2.json
c++ -std=c++20 platforms/our_dram.cpp -o by_hand $(pkg-config --cflags --libs dlasim)
./by_hand lenet5_conv2.json >/dev/null
python3 -c 'import dlasim; result = dlasim.run("lenet5_conv2.json", hw="nv_small"); print(result.cycles)'
dpkg -r python3-dlasim libdlasim-dev dlasim >/dev/null
test ! -e /usr/bin/dlasim
IN
