#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel without a manager: a line of nodes, placed and routed by hand.

# shellcheck disable=SC2016,SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"

check "the driver loads" load
check "the driver has no module parameters" test ! -e /sys/module/torus/parameters
check "three nodes in a line come up" line 3
check "ping is answered" ping_ok 0 10.1.0.0
check "ping over two links is answered" ping_ok 0 10.2.0.0
check "ping on VCD1 is answered" ping_ok 0 -Q 0x80 10.2.0.0
check "ping on VCA is answered" ping_ok 0 -Q 0x20 10.2.0.0
check "ping of 60000 bytes is answered" ping_ok 0 -s 60000 10.2.0.0
check "TCP over two links delivers what was sent" copy 0 2 10
check "TCP delivers what was sent back" copy 2 0 10
check "UDP that the kernel has to segment arrives" segmented 0 2
check "no packet was lost" lost_none 0 1 2

# Small messages that a host sends in succession share frames.
waited() { ns 0 ethtool -S torus0 | awk '$1 == "tx_waited:" { print $2 }'; }
ask_waited() { got=$(waited); echo "waited: $got"; }
sent() { nic 0 node host_messages_tx; }
sends_more_than() { ns 0 "$B/tests/bench/udp_rate" send 10.2.0.0 64 0.3 && (($(sent) > $1)); }
stream() {
	local tx rx
	tx=$(sent) rx=$(nic 2 node host_messages_rx)
	until_true 20 sends_more_than $((tx + 20)) || return
	tx=$(($(sent) - tx))
	echo "sent: $tx"
	until_true 10 more_than 2 node host_messages_rx $((rx + tx - 1))
}
# How many messages share frames depends on the machine: on a slow one hardly any do.
gathers() {
	local before
	before=$(waited) && stream && ask_waited && ((got > before))
}
gathers_not() {
	local before
	ns 0 ethtool -C torus0 tx-usecs 0 && before=$(waited) && stream && ask_waited && ((got == before))
}
coalesce() { ns 0 ethtool -c torus0 | awk '/^tx-(usecs|frames):/ { print $2 }' | xargs; }
# Only netlink reports the reason, which not all kernels here support.
refused() {
	local before set
	before=$(coalesce)
	for set in "tx-usecs 10001" "tx-frames 0" "tx-frames 129"; do
		# shellcheck disable=SC2086 # two words
		! ns 0 ethtool -C torus0 $set || return
	done
	[[ $(coalesce) == "$before" ]]
}
check "messages of a stream are batched" until_true 20 gathers
check "messages of a stream are not batched if this is turned off" gathers_not
check "impossible settings of batching are refused" refused
check "accepted settings of batching are shown" eval 'ns 0 ethtool -C torus0 tx-usecs 10000 tx-frames 128 &&
	[[ $(coalesce) == "10000 128" ]]'

# A relay parks what comes by a later table than its own, so all have the next version.
check "a row with a relay is set" eval 'nic 1 next && nic 2 next && nic 0 via 2 1 &&
	nic 1 release && nic 2 release && nic 0 release'
check "ping through a relay is answered" ping_ok 0 10.2.0.0
check "TCP through a relay delivers what was sent" copy 0 2 5
check "the relay counts the packets it sent on" more_than 1 node relay_forwarded 100
as_much() { more_than 0 node relayed_tx 100 && equals 2 node relayed_rx "$got"; }
check "the relay forwarded as many packets as the destination received" until_true 10 as_much
check "the row with the relay is removed" nic 0 place 3 0

nic 0 fault 0 ber=1000000000000 seed=7
nic 1 fault 1 ber=1000000000000 seed=8
check "TCP delivers what was sent at a bit error rate of 1e-6" copy 0 2 5
check "bit errors were detected" more_than 1 port 1 crc_errors 10
errors=$(nic 1 port 1 crc_errors)
check "UDP arrives at a bit error rate of 1e-6" datagrams 0 2 400
check "bit errors were detected" more_than 1 port 1 crc_errors "$errors"
check "no packet was lost" lost_none 0 1 2
nic 0 fault 0 ber=0
nic 1 fault 1 ber=0

nic 0 fault 0 silence=1
check "silence is detected" until_true $((3 * silence)) state_is 0 0 "faulty silence"
check "silence is detected at the other end" until_true $((3 * silence)) state_is 1 1 "faulty silence"
ns 0 ping -q -c 3 -i 0.05 -W 1 10.1.0.0 >/dev/null
check "packets are parked" until_true 20 more_than 0 node parked 2
nic 0 fault 0 silence=0
until_true 10 state_is 1 1 "up silence"
check "the link returns" until_true 10 state_is 0 0 "up silence"
mend 0 0 1 1 && mend 1 1 0 0
check "parked packets are replayed" until_true 20 more_than 0 node replayed 2
check "ping after replay is answered" ping_ok 0 10.2.0.0

ip -n n1 link set w down
check "carrier loss is detected" until_true 10 state_is 1 1 "faulty carrier"
ip -n n1 link set w up
until_true 10 state_is 1 1 "up carrier"
check "the link returns with its carrier" until_true 10 state_is 0 0 "up carrier"
mend 0 0 1 1 && mend 1 1 0 0
check "ping after mending is answered" ping_ok 0 10.1.0.0

say "n1: ip link del w"
ip -n n1 link del w
check "deleting the device of a port loses its carrier" until_true 10 state_is 0 0 "faulty carrier"
cable 0 1
attach 0
attach 1
until_true 10 state_is 0 0 "up carrier"
check "a new device is bound to the port" until_true 10 state_is 1 1 "up carrier"
mend 0 0 1 1 && mend 1 1 0 0
check "ping over the new cable is answered" ping_ok 0 10.2.0.0

check "the driver unloads while all of it is in use" unload
done_testing
