#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes of a lab are replaced by others under traffic: other GUIDs and empty disks, the same
# places, cables and addresses. Traffic of others loses nothing but packets that are in a NIC when
# it ends, which the root counts, also if the root is replaced.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=rp$$

# shellcheck disable=SC2317
explain() { "$B/fabricctl" status --lab "$lab"; "$B/fabricctl" nodes --lab "$lab"; }

running() { is .state running && is '.problems | length' 0; }
up() { lab up "$@" "${patience[@]}" && until_true 20 running; }
# of NODE FIELD: what nodes shows
of() { ask nodes --json | jq -r --argjson at "[$1]" ".[] | select(.node == \$at) | .$2"; }

# Packets that recoveries have counted as lost in a NIC, of all events that the root still has.
died() { ask events --json | jq '[.[].recovery.lost // 0] | add'; }
# clean_but LOST: TCP is clean, and UDP but for this many packets at most
clean_but() {
	jq -e --argjson most "$1" '.flows | map(.protocol) == ["tcp", "udp"] and .[0].clean and
		(.[1] | .sent > 0 and .lost <= $most and .duplicates + .reordered + .corrupt == 0 and .error == null)' \
		"$tmp/traffic"
}

# replaced NODE NAME [OPTION...]: under traffic; NAME is its name then
replaced() {
	local node=$1 name=$2 before pid rc=0 lost
	shift 2
	before=$(of "$node" guid) && lost=$(died) && [[ $before && $lost ]] && note_sent 0,1 1,0 || return 1
	"$bin/fabricctl" lab traffic --json --name "$lab" -s 4 --rate 1000 0,1 1,0 >"$tmp/traffic" &
	pid=$!
	flows_from 0,1 1,0 && lab replace --timeout $((30 * slow)) "$@" "$node" && until_true 20 running && verified || rc=1
	# Its exit status tells of lost packets, too.
	wait "$pid"
	clean_but $(($(died) - lost)) || rc=1
	cat "$tmp/traffic"
	[[ $rc == 0 && $(of "$node" guid) != "$before" && $(of "$node" name) == "$name" ]] &&
		is .nodes.up 6 && is .last_recovery.lost 0
}

twice() {
	replaced 1,1 n1-1 && replaced 1,1 spare.7 --as spare.7
}

# The lab knows a node by its new name, too, and its programs do.
new_name() {
	[[ $(lab status --json | jq -r '.nodes[] | select(.node == [1,1]) | .name') == spare.7 ]] &&
		lab status | grep -q '^1,1  *spare\.7 ' &&
		[[ $(lab exec spare.7 -- hostname) == spare.7 ]] &&
		lab exec 0,1 -- ping -q -c 1 -W 30 spare.7 &&
		[[ $(lab hosts --list) == *,spare.7,* ]] &&
		ask coord spare.7 && exits 2 "--as 'spare.7': it means node 1,1" lab replace 0,1 --as spare.7 &&
		exits 2 "--as 'n0-0': it means node 0,0" lab replace 1,1 --as n0-0 &&
		exits 2 'beginning with a letter' lab replace 1,1 --as 7.5 &&
		replaced 1,1 spare.7 && lab cut spare.7:+x && lab mend spare.7:+x && until_true 20 running &&
		lab kill spare.7 && lab revive spare.7 && until_true 20 running &&
		replaced 1,1 n1-1 --as n1-1 && exits 2 "node 'spare.7'" lab kill spare.7
}

pings() { lab exec 0,1 -- ping -q -c 1 -W 30 n1-1 && lab exec 1,1 -- ping -q -c 1 -W 30 n0-1; }

refusals() {
	exits 2 '9,9' lab replace 9,9 &&
		exits 2 "--as 'a b'" lab replace 1,1 --as 'a b' &&
		exits 2 "--as ''" lab replace 1,1 --as '' && running
}

packed() {
	local before
	up 3x2 --packed && before=$(of 1,1 guid) && lab replace 1,1 --as other && until_true 20 running &&
		[[ $(of 1,1 guid) != "$before" && $(of 1,1 name) == other ]] &&
		lab kill other && lab revive other && until_true 20 running && lab down
}

bare() {
	lab up 2 --bare && exits 2 'is bare: there is no node to replace' lab replace 1 &&
		[[ ! -e /run/torus/$lab/1/fabricd.pid ]] && lab status | grep -q ', bare, up' &&
		exits 1 'the lab is bare' lab traffic 0 1 && lab down
}

no_nics() { lab status --json | jq -e '[.nodes[].nic] == [null, null]'; }

# A lab is not bare because all its nodes were killed, or ended by themselves.
all_dead() {
	local pid
	up 2 && lab kill 0 && lab kill 1 && exits 1 'has no NIC' lab traffic 0 1 &&
		lab replace 1 --no-wait && lab revive 0 && until_true 20 running || return 1
	for pid in /run/torus/"$lab"/[01]/*.pid; do kill -KILL "$(sed 's/ .*//' "$pid")" || return 1; done
	until_true 10 no_nics && exits 1 'has no NIC' lab traffic 0 1 && lab replace 1 --no-wait && lab revive 0 &&
		until_true 20 running && lab down
}

check "six nodes are up" up 3x2 || exit 1
check "a node is replaced by one of the same name, and then by one of another" twice
check "the new node is known by its new name" new_name
check "the new node has the addresses of the place" pings
check "the root is replaced" replaced 0,0 first --as first
check "the root is replaced by one of the same name" replaced 0,0 first
check "wrong arguments change nothing" refusals
check "the lab ends" lab down
check "a packed node is replaced" packed
check "a node of a lab without NICs is not replaced" bare
check "a node of a lab of dead nodes is replaced" all_dead
done_testing
