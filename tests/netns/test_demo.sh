#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/demo as in README.md, only shorter: it shows what it promises, and leaves nothing behind.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=demo$$

demo() { say "tools/demo $*"; timeout 300 "$TOP/tools/demo" --name "$lab" "$@"; }
shown() { grep -E -- "$1" "$tmp/shown"; }
left() { ls -d "/run/torus/$lab" "/etc/netns/$lab"-* "/run/netns/$lab"-* 2>/dev/null; }

runs() { demo --seconds 5 >"$tmp/shown" 2>&1 || { cat "$tmp/shown"; return 1; }; }

# The cable is cut while all three flows are under way; the fabric recovers twice.
all_shown() {
	shown 'lab .* is up: 4x4, 16 nodes, 32 cables' && shown '^tcp .* clean$' &&
		shown '^udp .* clean$' && shown '^mpi +16 ranks, [1-9][0-9]* rounds, 0 words wrong' &&
		shown '^fabric .*: degraded' && shown '^nothing was lost, duplicated'
}
no_colour() { ! grep -q $'\e' "$tmp/shown"; }
nothing_left() { ! left; }

refusals() {
	exits 2 "no argument 'x'" demo x && exits 2 "must be 1 to 9999" demo --seconds 0 && nothing_left
}

check "tools/demo succeeds" runs
check "the demo shows a fabric that recovers, and flows without loss" all_shown
check "the demo's output to a file has no colour" no_colour
check "the demo leaves nothing behind" nothing_left
check "the demo refuses wrong arguments, and leaves nothing behind" refusals
done_testing
