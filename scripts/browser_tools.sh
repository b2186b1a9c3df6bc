#!/bin/sh
# Installs what the tests of pages drive a browser with from npm: Playwright without browsers of its own, the last one for Node 18 of
# Debian 12, and axe-core. Neither depends on anything, so where there is no npm, 340 packages of Debian, their archives are fetched.
#
#   scripts/browser_tools.sh DIRECTORY
set -eu
directory=$1
has() {
    grep -qs "\"version\": \"$2\"" "$directory/node_modules/$1/package.json"
}
has playwright-core 1.60.0 && has axe-core 4.14.1 && exit 0
mkdir -p "$directory"
cd "$directory"
if command -v npm >/dev/null; then
    exec npm install --no-audit --no-fund --silent --prefix . playwright-core@1.60.0 axe-core@4.14.1 >&2
fi
exec python3 - <<'END' >&2
import base64, hashlib, io, os, shutil, tarfile, urllib.request

REGISTRY = os.environ.get("npm_config_registry", "https://registry.npmjs.org").rstrip("/")
for name, version, sha512 in (
        ("playwright-core", "1.60.0", "9bW6zvX/m0lEbgTKJ6YppOKx8H3VOPBMOCFh2irXFOT4BbHgrx5hPjwJYLT40Lu+4qtD36qKc/Hn56StUW57IA=="),
        ("axe-core", "4.14.1", "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==")):
    with urllib.request.urlopen(f"{REGISTRY}/{name}/-/{name}-{version}.tgz", timeout=60) as answer:
        archive = answer.read()
    if base64.b64encode(hashlib.sha512(archive).digest()).decode() != sha512:
        raise SystemExit(f"{name} {version} is not what was asked for")
    place = f"node_modules/{name}"
    for old in (place, f"{place}.part"):
        shutil.rmtree(old, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(f"{place}.part")
    os.rename(f"{place}.part/package", place)
    os.rmdir(f"{place}.part")
END
