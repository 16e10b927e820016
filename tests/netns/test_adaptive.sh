#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Adaptive traffic (VCA) while cables fail: packets in the RETRY buffer of a failed link take
# another path, nothing is lost, and counters show the fate of each. Flows of three sources meet at
# one node, whose neighbours have few packet buffers, so that VCA has no room at times and packets
# escape to VCD0.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=ad$$
to=1,1

running() { is .state running; }
newer() { (($(ask status --json | jq '.last_recovery.version // 0') > $1)); }
more_than() { (($(total "$1") > $2)); }
none() {
	local n
	n=$(total "$1") && [[ $n == 0 ]] || { echo "$1: '$n'"; return 1; }
}

# under COMMAND...: adaptive flows of three nodes, and COMMAND while they flow. Each flow must be
# clean: no record lost, duplicated or altered.
under() {
	local from pids=() rc=0
	note_sent 0,0 2,0 0,2 || return 1
	for from in 0,0 2,0 0,2; do
		"$bin/fabricctl" lab traffic --name "$lab" -s 8 --udp --dscp 8 "$from" $to >"$tmp/$from" 2>&1 &
		pids+=($!)
	done
	flows_from 0,0 2,0 0,2 && "$@" || rc=1
	for from in "${pids[@]}"; do
		wait "$from" || rc=1
	done
	cat "$tmp"/?,?
	return $rc
}

went_on_vca() {
	ask links --json | jq -e '[.[].tx_vca] | add > 100'
}

# A silent cable fails only after a while, so packets that nobody acknowledges are in the buffers
# of its ends by then.
silence() {
	local v before rc=0
	v=$(version)
	before=$(total rerouted) || return 1
	lab silence 0,0:+x && until_true 20 newer "$v" && until_true 20 more_than rerouted "$before" || rc=1
	lab silence 0,0:+x off && until_true 20 running && verified || rc=1
	return $rc
}

# Both cables by which the packets of 0,0 come nearer, and one of another flow's.
cuts() {
	local v rc=0 link
	v=$(version)
	for link in 0,0:+x 0,0:+y 2,0:+y; do
		lab cut $link || rc=1
	done
	until_true 20 newer "$v" && verified || rc=1
	for link in 0,0:+x 0,0:+y 2,0:+y; do
		lab mend $link || rc=1
	done
	until_true 20 running && verified || rc=1
	return $rc
}

# Counters are shown with their meanings for one node: that which sent most packets by another way.
# Either end of the silent cable may be the one that had packets in its RETRY buffer.
shown() {
	local name node most
	for node in {0..2},{0..2}; do
		echo "$("$bin/fabricctl" counters "$node" --lab "$lab" --json | jq ".[0].rerouted") $node"
	done | sort -n >"$tmp/most"
	read -r most node < <(tail -1 "$tmp/most")
	ask counters "$node" >"$tmp/shown" || return 1
	for name in escaped rerouted unsure; do
		grep -E "^$name +[0-9]+ +packets +adaptive packets" "$tmp/shown" ||
			{ cat "$tmp/shown"; return 1; }
	done
	((most > 0)) && grep -E '^rerouted +[1-9]' "$tmp/shown"
}

check "a lab of nine with few packet buffers comes up" lab up 3x3 "${patience[@]}" --set slots=4 || exit 1
check "all links are up" until_true 20 running
check "adaptive traffic stays whole: a silent cable" under silence
check "adaptive traffic stays whole: three cuts" under cuts
check "adaptive traffic used VCA" went_on_vca
check "packets that found no room on VCA used the escape channel" more_than escaped 0
check "no packet may have been sent twice" none unsure
check "'counters' shows these counters with their meanings" shown
check "the lab ends" lab down
done_testing
