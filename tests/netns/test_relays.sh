#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A lab of real processes, 3x3, so broken that node 0,0 reaches others only through relays: TCP
# and UDP through them while cables are cut and mended, a relay that dies, exclusions, and a
# fabric in two parts.
#
#	0,0 has one cable left, to 0,2; the ring of y = 0 has none.
#
# With TORUS_BACKEND=kernel or mixed, on a machine that has the driver: with such NICs.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=rl$$
broken=("0,0:+x" "0,0:+y" "1,0:+x" "2,0:+x")
far=2,2

explain() { ask status; ask trace 0,0 $far; }

resting='(.state == "running" or .state == "degraded")'
at_rest() { is "$resting" true; }
# newer VERSION: succeeds if a later version is in force
newer() { is "(.last_recovery.version // 0) > $1 and $resting" true; }

# then_rests COMMAND...: runs COMMAND, which changes the table, and waits for rest
then_rests() {
	local v
	v=$(version)
	"$@" && until_true 20 newer "$v"
}

break_it() {
	local link
	lab up 3x3 "${patience[@]}" || return 1
	until_true 10 is .relayed_pairs 0 || return 1
	for link in "${broken[@]}"; do
		then_rests lab cut "$link" || return 1
	done
}

via() { ask trace 0,0 $far --json | jq -r '.via[] | map(tostring) | join(",")'; }

seen() {
	ask status | grep -E '^relays +[0-9]+ pairs of nodes talk' &&
		is '.relayed_pairs > 0' true && [[ -n $(via) ]] &&
		ask trace 0,0 $far | grep -F '(relay)' &&
		until_true 10 counted_alike && verified
}
counted_alike() {
	local n
	n=$(ask verify --json | jq .relayed) && ((n > 0)) && is .relayed_pairs "$n"
}

# under SECONDS FLAGS COMMAND...: sends traffic from 0,0 to $far, and runs COMMAND while it flows
under() {
	local seconds=$1 flags=$2 pid rc=0
	shift 2
	note_sent 0,0 || return 1
	# shellcheck disable=SC2086
	"$B/fabricctl" lab traffic --name "$lab" -s "$seconds" $flags 0,0 "$far" >"$tmp/traffic" 2>&1 &
	pid=$!
	flows_from 0,0 && "$@" || rc=1
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	return $rc
}

# In a lab a packet carries 16368 bytes at most.
through_relays() {
	local before after bytes
	before=$(total relay_forwarded) || return 1
	"$B/fabricctl" lab traffic --name "$lab" -s 3 --json 0,0 "$far" >"$tmp/traffic" || { cat "$tmp/traffic"; return 1; }
	bytes=$(jq '[.flows[].bytes] | add' "$tmp/traffic")
	after=$(total relay_forwarded) || return 1
	echo "relays sent on $before, then $after packets, for $bytes bytes"
	((bytes > 0 && after - before >= bytes / 16368)) && until_true 10 is .parked_packets 0
}

# No cable of the two is on the only path of 0,0; mending the second adds paths, cutting it removes
# them.
cut_and_mend() {
	then_rests lab cut 1,1:+x && is .last_recovery.lost 0 && verified &&
		then_rests lab mend 1,1:+x && is .last_recovery.lost 0 &&
		then_rests lab mend 0,0:+x && is .last_recovery.lost 0 && verified &&
		then_rests lab cut 0,0:+x && is .last_recovery.lost 0 && verified
}

exclude_and_include() {
	then_rests ask exclude 0,2:+x && is .last_recovery.lost 0 && verified &&
		then_rests ask include 0,2:+x && is .last_recovery.lost 0 && verified
}

unreachable() {
	"$B/fabricctl" lab exec --name "$lab" 0,0 -- ping -c 1 -W 5 "n${far/,/-}" >"$tmp/ping"
	local rc=$?
	cat "$tmp/ping"
	((rc)) && grep -qi unreachable "$tmp/ping"
}

# Nodes that only this relay reached are unreachable; all other traffic continues.
relay_dies() {
	local relay
	relay=$(via | head -n 1)
	[[ $relay == 0,2 ]] || { echo "by way of '$relay'"; return 1; }
	lab kill "$relay" && until_true 20 is .nodes.up 8 && until_true 20 at_rest &&
		until_true 5 unreachable &&
		"$B/fabricctl" lab traffic --name "$lab" -s 1 1,0 $far || return 1
	lab revive --timeout $((60 * slow)) "$relay" && until_true 30 is .nodes.up 9 && until_true 30 at_rest && verified &&
		"$B/fabricctl" lab traffic --name "$lab" -s 1 0,0 $far
}

# 0,0 and 0,2 are separated from the rest; in each part traffic continues.
two_parts() {
	local rc=0
	for link in 0,1:+y 0,2:+x 2,2:+x; do
		then_rests lab cut "$link" || return 1
	done
	until_true 10 is '[.problems[] | select(.kind == "isolated")] | length' 7 || rc=1
	until_true 10 exits 1 "cut" ask verify || rc=1
	until_true 10 unreachable || rc=1
	"$B/fabricctl" lab traffic --name "$lab" -s 2 0,0 0,2 || rc=1
	"$B/fabricctl" lab traffic --name "$lab" -s 2 1,0 2,2 || rc=1
	for link in 0,1:+y 0,2:+x 2,2:+x; do
		then_rests lab mend "$link" || rc=1
	done
	verified && "$B/fabricctl" lab traffic --name "$lab" -s 2 0,0 $far && return $rc
}

whole_again() {
	local link
	for link in "${broken[@]}"; do
		then_rests lab mend "$link" || return 1
	done
	until_true 10 is '[.state, .relayed_pairs] | join(" ")' "running 0" && verified
}

[[ ${TORUS_BACKEND:-user} == user ]] || tag="$TORUS_BACKEND: "
check "after the cuts some pairs of nodes need relays" break_it || exit 1
check "status, trace and verify show the relays" seen
check "relays forward all traffic, and leave nothing parked" through_relays
check "TCP and UDP lose nothing while cables are cut and mended" under 6 "" cut_and_mend
# The rows that managers write do not depend on the kind of NIC.
[[ ${TORUS_BACKEND:-user} != user ]] || check "TCP and UDP lose nothing while a link is excluded and included" under 4 "" exclude_and_include
check "only nodes behind a dead relay are unreachable, until it is back" relay_dies
[[ ${TORUS_BACKEND:-user} != user ]] || check "traffic goes on in each part of a fabric in two parts" two_parts
check "after mending no pair needs a relay" whole_again
done_testing
