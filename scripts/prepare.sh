# Sourced by run.sh and test.sh: installs the Debian packages that are missing, as root or with sudo.
# Quick and silent when everything is there.

packages="g++ cmake ninja-build pkg-config python3 python3-numpy libsystemc-dev libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev
          libgtest-dev libgmock-dev libbenchmark-dev libdnnl-dev clang-format"

missing=""
for package in $packages; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done

if [ -n "$missing" ]; then
    sudo=""
    if [ "$(id -u)" -ne 0 ]; then
        sudo="sudo"
        command -v sudo >/dev/null || { echo "missing packages:$missing; install them as root" >&2; exit 2; }
    fi
    echo "installing:$missing" >&2
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

jobs=$(nproc 2>/dev/null || echo 2)

# Configures once, builds what has changed: build_targets DIRECTORY BUILD_TYPE OPTIONS... -- TARGETS...
build_targets() {
    directory=$1 type=$2
    shift 2
    options=""
    while [ $# -gt 0 ] && [ "$1" != "--" ]; do options="$options $1"; shift; done
    [ $# -eq 0 ] || shift
    log="$directory/build.log"
    mkdir -p "$directory"
    # shellcheck disable=SC2086
    { cmake -S "$root" -B "$directory" -G Ninja -DCMAKE_BUILD_TYPE="$type" $options && cmake --build "$directory" --parallel "$jobs" ${*:+--target "$@"}; } \
        >"$log" 2>&1 || { cat "$log" >&2; exit 2; }
}
