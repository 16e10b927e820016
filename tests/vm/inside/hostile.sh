#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: attacks on the NIC of n1, each for EACH seconds (10): by the other end of one of its
# cables, and by users without privilege on its node. ATTACKS="frames readers" selects some of:
#
#	frames		forged and damaged frames by a cable (framefuzz)
#	hoards		frames full of small packets that must wait: for earlier ones, or for the rest of
#			their message
#	readers		a user reads all that can be read, and tries to change it (nlfuzz, ethtool)
#	floods		a user sends to nodes that are on hold, unreachable, or behind the attacker
#	containers	a user makes NICs in user namespaces of his own, commands them, and ends them
#
# During each attack and after it, the other links keep their state, their requests are answered once
# and in order, and more of them than before. The memory that goes meanwhile is less than 64 MiB for
# each of the three NICs, including that of the attackers themselves. At the end an honest peer of
# the attacked link is served, RTNL is free, and the kernel's log has no complaint.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/attacked.sh
. "$TOP/tests/vm/inside/attacked.sh"
EACH=${EACH:-10}
read -ra attacks <<<"${ATTACKS:-frames hoards readers floods containers}"
nobody=65534
memory_max=$((3 * 64 * 1024)) # KiB
seed=${SEED:-1}

# user COMMAND...: as a user without any privilege in n1
user() { ns 1 setpriv --reuid "$nobody" --regid "$nobody" --clear-groups --inh-caps=-all "$@"; }

# Each of these is called again and again until its time is over.

attack_frames() {
	SEED=$((seed++)) ns 3 "$B/tests/vm/framefuzz" --count 200 evil
}

attack_hoards() {
	SEED=$((seed++)) ns 3 "$B/tests/vm/framefuzz" --only hoard --count 2000 evil &&
		SEED=$seed ns 3 "$B/tests/vm/framefuzz" --only flood --count 100 evil
}

attack_readers() {
	SEED=$((seed++)) ns 1 "$B/tests/vm/nlfuzz" --count 1000 --role none w e &&
		user sh -c 'for i in 1 2 3 4; do ip -s link show torus0 && ethtool -S torus0; done >/dev/null'
}

# Node 3 is on hold, node 4 is the attacker's, and nodes 2 and 5 have no path of this kind.
attack_floods() {
	nic 1 hold 3 && user timeout 3 python3 "$TOP/tests/vm/inside/flood.py" 10.0.1.0 10.1.1.0 10.2.1.0
	(($? == 124)) && nic 1 release
}

# A user does this in a namespace of his own, which ends with all its NICs. FAULT is refused.
# shellcheck disable=SC2016 # for the container's shell
container='
	ip link add e type veth peer name w && ip link set e mtu 65535 up && ip link set w mtu 65535 up || exit
	for i in 0 1 2 3; do "$ctl" device add n$i --ports 2 --set park_bytes=64K >/dev/null || exit; done
	! "$ctl" device add n4 --set hold_bytes=1G 2>/dev/null || { echo "hold_bytes is taken"; exit 1; }
	"$tool" genl:n0 attach 0 e && "$tool" genl:n1 attach 1 w || exit
	"$tool" genl:n0 place 2 0 && "$tool" genl:n1 place 2 1 || exit
	! "$tool" genl:n0 fault 0 ber=1000000000000000 2>/dev/null || { echo "a fault is taken"; exit 1; }
	exec "$fuzz" --count 500 e w lo n2 n3'
attack_containers() {
	SEED=$((seed++)) ctl=$B/fabricctl tool=$tool fuzz=$B/tests/vm/nlfuzz user unshare -Urn bash -c "$container"
}

available() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo; }

# watch_memory: writes the least memory that was available, until it is killed
watch_memory() {
	local now least
	least=$(available)
	while :; do
		now=$(available)
		((now >= least)) || { least=$now; echo "$least" >/tmp/least; }
		rest 0.5
	done
}

# keep_at ATTACK: attacks until the time is over
keep_at() {
	local end=$((SECONDS + EACH)) n=0
	while ((SECONDS < end)); do
		"attack_$1" >/tmp/attack 2>&1 || { cat /tmp/attack; return 1; }
		n=$((n + 1))
	done
	echo "$n times"
}

# under_attack ATTACK: whether the attack itself went as it should, and took no memory
under_attack() {
	local start watcher result
	start=$(available)
	echo "$start" >/tmp/least
	watch_memory &
	watcher=$!
	keep_at "$1"
	result=$?
	kill "$watcher"
	wait "$watcher" 2>/dev/null
	used=$((start - $(</tmp/least)))
	echo "$((used / 1024)) MiB"
	return "$result"
}

served() { nic 2 node host_messages_rx; }
serves() { more_than 2 node host_messages_rx "$1"; }

check "the driver loads" load
check "three nodes and a cable to an attacker come up" fabric
check "nodes 0 and 1 send requests, which nodes 2 and 0 answer" traffic_begins
((!failed)) || exit 1
lines=$(dmesg | wc -l)
for attack in "${attacks[@]}"; do
	tag="$attack: "
	messages=$(served)
	used=0
	check "the attack lasts $EACH seconds" under_attack "$attack"
	check "at most 64 MiB of memory for each NIC are taken" test "$used" -le $memory_max
	check "the other links have kept their state" links_kept
	check "what passes through them goes on" going_on
	check "requests are answered" until_true 60 serves "$messages"
	check "RTNL is free" timeout $((60 * slow)) ip link add probe type dummy
	ip link del probe
	manage
done
tag=''
check "all requests were answered, once and in order" traffic_ends
check "the attacks do not flood the kernel's log" test $(($(dmesg | wc -l) - lines)) -lt 100
ip -all netns delete
check "the driver unloads" unload
done_testing
