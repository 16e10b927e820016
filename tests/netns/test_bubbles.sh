#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whole fabrics whose NICs use MBS or CBS, with as few packet buffers as the policy allows, while
# cables are cut and mended: no flow loses, doubles or alters a record. A ring that deadlocks within
# seconds if its NICs have no policy. And a ring in which one NIC has another policy than the others.

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
	note_sent 0,0 2,0 0,2 1,1 2,2 || return 1
	while read -r from to; do
		"$bin/fabricctl" lab traffic --name "$lab" -s 8 --udp "$from" "$to" >"$tmp/$from-$to" 2>&1 &
		pids+=($!)
	done <<<$'0,0 1,1\n2,0 1,1\n0,2 1,1\n1,1 0,0\n2,2 0,1'
	flows_from 0,0 2,0 0,2 1,1 2,2 && cut_and_mend || rc=1
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
	check "$policy: a lab of nine with slots=$slots comes up" \
		lab up 3x3 "${patience[@]}" --set bubble=$policy --set slots="$slots" || exit 1
	check "$policy: all links are up" until_true 20 running
	check "$policy: traffic stays whole while cables are cut" whole
	check "$policy: there are critical bubbles" are_critical
	[[ $policy != mbs ]] || check "mbs: bubbles were moved by false packets" bubbles_moved
	check "$policy: the lab ends" lab down
done

# In a ring of five, packets to the next node but one go on to a second link: all of them wait for each
# other as soon as all buffers of the ring are full of them. In a ring of three, as those above, none
# goes on to a second link. CBS is left out here: with it a node may starve (tests/unit/test_bubble.c).
circle() {
	local from pids=() rc=0
	note_sent 0 1 2 3 4 || return 1
	for from in 0 1 2 3 4; do
		timeout $((60 * slow)) "$bin/fabricctl" lab traffic --name "$lab" -s 4 --udp \
			"$from" $(((from + 2) % 5)) >"$tmp/ring-$from" 2>&1 &
		pids+=($!)
	done
	flows_from 0 1 2 3 4 || rc=1
	for from in "${pids[@]}"; do
		wait "$from" || rc=1
	done
	cat "$tmp"/ring-?
	is '.problems | length' 0 || { ask status; rc=1; }
	return $rc
}

for how in 'mbs 1' 'bloc 4'; do
	read -r policy slots <<<"$how"
	check "$policy: a ring of five with slots=$slots comes up" lab up 5 "${patience[@]}" --set bubble="$policy" --set slots="$slots"
	check "$policy: packets that would wait for each other all arrive" circle
	check "$policy: the lab ends" lab down
done

# All NICs of a fabric have one policy, because each is in rings with all its neighbours. Here that of
# n1 has another, as after a mistake: its links stay down, and both ends name the values.
mkdir "$tmp/bin" && cp "$B/fabricctl" "$B/fabricd" "$tmp/bin/"
cat >"$tmp/bin/torusemu" <<END
#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
[[ " \$* " == *" --name n1 "* ]] && set -- "\$@" --set bubble=mbs
exec "$B/torusemu" "\$@"
END
chmod +x "$tmp/bin/torusemu"
bin=$tmp/bin

# whether the link at PORT of node n0 says that its own value is bloc, and its peer's mbs
tells() {
	[[ $(ask links --json | jq -c --arg port "$1" '.[] | select(.node == [0] and .port == $port) |
		[.state, .reason, .differs.parameter, .differs.own, .differs.peer]') == \
	   '["init","bubble","bubble","bloc","mbs"]' ]]
}
listed() {
	[[ $(ask links --bad) =~ $'\n'0:\+x\ .*init\ \(bubble:\ bubble=bloc,\ peer\ mbs\) ]]
}
advised() {
	[[ $(ask status) == *"fabricctl links --bad --lab $lab shows the value of each end; give both NICs the value of all others"* ]]
}
# cabling says what differs, and wants no new cable
not_plugged() {
	ask cabling >"$tmp/cabling" 2>&1
	(($? == 1)) && grep -q '0:+x: has a cable, but the two NICs differ: bubble=bloc, peer mbs; ' "$tmp/cabling" &&
		grep -qx 'all other cables are as planned' "$tmp/cabling"
}
named() {
	ask status --json | jq -e '.problems | map(.text // .) | any(test("has bubble=bloc, .*has bubble=mbs"))'
}
check "a lab of three, one of them with mbs, begins" lab up 3 --no-wait
check "its link stays in state init and shows the difference" until_true 20 tells +x
check "the problem names both ends and both values" until_true 20 named
check "links --bad lists the link with both values" until_true 20 listed
check "status suggests a next step for this reason" until_true 20 advised
check "cabling does not advise to plug in or repair this cable" until_true 20 not_plugged
check "the other two nodes form a fabric" until_true 20 is '.nodes.up' 2
check "the lab ends" lab down
done_testing
