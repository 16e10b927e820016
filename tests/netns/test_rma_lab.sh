#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Remote memory in a packed lab of 3x3 with its managers: streams of operations whose results are
# known beforehand, while cables are cut and mended, and a node dies.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=rm$$
run=/run/torus/$lab
tool=$B/tests/netns/rmatool
owners=()
declare -A stream
nodes=("0,0" "1,2" "2,2" "0,2")

# shellcheck disable=SC2317
explain() {
	tail -n 5 "$run/torusemu.log"
	cat "$tmp"/said.* 2>/dev/null
}

running() { is '[.state, .nodes.up, .links.up] | join(" ")' "running 9 18"; }
node_says() { [[ $(lab exec 0,1 -- sh -c 'echo $TORUS_RMA') == "unix:$run/0.1/rma.sock" ]]; }

# begin FROM TO: a stream of operations from one node to memory of another one
begin() {
	local at=$tmp/far.$1.$2 far
	"$tool" "unix:$run/${2/,/.}/rma.sock" own >"$at" &
	owners+=("$!")
	until_true 20 [ -s "$at" ] && read -ra far <"$at" || return
	"$tool" "unix:$run/${1/,/.}/rma.sock" stream "${far[@]}" 1000000000 >"$tmp/said.$1.$2" 2>&1 &
	stream[$1.$2]=$!
}
begin_all() { begin 0,0 1,1 && begin 1,2 0,0 && begin 2,2 2,1 && begin 0,2 2,0; }

# issued NODE: requests of the node so far
issued() { ask counters "$1" --json | jq '.[0].rma_issued'; }
has_issued() { (($(issued "$1") >= $2)); }
# go_on NODE...: the streams of these nodes go on: each issues some more.
go_on() {
	local node
	for node; do
		until_true 20 has_issued "$node" $(($(issued "$node") + 50)) || return 1
	done
}

cut_and_mend() {
	local link
	for link; do
		lab cut "$link" && go_on "${nodes[@]}" && lab mend "$link" && go_on "${nodes[@]}" || return 1
	done
	until_true 20 running
}

# end_stream NAME: ends a stream. What it says is right.
end_stream() {
	kill "${stream[$1]}"
	wait "${stream[$1]}"
	grep -x '[1-9][0-9]* rounds are right' "$tmp/said.$1"
}

regions() { "$B/fabricctl" regions --rma "unix:$run/2.1/rma.sock" --json "$@" >"$tmp/regions"; }
fits() { python3 "$TOP/tests/netns/schema.py" "$TOP/tools/fabricctl/schema" "$1" "$tmp/regions"; }
# "regions" shows the memory of the owner at 2,1: to root and to its user, and to no other user.
shows_regions() {
	regions && fits regions &&
		jq -e 'map(del(.region, .context)) == [{user: 0, bytes: 1048576, access: ["read", "write", "amo", "fe"],
			full_empty: true, waiting: 0}]' "$tmp/regions" &&
		lab exec 2,1 -- "$B/fabricctl" regions | grep -E '1(\.0)? MiB +read,write,amo,fe +full/empty +0$' || return 1
	cp "$B/fabricctl" "$tmp/ctl" && chmod 755 "$tmp" && setpriv --reuid=1234 --clear-groups "$tmp/ctl" regions \
		--rma "unix:$run/2.1/rma.sock" | grep -x "no regions"
}
waits() { regions --waiting && jq -e "length == $1" "$tmp/regions"; }
# ... and who waits for which word since when, until that one is gone
shows_waits() {
	local at job
	read -ra at <"$tmp/far.2,2.2,1"
	"$tool" "unix:$run/0.1/rma.sock" wait "${at[@]}" &
	job=$!
	until_true 20 waits 1 && fits regions-waiting && sleep 0.1 && waits 1 || return 1
	jq -e ".[0] | .region == ${at[1]} and .offset == 32 and (.full | not) and .operation == \"read\" and
		.until == \"full\" and .user == 0 and .node_id == $("$B/fabricctl" coord --lab "$lab" 0,1 --json | jq .id) and
		.seconds >= 0.1" "$tmp/regions" && lab exec 2,1 -- "$B/fabricctl" regions --waiting || return 1
	kill $job
	wait $job
	until_true 20 waits 0
}

# traffic_over LINK: "lab traffic --rma" while a cable is cut
traffic_over() {
	lab traffic 0,2 2,0 --rma --rate 500 -s 3 --json >"$tmp/traffic" &
	local job=$! before
	before=$(issued 0,2)
	until_true 20 has_issued 0,2 $((before + 100)) && lab cut "$1" && lab mend "$1" || return 1
	wait $job || { cat "$tmp/traffic"; return 1; }
	jq -e '.flows | map(.protocol == "rma" and .clean and .received > 0) == [true]' "$tmp/traffic"
}

# offers_none: a node whose NIC has no socket for remote memory
offers_none() {
	mv "$run/2.2/rma.sock" "$run/2.2/away"
	lab traffic 0,2 2,2 --rma >"$tmp/said.none" 2>&1
	mv "$run/2.2/away" "$run/2.2/rma.sock"
	grep "node 2,2 offers no remote memory: .*No such file" "$tmp/said.none"
}

# A node dies while another one writes its memory.
node_dies() {
	lab kill 1,1 && wait "${stream[0,0.1,1]}"
	grep -E 'not executed|perhaps executed' "$tmp/said.0,0.1,1"
}

each_counts() {
	ask counters --json | jq -e 'map(select(.node != "1,1")) |
		all(.rma_forged == 0 and .rma_naks == 0) and (map(.rma_executed) | add) > 1000'
}

check "a lab comes up" lab up 3x3 --packed
check "all nodes are up" until_true 30 running
check "lab exec sets the path of the socket for remote memory" node_says
check "streams of operations begin" begin_all
check "the streams continue" go_on "${nodes[@]}"
check "the streams continue while cables are cut, one after the other" \
	cut_and_mend 0,0:+x 1,1:+y 2,2:-x 0,0:+y 2,1:+y 0,2:+x
kill -STOP "${stream[2,2.2,1]}"
check "fabricctl regions shows what a node shares" shows_regions
check "fabricctl regions --waiting shows the requests that wait" shows_waits
kill -CONT "${stream[2,2.2,1]}"
check "lab traffic --rma is clean while a cable is cut" traffic_over 0,2:+x
check "lab traffic --rma names the node that offers no remote memory" offers_none
check "operations with a dead node end" node_dies
check "the other streams continue" go_on "${nodes[@]:1}"
for name in 1,2.0,0 2,2.2,1 0,2.2,0; do
	check "stream $name is right" end_stream "$name"
done
check "no NIC has refused or forged a message" each_counts
kill "${owners[@]}"
check "the lab ends" lab down
done_testing
