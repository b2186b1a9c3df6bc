#!/bin/sh
# What the compiler, its sanitizers and clang-tidy find beyond the release tests. Installs what is missing.
#
#   scripts/checks.sh [debug] [asan] [asan-all] [tidy]      none: debug asan tidy
#
#   debug   the tests of the label quick, built with -O0 and the assertions of the standard library
#   asan    the same with AddressSanitizer and UndefinedBehaviorSanitizer; for tests of single units, measured cases on the whole
#           machine. CI runs this one: it is Debug as well.
#           Some random laws run a tenth of their trials, the fuzzers a tenth of their inputs (tests/CMakeLists.txt); of many similar
#           examples a quarter is tried (tests/cli/examples.py)
#           Tests that take minutes under sanitizers and are no source of hostile input have another label than quick
#   asan-all   asan with all tests and all examples
#   tidy    clang-tidy on the sources that differ from the branch this one left, or of the last five commits; at most 8 files
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- debug asan tidy
with_tests=yes
more_packages="clang-tidy git mold"
. "$root/scripts/prepare.sh"
cd "$root" || exit 2

configured() {
    mkdir -p "build-$1"
    : >"build-$1/build.log"
    logged "build-$1/build.log" cmake --preset "$1"
}

quick_tests() {
    configured "$1"
    build_changed "$root/build-$1" quick_tests
    ctest --preset "$1" --no-tests=error --parallel "$jobs" --progress
}

# The sources that changed, the latest first.
changed_files() {
    git rev-parse --verify -q HEAD >/dev/null || return 0
    base=HEAD~5
    for branch in origin/HEAD origin/main main; do
        merge_base=$(git merge-base HEAD "$branch" 2>/dev/null) || continue
        [ "$merge_base" = "$(git rev-parse HEAD)" ] || { base=$merge_base; break; }
    done
    git rev-parse --verify -q "$base" >/dev/null || return 0
    git log --name-only --pretty=format: --diff-filter=d "$base..HEAD" -- 'src/*.cpp' | awk 'NF && !seen[$0]++' |
        while read -r file; do [ ! -f "$file" ] || echo "$file"; done | head -8
}

clang_tidy() {
    files=$(changed_files)
    [ -n "$files" ] || { echo "no history, or no source changed: nothing for clang-tidy"; return 0; }
    configured debug
    build_changed "$root/build-debug" generated_headers
    # shellcheck disable=SC2086
    echo $files | xargs -n 1 -P "$jobs" clang-tidy -p build-debug --quiet --warnings-as-errors='*' 2>/dev/null
}

failed=""
for check in "$@"; do
    began=$(date +%s)
    case $check in
        debug | asan | asan-all) quick_tests "$check" ;;
        tidy) clang_tidy ;;
        *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac || failed="$failed $check"
    echo "$check: $(($(date +%s) - began)) s" >&2
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
