#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A small parking segment: when it is full the host waits, but not for ever. Waiting messages
# hold their sockets, these hold their namespace, and that holds the NIC, so none of them could
# ever end; after ten seconds the rule in kernel/soft/msg.c drops the messages.

TOP=${TOP:-$(cd "$(dirname "$0")/../../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"

silence=$((2 * slow)) # which is what is waited for here

no_cables() { [[ -z $(ip -n "n$1" -br link show type veth) ]]; }

check "the driver loads" load
check "two nodes with small parking segments come up" eval 'made+=(--set park_bytes=64K) && line 2'

# More than fits: the rest waits behind it, in the NIC and in the host.
nic 0 fault 0 silence=1
check "the only link is faulty" until_true 20 state_is 0 0 "faulty silence"
check "datagrams are sent to the faulty link" numbered 0 1 60
check "some datagrams are parked" until_true 20 more_than 0 node parked 5
check "no more datagrams are parked than there is room for" eval '(($(nic 0 node parked) <= 65536 / 48))'
nic 0 fault 0 silence=0
check "the link returns" until_true 20 state_is 0 0 "up silence"
mend 1 1 0 0 && mend 0 0 1 1
check "all datagrams arrive once and in order" until_true 60 arrived
check "no packet of the flow is lost" equals 1 node lost 0

nic 0 fault 0 silence=1
check "the only link is faulty" until_true 20 state_is 0 0 "faulty silence"
ip netns exec n0 python3 "$TOP/tests/vm/inside/flood.py" --wait 10.1.0.0 &
flood=$!
# The host's own multicast is dropped, too: a few of the 128 messages of a dropped queue.
drops=$(nic 0 node host_drops)
check "the host waits while parking is full, and then goes on" until_true 60 \
	more_than 0 node host_drops $((drops + 50))
kill $flood
wait $flood 2>/dev/null
parked=$(nic 0 node parked)
nic 0 fault 0 silence=0
check "the link returns" until_true 20 state_is 0 0 "up silence"
check "the other end has no parked packets" mend 1 1 0 0
check "the parked packets are resolved and replayed" mend 0 0 1 1
check "all parked packets are replayed" until_true 20 more_than 0 node replayed $((parked - 1))
check "traffic goes on after the replay" until_true 20 ping_ok 0 10.1.0.0

# Again; now its namespace ends while the host waits.
nic 0 fault 0 silence=1
check "the only link is faulty again" until_true 20 state_is 0 0 "faulty silence"
ip netns exec n0 python3 "$TOP/tests/vm/inside/flood.py" --wait 10.1.0.0 &
flood=$!
check "packets are parked" until_true 20 more_than 0 node parked "$parked"
sleep 2
kill $flood
wait $flood 2>/dev/null
ip netns del n0
check "the namespace ends with parked packets in its NIC" until_true 60 no_cables 1
ip netns del n1
check "the driver unloads" unload
done_testing
