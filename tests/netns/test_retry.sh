#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A cable that is asked for each of the retry protocols in turn, under traffic and bit
# errors, in a lab of real processes: two nodes and the two cables between them.
#
# With TORUS_BACKEND=kernel or mixed, in a machine that has the driver: such NICs.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
lab=rt$$
link=0:+x

ctl() { say "fabricctl $*"; "$B/fabricctl" "$@"; }
lab() { ctl lab "$1" --name "$lab" "${@:2}"; }
ask() { "$B/fabricctl" "$1" --lab "$lab" "${@:2}"; }
# shellcheck disable=SC2317
cleanup() { "$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; }

# ends FILTER WANT: of both ends of the cable
ends() {
	local got
	got=$(ask links --json | jq -c --arg f "$1" '[.[] | select((.node == [0] and .port == "+x") or
		(.node == [1] and .port == "-x")) | getpath($f | split("."))]')
	[[ $got == "[$2,$2]" ]] || { echo "$1: $got"; return 1; }
}

sum() {
	ask links --json | jq --arg f "$1" '[.[] | select((.node == [0] and .port == "+x") or
		(.node == [1] and .port == "-x")) | getpath([$f])] | add'
}

at_rest() { [[ $(ask status --json | jq -r .state) == @(running|degraded) ]]; }
more() { (($(sum "$1") > $2)) || { echo "$1: $(sum "$1")"; return 1; }; }

speaks() {
	lab retry "$link" "$1" && lab cut "$link" && lab mend "$link" && until_true 20 ends retry "\"$1\"" &&
		until_true 20 ends state '"up"' && until_true 20 ask verify
}

# The other cable is away: all goes by this one, both ways.
alone() { ask exclude 0:-x && until_true 20 at_rest && until_true 20 ask verify; }

# Errors and their mending are seen on the way; nothing of the stream is lost by them.
errors() {
	local crc replayed
	crc=$(sum crc_errors) replayed=$(sum replayed_packets)
	lab ber "$link" 1e-6 && lab traffic --tcp -s "$seconds" 0 1 || return 1
	lab ber "$link" 0 && more crc_errors "$crc" && more replayed_packets "$replayed" &&
		until_true 20 ends state '"up"' && lab traffic -s 1 0 1
}

two_up() { lab up 2 "${patience[@]}" && until_true 20 at_rest; }

seconds=2
[[ ${TORUS_BACKEND:-user} == user ]] || tag="$TORUS_BACKEND: "
check "two nodes are up" two_up || exit 1
check "one cable for all" alone
for protocol in acknak hippi angara; do
	check "$protocol: both ends speak it" speaks $protocol
	check "$protocol: traffic stays whole through bit errors" errors
done
check "nothing was lost" eval '[[ $(ask status --json | jq "[.. | .lost? // empty] | add // 0") == 0 ]]'
check "lab down" lab down
done_testing
