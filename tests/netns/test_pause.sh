#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# A machine that stands still: all NICs and managers of a lab stop, and go on one after the other.
# No node died, so each packet arrives, once and in order, and none comes back as unreachable.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=pause$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab
PINGS=500
interval=0.02

raised() { lab up 3x3 "$@" && is .state running; }
lost() { ask links --json >"$tmp/links" && jq "map(.state_changes) | add" "$tmp/links"; }
whole() { is .state running && is .nodes.up 9 && is .links.up 18; }

# Stops all processes for $1 s, and lets one go on each $2 s, in an order by lot.
stand_still() {
	local pids pid
	pids=$(cut -d ' ' -f 1 "$run"/*/fabricd.pid "$run"/*/torusemu.pid)
	[[ $(wc -w <<<"$pids") == 18 ]] || { echo "processes: $pids"; return 1; }
	# shellcheck disable=SC2086
	kill -STOP $pids || return
	sleep "$1"
	for pid in $(shuf -e $pids); do
		kill -CONT "$pid"
		sleep "$2"
	done
}
pinged() {
	local ping rc=0
	lab exec 2,2 -- ping -i "$interval" -W 30 -c "$PINGS" n1-2 >"$tmp/ping" &
	ping=$!
	until_true 10 grep -q 'icmp_seq=50 ' "$tmp/ping"
	stand_still "$@" || rc=1
	wait "$ping"
	tail -n 2 "$tmp/ping"
	grep -q " $PINGS received" "$tmp/ping" && ! grep -q DUP "$tmp/ping" && in_order &&
		waited "$1" && return $rc
}
# waited SECONDS: succeeds if some answer came nearly so late, as otherwise no process stood still
waited() {
	awk -F / -v s="$1" '/^rtt/ { found = $6 >= 900 * s } END { exit !found }' "$tmp/ping"
}
in_order() {
	sed -n 's/.*icmp_seq=\([0-9]*\) .*/\1/p' "$tmp/ping" >"$tmp/seq"
	sort -n -C "$tmp/seq"
}
none_unreachable() {
	local counters
	counters=$(ask counters --json) || return 1
	[[ $(jq 'map(.unreachable) | add' <<<"$counters") == 0 ]] ||
		{ jq -c '.[] | {node, unreachable, parked, replayed}' <<<"$counters"; return 1; }
}
stands() {
	pinged "$@" && until_true 30 whole && none_unreachable && all_came_once
}

# The clocks of paused nodes stand still, too: no link has been silent, for as long as that is for
# its NIC.
unharmed() {
	local before
	before=$(lost) && stands "$@" && [[ $before -gt 0 && $(lost) == "$before" ]]
}

check "a lab whose links may be silent for 2 s comes up" raised --set silence=2s
check "no link is lost if all NICs stand still for 3 s" unharmed 3 0
check "the lab ends" lab down
check "a lab of nine nodes comes up" raised
check "the fabric recovers if all NICs stand still for 2.5 s and resume in turn" stands 2.5 0.03
# The socket of ping has room for some 170 answers, and all that wait come at once.
interval=0.04
PINGS=250
check "the fabric recovers if all NICs stand still for 4 s and resume in turn" stands 4 0.03
check "verify finds no wrong path" verified
done_testing
