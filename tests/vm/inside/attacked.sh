# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For scripts in a guest that attack a NIC, n1's, whose other links carry traffic:
#
#	n0:torus0 --e--w-- n1:torus0 --e--w-- n2:torus0		3x2, its lower row
#	                       |
#	                      evil -- evil in n3: framefuzz
#	                   or tap: framefuzz
#
# Between n0 and n1 packets have no ECRC, as in cables in memory; between n1 and n2 they have,
# and frames are under way for long, in the pages in which they came.
#
# The links have a long silence: on one processor the flood of one link keeps others from being
# served, which no cable would do. Links still fail here for any other reason.

# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
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

# traffic_begins: the other links carry requests and answers from now on
traffic_begins() {
	before=$(changes)
	asked=()
	asker 0 2 && asker 1 0
}

# traffic_ends: each of these requests was answered, once and in order
traffic_ends() {
	local p failed=0
	: >$stop
	for p in "${asked[@]}"; do wait "$p" || failed=1; done
	cat /tmp/asked*
	return "$failed"
}
