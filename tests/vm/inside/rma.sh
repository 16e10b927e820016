#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Remote memory by /dev/torus: operations and messages between processes of two nodes, while the
# cable is cut, and what happens when processes, the place of the NIC and the NIC itself go away.
# Owners of memory are at n1, other processes at n0.

# shellcheck disable=SC2119,SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
tag="rma: "
rmatool=$B/tests/netns/rmatool
SEED=${SEED:-1}
owner=
far=()

# shellcheck disable=SC2317
explain() { cat "$tmp/said" 2>/dev/null; }

# rma N COMMAND...: remote memory at node N
rma() { local n=$1; shift; ns "$n" timeout 300 "$rmatool" dev:torus0 "$@"; }

# Ends the owner at n1, if there is one.
disown_region() {
	[[ -n $owner ]] || return 0
	kill "$owner" 2>/dev/null
	wait "$owner" 2>/dev/null
	owner=
}

# begin COMMAND: starts a process at n1 in place of the one before; far is what it prints
begin() {
	disown_region
	rm -f "$tmp/far"
	ip netns exec n1 "$rmatool" dev:torus0 "$@" >"$tmp/far" &
	owner=$!
	until_true 20 [ -s "$tmp/far" ] && read -ra far <"$tmp/far"
}

# says TEXT COMMAND...: the command says this, among others
says() {
	local text=$1
	shift
	"$@" >"$tmp/said" 2>&1
	grep -F "$text" "$tmp/said"
}

stream() { says "$1 rounds are right" rma 0 stream "${far[@]}" "$1"; }
own_and_stream() { begin own && stream "$1"; }

# heard N: the receiver has received N messages in order, and ends
heard() {
	wait "$owner" || return
	owner=
	grep -x "$1 messages are right" "$tmp/far"
}
messages() { begin receive && rma 0 send "${far[@]}" "$1" >"$tmp/said" && heard "$1"; }

# Node 1 is on hold meanwhile, as a manager would do: so its silence is no sign that it is lost.
cut_cable() {
	nic 0 hold 1 && ip -n n0 link set e down && until_true 20 state_is 0 0 "faulty carrier" || return
	ip -n n0 link set e up && joined 0 0 1 1 && nic 0 release
}

# The cable is cut while a stream of operations runs, which then goes on where it was.
cut_stream() {
	local job i
	begin own || return
	ip netns exec n0 "$rmatool" dev:torus0 stream "${far[@]}" 1000000000 >"$tmp/said" 2>&1 &
	job=$!
	for i in 1 2; do sleep 0.2; cut_cable || return; done
	sleep 0.2
	kill $job
	wait $job
	grep -x "[1-9][0-9]* rounds are right" "$tmp/said" && equals 0 node lost 0
}

# A process that is killed takes its region with it, also if others wait for a word of it.
killed() {
	local job
	begin own || return
	rma 0 wait "${far[@]}" >"$tmp/said" 2>&1 &
	job=$!
	sleep 0.5
	kill -9 "$owner"
	wait $job
	owner=
	grep -x "wait: refused: the region was closed" "$tmp/said"
}

wrong() {
	rma 0 wrong >"$tmp/said" 2>&1
	grep -x "closed: refused: the region was closed" "$tmp/said" &&
		grep -x "access: Invalid argument: access 0x10: must be within the mask 0xf" "$tmp/said" &&
		grep -x "cancel: refused: no full/empty operation or receive with this cookie is open" "$tmp/said"
}

# regions N: how many regions node 1 has
regions() { [[ $(ns 1 "$B/fabricctl" regions --rma dev:torus0 --json | jq length) == "$1" ]]; }
lists_regions() { begin own && regions 1 && disown_region && until_true 20 regions 0; }

# The only NIC of a namespace need not be named; a wrong name is named.
finds_nic() {
	begin own && ns 1 "$B/fabricctl" regions --json | jq -e 'length == 1' &&
		says "dev:torus9: no such netdev of a torus NIC in this network namespace" \
			ns 1 "$B/fabricctl" regions --rma dev:torus9 &&
		says "dev:lo: no such netdev" ns 1 "$B/fabricctl" regions --rma dev:lo &&
		says "'eth:0': must be unix:PATH or dev:NAME" ns 1 "$B/fabricctl" regions --rma eth:0
}

# Locked memory counts: an ordinary user may have as much as its limit.
memlock() {
	cp "$rmatool" /tmp/rmatool && chmod 755 /tmp /tmp/rmatool || return
	says "the limit of locked memory, is too small" \
		ns 1 bash -c 'ulimit -l 64; exec setpriv --reuid=100000 --clear-groups /tmp/rmatool dev:torus0 own'
}

# locked PID: KiB of locked memory of a process
locked() { awk '$1 == "VmLck:" { print $2 }' "/proc/$1/status"; }

# hostile ROUNDS: two processes break all rules, one at each node; both NICs still work afterwards
hostile() {
	local i job=()
	disown_region
	for i in 0 1; do
		ns $i timeout 600 "$B/tests/vm/rmafuzz" torus0 "$1" $((SEED + i)) >"$tmp/said.$i" 2>&1 &
		job+=($!)
	done
	for i in 0 1; do wait "${job[i]}" || { echo "SEED=$SEED"; cat "$tmp/said.$i"; return 1; }; done
	cat "$tmp"/said.?
	own_and_stream 100
}

# close_often: opens, uses and closes the device without a pause, until the file removed exists
close_often() {
	local seed=$1
	while [[ ! -e $tmp/removed ]]; do ns 9 "$B/tests/vm/rmafuzz" torus0 20 $((seed += 2)); done
}

# removed_often TIMES: a NIC is made and removed, while two processes use it and go away
removed_often() {
	local i job=()
	ip netns add n9 || return
	for i in 0 1; do
		close_often $((SEED + i)) >"$tmp/said.$i" 2>&1 &
		job+=($!)
	done
	for ((i = 0; i < $1; i++)); do
		ns 9 "$B/fabricctl" device add torus0 >/dev/null && nic 9 place 2 0 || break
		sleep "0.$((RANDOM % 4))"
		ip -n n9 link del torus0 || break
	done
	touch "$tmp/removed"
	wait "${job[@]}"
	awk '{ c += $1; r += $3 } END { print c " contexts, " r " regions"; exit !c || !r }' "$tmp"/said.? &&
		((i == $1)) && ip netns del n9
}

# ended_by COMMAND...: a process of n0 learns that its NIC has gone, by this command
ended_by() {
	local job before
	begin own && ask 0 node rma_issued || return
	before=$got
	timeout 60 ip netns exec n0 "$rmatool" dev:torus0 stream "${far[@]}" 1000000000 >"$tmp/said" 2>&1 &
	job=$!
	until_true 20 more_than 0 node rma_issued "$before" && "$@" || return
	wait $job
	grep -F "the NIC has ended, or has lost its place" "$tmp/said"
}

# owner_ends COMMAND...: after this command at its node, the owner still ends when it is told to
owner_ends() { begin own && "$@" && disown_region; }

load
check "two nodes" line 2
check "operations are right" own_and_stream 2000
check "messages arrive in order" messages 500
check "errors name the value and what is allowed" wrong
check "operations go on after cuts" cut_stream
check "a killed process takes its region along" killed
check "regions are listed until their process ends" lists_regions
check "NICs are found by name, or if there is only one" finds_nic
check "pinned memory counts as locked" memlock
check "hostile processes harm nobody" hostile "${ROUNDS:-100}"
check "processes close the device while NICs are removed" removed_often 20
check "contexts end when the NIC is removed" ended_by ip -n n0 link del torus0
check "contexts end when the NIC gets another place" owner_ends nic 1 place 3 1
check "the module can be unloaded afterwards" unload
done_testing
