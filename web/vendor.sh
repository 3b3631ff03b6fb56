#!/bin/sh
# Puts the pinned Apache ECharts and its licences into web/static/vendor/echarts, where Go embeds it. Does nothing if the right file is there.
set -eu
cd "$(dirname "$0")/.."

# sha256 of dist/echarts.min.js of the version in package-lock.json; change both together.
want=b66b25aeb4df84e33199dc21694014d336d222cbd9deb0e5a7c14bd6aa0d0fd0
to=web/static/vendor/echarts

sum() {
	if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}
complete() {
	for f in echarts.min.js LICENSE NOTICE LICENSE-d3; do [ -s "$to/$f" ] || return 1; done
	[ "$(sum "$to/echarts.min.js")" = "$want" ]
}

if complete; then exit 0; fi
if ! command -v npm >/dev/null 2>&1; then
	echo "web/vendor.sh: npm is missing, so the pages would have no charts: install Node.js (apt-get install nodejs npm)" >&2
	exit 1
fi
npm ci --ignore-scripts --no-audit --no-fund --silent
from=node_modules/echarts
got=$(sum $from/dist/echarts.min.js)
if [ "$got" != "$want" ]; then
	echo "web/vendor.sh: $from/dist/echarts.min.js has sha256 $got, want $want: not copied" >&2
	exit 1
fi
mkdir -p "$to"
cp $from/LICENSE $from/NOTICE $from/licenses/LICENSE-d3 "$to/"
cp $from/dist/echarts.min.js "$to/echarts.min.js.tmp"
mv "$to/echarts.min.js.tmp" "$to/echarts.min.js"
