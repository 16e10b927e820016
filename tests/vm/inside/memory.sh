#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Allocations fail: first every 29th of those that each command makes (or all: EVERY=1), then
# one in ten of all that the driver makes while it works (a message takes ten or more). Commands
# fail as a whole or not at all; messages that cannot be passed to the host are dropped and
# counted; links lose no packet; nothing leaks. Then the same while frames are cut anywhere, with
# any commands, and with messages that cannot arrive.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
faults=/sys/kernel/debug
every=${EVERY:-29} # 1: each allocation; takes minutes
most=700         # more allocations than any command makes

# Only allocations of the driver: those with its code on the call stack.
choose() {
	local d size start
	read -r size start < <(awk '$1 == "torus" { print $2, $6 }' /proc/modules)
	for d in $faults/failslab $faults/fail_page_alloc; do
		echo 0 >"$d/verbose"
		echo N >"$d/ignore-gfp-wait"
		echo N >"$d/task-filter"
		echo -1 >"$d/times"
		echo 12 >"$d/stacktrace-depth"
		printf '%u' "$start" >"$d/require-start"
		printf '%u' $((start + size)) >"$d/require-end"
	done
	echo 0 >$faults/fail_page_alloc/min-order
	echo N >$faults/fail_page_alloc/ignore-gfp-highmem
}

probability() {
	echo "$1" >$faults/failslab/probability
	echo "$1" >$faults/fail_page_alloc/probability
}

# each NAME UNDO COMMAND...: runs the command with its first allocation failing, then with its
# 30th, and so on until it makes no more. Then it must succeed. UNDO restores the state after a
# success; after a failure it must not be needed, or do no harm.
each() {
	local name=$1 undo=$2 n failed=0
	shift 2
	for ((n = 1; n <= most; n += every)); do
		rm -f /tmp/injected
		if LD_PRELOAD=$B/tests/vm/failnth.so FAILNTH=$n FAILNTH_FILE=/tmp/injected \
			"$@" >/tmp/each 2>&1; then
			[[ -e /tmp/injected ]] || break
		else
			failed=$((failed + 1))
		fi
		$undo || break
	done
	say "$name: fewer than $n allocations, $failed of those tried made it fail"
	check "$name: allocations were made to fail" [ "$n" -gt 1 ]
	check "$name: it succeeds when none fails" [ ! -e /tmp/injected ]
}

delete_t0() { ! ip link show dev t0 >/dev/null 2>&1 || ip link del t0; }
nothing() { :; }
detach() { nic 0 attach 0 ''; }

# The link may have failed, and no manager would mend it.
mended() {
	say "the link: $(nic 0 state 0) and $(nic 1 state 1)"
	until_true 30 up 0 0 && until_true 30 up 1 1 && mend 0 0 1 1 && mend 1 1 0 0
}

# A stream that is under way while one in ten allocations of the driver fails (including those
# that the stack makes for a message that the driver passes to it): three times for two seconds,
# with a second in between in which the stream makes progress.
stream() {
	copy 0 1 /tmp/enough >/tmp/stream 2>&1 &
	until_true 20 grep -q listening /tmp/received || return
	for _ in 1 2 3; do
		probability 10
		sleep 2
		probability 0
		mended || return
		sleep 1
	done
	touch /tmp/enough
	wait $! || { cat /tmp/stream /tmp/received; return 1; }
}

# As before any traffic: all credits are back, nothing is queued or kept for replay.
settled() {
	local n c
	for n in 0 1; do
		for c in queued_packets retry_packets; do
			equals "$n" port "$n" $c 0 || return
		done
		for c in credits_vcd0 credits_vcd1 credits_vca; do
			equals "$n" port "$n" $c "${credits[$c]}" || return
		done
		equals "$n" node parked "$(nic "$n" node replayed)" || return
	done
}
declare -A credits

# The work of the driver that a stream does not need.
cut_frames() {
	ip -n n1 tuntap add tap mode tap && ip -n n1 link set tap mtu 65521 up &&
		nic 1 attach 0 tap || return
	probability 10
	ns 1 "$B/tests/vm/framefuzz" --way tap --count 500 tap
	local rc=$?
	probability 0
	nic 1 attach 0 ''
	return $rc
}

any_commands() {
	ip link add t0 type torus && ip link add fuzz0 mtu 65535 type veth peer name fuzz1 || return
	ip link set fuzz0 up
	ip link set fuzz1 mtu 65535 up
	probability 10
	"$B/tests/vm/nlfuzz" --count 5000 fuzz0 fuzz1
	local rc=$?
	probability 0
	ip link del t0
	return $rc
}

# All senders learn that node 1 cannot be reached, except those for whom there is no memory.
unreachable() {
	nic 0 invalid 1 || return
	probability 10
	ns 0 ping -q -c 100 -i 0.01 -W 1 10.1.0.0 >/tmp/unreachable
	probability 0
	ns 0 ping -c 1 -W 5 10.1.0.0 | grep -q Unreachable
}

load || exit
choose
each "a NIC is made" delete_t0 ip link add t0 type torus
delete_t0
check "two nodes in a line come up" line 2
each "a port is attached" detach nic 0 attach 0 e
each "a place and rows are given" nothing nic 0 place 2 0
each "a NIC is asked" nothing nic 0 node lost
each "a link is asked" nothing nic 0 state 0
each "a management packet is sent" nothing nic 0 mgmt 0 hello
nic 0 attach 0 e
until_true 10 up 0 0
until_true 10 nic 0 place 2 0
mend 0 0 1 1
mend 1 1 0 0
check "ping is answered afterwards" ping_ok 0 10.1.0.0
for c in credits_vcd0 credits_vcd1 credits_vca; do credits[$c]=$(nic 0 port 0 $c); done
# Multicast of the host's own is dropped, too: a few.
drops=$(nic 0 node host_drops)
probability 10
ns 0 ping -q -c 50 -i 0.02 -W 1 -s 20000 10.1.0.0
probability 0
check "the link is up, or comes up again" mended
check "ping is answered afterwards" ping_ok 0 10.1.0.0
check "TCP goes on despite failed allocations, and arrives whole" stream
check "no packet stays in the NICs" until_true 20 settled
check "dropped messages are counted" more_than 0 node host_drops $((drops + 10))
check "links lost no packet" lost_none 0 1
check "frames cut anywhere do no harm while allocations fail" cut_frames
check "random commands do no harm while allocations fail" any_commands
check "the host learns that a node is unreachable after failed allocations" unreachable
check "the driver unloads" unload
done_testing
