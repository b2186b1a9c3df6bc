#!/bin/sh
# Installs what the tests of pages drive a browser with - Playwright without browsers of its own, axe-core - from npm.
#
#   scripts/browser_tools.sh DIRECTORY
set -eu
directory=$1
[ -d "$directory/node_modules/playwright-core" ] && [ -d "$directory/node_modules/axe-core" ] && exit 0
mkdir -p "$directory"
cd "$directory"
npm install --no-audit --no-fund --silent --prefix . playwright-core@1.65.1 axe-core@4.14.1 >&2
