#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A destination for which nothing can move does not stop the others: one on hold, a neighbour that
# is gone, a neighbour that takes nothing more. n1, in the middle, sends to both ends.
#
#	n0 ---- n1 ---- n2
#
# How much n1 may hold is so little that a flow to n0 fills it. Before, n1's whole queue stopped
# then: not a byte went to n2 until the hold ended, or until all was dropped.

# shellcheck disable=SC2016,SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"

# Parking and holding as little as possible
check "the driver loads" load
check "three nodes in a line come up" eval 'made+=(--set park_bytes=64K --set hold_bytes=128K) && line 3'

# flow_begins TO: a TCP flow to a node that takes data as long as there are any
flow_begins() {
	: >/tmp/to
	ns "$1" python3 "$TOP/tests/vm/inside/tcp.py" receive "10.$1.0.0" >/tmp/to &
	receiver=$!
	until_true 60 grep -q listening /tmp/to || return
	rm -f /tmp/enough
	ns 1 python3 "$TOP/tests/vm/inside/tcp.py" send "10.$1.0.0" /tmp/enough >/tmp/from &
	sender=$!
	# Datagrams of the flood before may still come, and count as bytes, too.
	until_true 60 grep -q connected /tmp/to || return
	until_true 60 more_than "$1" node host_bytes_rx $(($(nic "$1" node host_bytes_rx) + 2000000))
}
# flow_ends: whether all of the flow comes, the same, when it is enough
flow_ends() {
	: >/tmp/enough
	wait "$sender" && wait "$receiver" && [[ $(tail -n 1 /tmp/to) == $(cat /tmp/from) ]]
}
# Nothing of the flow arrives while another one goes on.
others_go_on() {
	local came
	came=$(nic 0 node host_bytes_rx)
	copy 1 2 "$1" && echo "$(($(nic 0 node host_bytes_rx) - came)) bytes came meanwhile" &&
		equals 0 node host_bytes_rx "$came"
}
waits() { more_than 1 node host_waited "$1"; }
flood() {
	ns 1 python3 "$TOP/tests/vm/inside/flood.py" 10.0.0.0 &
	flood=$!
}
flood_ends() { kill "$flood"; wait "$flood" 2>/dev/null; }

check "a flow to n0 begins" flow_begins 0
check "n0 is on hold" nic 1 hold 0
before=$(nic 1 node host_waited)
flood
check "messages to n0 wait in front of the NIC" until_true 60 waits "$before"
check "TCP to n2 goes on" others_go_on 5
flood_ends
check "the hold ends" nic 1 release
check "the flow goes on, and is whole" flow_ends

check "another flow to n0 begins" flow_begins 0
ip -n n0 link set e down
check "the link to n0 is lost" until_true 20 state_is 1 1 "faulty carrier"
before=$(nic 1 node host_waited)
flood
check "messages to n0 wait when parking is full" until_true 60 waits "$before"
check "TCP to n2 goes on" others_go_on 5
flood_ends
ip -n n0 link set e up
check "the cable to n0 returns" eval 'until_true 20 up 1 1 && until_true 20 up 0 0'
check "parked packets leave by the cable" eval 'mend 0 0 1 1 && mend 1 1 0 0'
check "the flow goes on, and is whole" flow_ends
check "only counted packets were lost" eval 'lost_none 0 1 2 && more_than 1 node host_stuck -1'
check "the driver unloads" unload
done_testing
