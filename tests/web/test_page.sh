#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# The page of fabricweb in Debian's Chromium, which playwright-core drives: of a lab, and of fabrics
# that a stub manager tells. Fetches playwright-core and axe-core from npm; FOLDER in the environment
# gets the screenshots.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=page$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
pictures=${FOLDER:-$tmp}
pids=()

cleanup() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
}

find_chromium() { CHROMIUM=$(type -P chromium || type -P chromium-headless-shell); }
# Installs what is missing: Debian's npm conflicts with a Node.js that brings its own.
programs() {
	local missing=()
	find_chromium || missing+=(chromium)
	command -v node >/dev/null && command -v npm >/dev/null || missing+=(nodejs npm)
	((!${#missing[@]})) ||
		(flock 9 && apt-get -q update && apt-get -q -y --no-install-recommends install "${missing[@]}") \
			9>/run/lock/torus-tests.lock </dev/null || return 1
	find_chromium || return 1
	mkdir "$tmp/npm" && (cd "$tmp/npm" && npm install --no-audit --no-fund playwright-core@1.65.1 axe-core@4.14.1)
	export CHROMIUM MODULES=$tmp/npm/node_modules
	[[ -d $MODULES/axe-core ]]
}

# serve CONTROL [OPTION...]: fabricweb at $url
serve() {
	local port=$((20000 + RANDOM % 30000))
	"$bin/fabricweb" --config /dev/null --listen "127.0.0.1:$port" --control "$@" 2>"$tmp/log.$port" & WEB=$!; pids+=("$WEB")
	export WEB SERVER="exec $bin/fabricweb --config /dev/null --listen 127.0.0.1:$port --control $1"
	url=http://127.0.0.1:$port/
	until_true 10 grep -q serving "$tmp/log.$port"
}
# stub SHAPE: a manager that tells of such a fabric, process $stub
stub() {
	"$TOP/tests/web/stub_manager.py" "$tmp/stub.$1" "$1" & stub=$!; pids+=("$stub")
	until_true 10 test -S "$tmp/stub.$1" && serve "$tmp/stub.$1"
}
page() { node "$TOP/tests/web/page.mjs" "$1" "$url" "$pictures" "${stub-}"; }

up() {
	lab up 4x3 && until_true 20 is .state running && lab cut 2,1:+y && ask exclude 3,2:+x && lab kill 3,0 && serve "/run/torus/$lab/0.0/control"
}
with_users() {
	printf '%s\n' "admin:change:$(openssl passwd -6 secret)" "reader:read:$(openssl passwd -6 secret)" >"$tmp/users"
	export USERPASS=admin:secret
	serve "/run/torus/$lab/0.0/control" --users "$tmp/users" --allow-changes
}
large() { stub 16x16x16 && page large; }
middle() { stub 8x8x8 && page large; }

check "Chromium, playwright-core and axe-core are there" programs || { done_testing; exit 1; }
check "a lab with faults comes up" up
check "the page has its three forms: light, dark, and of a phone" page pictures
check "nodes and links can be chosen by search, keys and pointer" page choices
check "the page reconnects when fabricweb is back" page reconnect
check "fabricweb serves the lab again" serve "/run/torus/$lab/0.0/control"
check "axe-core finds no problem of accessibility" page accessible
check "fabricweb serves the lab with users" with_users
check "the page makes changes and shows why a link is excluded" page changes
check "a stub manager starts" stub 4x4
check "a node name with markup is shown as text" page hostile
check "the page shows jobs in colours" page jobs
check "the page shows the steps of a recovery as they happen" page recovery
check "the page survives 1000 events in a second" page flood
check "the page shows a cut cable" page cut
check "the page shows 512 nodes" middle
check "the page shows 4096 nodes" large
cleanup
done_testing
