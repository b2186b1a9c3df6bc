# Sourced by run.sh, test.sh and checks.sh: installs missing Debian packages, as root or with sudo. Progress goes to stderr; without
# anything to do it is quick and silent. Set before: with_tests, to build the tests; more_packages.

packages="g++ cmake ninja-build pkg-config libsystemc-dev libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev
          libsqlite3-dev libpagmo-dev libxxhash-dev libonnx-dev libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler libyaml-cpp-dev libpng-dev libjpeg-dev
          ${more_packages:-}"
[ -z "${with_tests:-}" ] ||
    packages="$packages python3 python3-numpy python3-pil python3-pandas python3-matplotlib python3-pip python3-setuptools python3-wheel libgtest-dev libgmock-dev libbenchmark-dev libdnnl-dev libsimde-dev clang-format valgrind"

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
    echo "installing, a minute or two:$missing" >&2
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

jobs=$(nproc 2>/dev/null || echo 2)

# Runs a command that fills a log; on failure the log is shown and the script ends. logged LOG COMMAND...
logged() {
    log=$1
    shift
    "$@" >>"$log" 2>&1 || { cat "$log" >&2; exit 2; }
}

# Configures, builds what has changed: build_targets DIRECTORY BUILD_TYPE OPTIONS... -- TARGETS...
build_targets() {
    directory=$1 type=$2
    shift 2
    options=""
    while [ $# -gt 0 ] && [ "$1" != "--" ]; do options="$options $1"; shift; done
    [ $# -eq 0 ] || shift
    mkdir -p "$directory"
    : >"$directory/build.log"
    [ -f "$directory/build.ninja" ] || echo "configuring $directory" >&2
    # shellcheck disable=SC2086
    logged "$directory/build.log" cmake -S "$root" -B "$directory" -G Ninja -DCMAKE_BUILD_TYPE="$type" $options
    build_changed "$directory" "$@"
}

# Reports the progress of a long build on stderr: progress DIRECTORY, in the background.
progress() {
    sleep 3 >/dev/null 2>&1
    echo "building $1 on $jobs cores, minutes the first time; the log is $1/build.log" >&2
    while sleep 30 >/dev/null 2>&1; do
        sed -n 's/^\[\([0-9]*\)\/\([0-9]*\)\].*/  \1 of \2 steps/p' "$1/build.log" | tail -1 >&2
    done
}

# Builds what has changed of these targets, all without any: build_changed DIRECTORY TARGETS...
build_changed() {
    directory=$1
    shift
    progress "$directory" &
    teller=$!
    built=yes
    cmake --build "$directory" --parallel "$jobs" ${*:+--target "$@"} >>"$directory/build.log" 2>&1 || built=no
    kill "$teller"
    [ $built = yes ] || { cat "$directory/build.log" >&2; exit 2; }
}
