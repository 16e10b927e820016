#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whole fabrics whose NICs use MBS or CBS, with as few packet buffers as the policy allows, while
# cables are cut and mended: no flow loses, doubles or alters a record.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=bubbles$$

running() { is .state running; }
newer() { (($(ask status --json | jq '.last_recovery.version // 0') > $1)); }
counted() { ask links --json | jq "map(.$1) | add"; }

cut_and_mend() {
	local v rc=0 link
	for link in 0,0:+x 1,1:+y; do
		v=$(version)
		lab cut $link && until_true 20 newer "$v" && verified || rc=1
		lab mend $link && until_true 20 running && verified || rc=1
	done
	return $rc
}

# Flows that turn from ring to ring, both ways, and a node that all send to.
whole() {
	local from to pids=() rc=0
	while read -r from to; do
		"$bin/fabricctl" lab traffic --name "$lab" -s 8 --udp "$from" "$to" >"$tmp/$from-$to" 2>&1 &
		pids+=($!)
	done <<<$'0,0 1,1\n2,0 1,1\n0,2 1,1\n1,1 0,0\n2,2 0,1'
	sleep 1
	cut_and_mend || rc=1
	for from in "${pids[@]}"; do
		wait "$from" || rc=1
	done
	cat "$tmp"/?,?-?,?
	return $rc
}

are_critical() { (($(counted critical_vcd0) > 0)); }
bubbles_moved() { (($(counted bubble_requests) > 0 && $(counted bubble_responses) > 0)); }

for policy in mbs cbs; do
	slots=$([[ $policy == mbs ]] && echo 1 || echo 2)
	check "$policy: a lab of nine, slots=$slots" \
		lab up 3x3 "${patience[@]}" --set bubble=$policy --set slots="$slots" || exit 1
	check "$policy: all links" until_true 20 running
	check "$policy: traffic stays whole while cables are cut" whole
	check "$policy: there are critical bubbles" are_critical
	[[ $policy != mbs ]] || check "mbs: bubbles were moved by false packets" bubbles_moved
	check "$policy: lab down" lab down
done
done_testing
