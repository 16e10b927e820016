#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: COUNT hostile frames (1440) at one port of a NIC whose other links carry traffic,
# in batches of EVERY (480). Each batch has a seed of its own, and its frames have another form
# in the kernel's memory than those of the batch before (framefuzz.h).
#
#	n0:torus0 --e--w-- n1:torus0 --e--w-- n2:torus0		3x2, its lower row
#	                       |
#	                      evil -- evil in n3: framefuzz
#	                   or tap: framefuzz
#
# Between n0 and n1 packets have no ECRC, as in cables in memory; between n1 and n2 they have,
# and frames are under way for long, in the pages in which they came.
#
# A peer that lies makes its own link faulty and nothing else: the other links of n1 have not
# changed their state since the beginning, and of the requests and answers through them none is
# lost, duplicated or reordered. After each batch the attacked link comes up again for an honest
# peer, and the kernel's log has no complaint.
#
# The links have a long silence: on one processor the flood of one link keeps others from being
# served, which no cable would do. Links still fail here for any other reason.

# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"

COUNT=${COUNT:-1440}
EVERY=${EVERY:-480}
first=${SEED:-1}
stop=/tmp/stop

placed_node() {
	local n=$1
	ip netns add "n$n" && ip -n "n$n" link set lo up || return
	ns "$n" "$B/fabricctl" device add torus0 --ports 4 --set silence=60s --set retry_time=60s \
		--set park_bytes=64M >/dev/null || return
	ip -n "n$n" -batch - <<-END
		addr add 10.$n.0.0/32 dev torus0
		link set torus0 up
		route add 10.0.0.0/8 dev torus0
	END
}

# Ports of a NIC with two dimensions: +x +y -x -y. There is no node at 0,1 and 2,1.
fabric() {
	local n
	for n in 0 1 2; do placed_node $n || return; done
	cable 0 1 && cable 1 2 || return
	ip netns add n3
	ip -batch - <<-END || return
		link add evil mtu 65535 netns n1 type veth peer name evil mtu 65535 netns n3
	END
	ip -n n1 link set evil up
	ip -n n3 link set evil up
	ip -n n1 tuntap add tap mode tap && ip -n n1 link set tap mtu 65521 up || return
	nic 0 attach 0 e && nic 1 attach 2 w && nic 1 attach 0 e && nic 2 attach 2 w &&
		nic 1 attach 1 evil || return
	for n in 0 1 2; do nic $n place 3x2 $n,0 && nic $n invalid 3 && nic $n invalid 5 || return; done
	joined 0 0 1 2 && joined 1 0 2 2 && nic 1 fault 0 ber=1 latency=10000000
}

changes() {
	local p
	for p in "0 0" "1 0" "1 2" "2 2"; do
		# shellcheck disable=SC2086 # two words
		echo "$p: $(nic ${p% *} port ${p#* } state_changes) $(nic ${p% *} state ${p#* })"
	done
}

# asker A B: requests of A to B, until the end; succeeds when the first was answered
asker() {
	local said=/tmp/asked$1$2
	ns "$2" python3 "$TOP/tests/vm/inside/echo.py" answer "10.$2.0.0" "7$1$2" >/dev/null 2>&1 &
	until_true 20 ns "$2" sh -c "ss -Hlun | grep -q :7$1$2" || return
	ns "$1" python3 "$TOP/tests/vm/inside/echo.py" ask "10.$2.0.0" "7$1$2" $stop >"$said" 2>&1 &
	asked+=($!)
	until_true 60 grep -q 'the first datagram is answered' "$said" || { cat "$said"; return 1; }
}

# As a manager would do: packets parked for dead ends are replayed or returned.
manage() {
	local n
	for n in 0 1 2; do nic "$n" replay 1 2>/dev/null; done
	return 0
}

links_kept() { diff <(echo "$before") <(changes); }
# Each process by itself: "kill -0" of several succeeds if one of them lives.
going_on() {
	local p
	((${#asked[@]} == 2)) || return
	for p in "${asked[@]}"; do kill -0 "$p" || return; done
}

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
before=$(changes)
lines=$(dmesg | wc -l)
asked=()
ways=(packet ring tap)
check "node 0 sends requests to node 2, which answers" asker 0 2
check "node 1 sends requests to node 0, which answers" asker 1 0
for ((i = 0; i * EVERY < COUNT; i++)); do
	batch $((first + i))
done
: >$stop
for p in "${asked[@]}"; do
	check "all requests were answered, once and in order" wait "$p"
done
cat /tmp/asked*
check "hostile frames do not flood the kernel's log" test $(($(dmesg | wc -l) - lines)) -lt 20
ip -all netns delete
# No packet is left: the kernel complains of a cache with objects that ends.
check "the driver unloads" unload
done_testing
