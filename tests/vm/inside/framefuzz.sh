#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: COUNT hostile frames (1440) at one port of a NIC whose other links carry traffic,
# in batches of EVERY (480). Each batch has a seed of its own, and its frames have another form
# in the kernel's memory than those of the batch before (framefuzz.h).
# attacked.sh makes the NICs.
#
# A peer that lies makes its own link faulty and nothing else: the other links of n1 have not
# changed their state since the beginning, and of the requests and answers through them none is
# lost, duplicated or reordered. After each batch the attacked link comes up again for an honest
# peer, and the kernel's log has no complaint.

# shellcheck source=tests/vm/inside/attacked.sh
. "$TOP/tests/vm/inside/attacked.sh"

COUNT=${COUNT:-1440}
EVERY=${EVERY:-480}
first=${SEED:-1}

batch() {
	local way=${ways[$1 % ${#ways[@]}]} node=3 wire=evil
	[[ $way != tap ]] || node=1 wire=tap
	check "a port is bound to the cable" nic 1 attach 1 $wire
	check "SEED=$1: hostile frames by $way do no harm" env SEED="$1" ip netns exec n$node \
		"$B/tests/vm/framefuzz" --count "$EVERY" --way "$way" $wire
	check "SEED=$1: the other links have kept their state" links_kept
	check "SEED=$1: what passes through them goes on" going_on
	manage
}

check "the driver loads" load
check "three nodes and a cable to an attacker come up" fabric
((!failed)) || exit 1
lines=$(dmesg | wc -l)
ways=(packet ring tap)
check "nodes 0 and 1 send requests, which nodes 2 and 0 answer" traffic_begins
for ((i = 0; i * EVERY < COUNT; i++)); do
	batch $((first + i))
done
check "all requests were answered, once and in order" traffic_ends
check "hostile frames do not flood the kernel's log" test $(($(dmesg | wc -l) - lines)) -lt 20
ip -all netns delete
# No packet is left: the kernel complains of a cache with objects that ends.
check "the driver unloads" unload
done_testing
