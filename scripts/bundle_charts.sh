#!/bin/sh
# Bundles what pages draw with - Apache ECharts of the version in src/base/files/page/package-lock.json - into
# src/base/files/page/charts.bundle.js, with the licences. Only who changes the version or the parts in use needs it, and npm.
#
# usage: scripts/bundle_charts.sh
set -eu
page=$(cd "$(dirname "$0")/../src/base/files/page" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$page/package.json" "$page/package-lock.json" "$page/charts.js" "$work"
cd "$work"
npm ci --no-audit --no-fund --silent
npx esbuild charts.js --bundle --minify --format=iife --target=es2018 --charset=ascii --legal-comments=none --outfile=charts.bundle.js --log-level=warning
{
    for package in echarts zrender tslib; do
        printf '%s %s\n\n' "$package" "$(node -p "require('./node_modules/$package/package.json').version")"
        cat "node_modules/$package/LICENSE"* ; [ ! -f "node_modules/$package/NOTICE" ] || cat "node_modules/$package/NOTICE"
        printf '\n%s\n\n' "================"
    done
} > LICENSES.txt
cp charts.bundle.js LICENSES.txt "$page"
ls -l "$page/charts.bundle.js" >&2
