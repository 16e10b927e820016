# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Shared by the benchmarks of traffic through a chain of nodes: the chain, kernel forwarding
# as the reference, and the measurements. The script that sources this has set seconds, TOP
# and B.
#
#   c0 ──veth── c1 ──veth── c2 ...

# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"

id=tbench$$
dir=$(mktemp -d)

down() {
	local i p
	for i in 0 1 2 3; do
		for p in $(ip netns pids "$id-$i" 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
		ip netns del "$id-$i" 2>/dev/null
	done
	rm -f "$dir"/*.nic	# a killed torusemu may still listen for a moment
}
trap 'down; rm -rf "$dir"' EXIT

until_true() {
	local end=$((SECONDS + 10))
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || { echo "still not: $*" >&2; exit 2; }
		sleep 0.02
	done
}

# cables NODES MTU
cables() {
	local i
	for ((i = 0; i < $1; i++)); do
		ip netns add "$id-$i"
		ip -n "$id-$i" link set lo up
	done
	for ((i = 0; i < $1 - 1; i++)); do
		ip link add e mtu "$2" up netns "$id-$i" type veth peer name w mtu "$2" netns "$id-$((i + 1))"
		ip -n "$id-$((i + 1))" link set w up
	done
}

# kernel NODES [MTU]: plain forwarding, with the same addresses as torus0 has, here on lo
kernel() {
	local n=$1 i
	cables "$n" "${2:-1500}"
	for ((i = 0; i < n; i++)); do
		ip netns exec "$id-$i" sysctl -qw net.ipv4.ip_forward=1
		ip -n "$id-$i" addr add "10.$i.0.0/32" dev lo
		((i < n - 1)) && ip -n "$id-$i" addr add "192.168.$i.1/24" dev e
		((i > 0)) && ip -n "$id-$i" addr add "192.168.$((i - 1)).2/24" dev w
	done
	for ((i = 0; i < n; i++)); do
		((i < n - 1)) && ip -n "$id-$i" route add "10.$((n - 1)).0.0/32" via "192.168.$i.2" src "10.$i.0.0"
		((i > 0)) && ip -n "$id-$i" route add "10.0.0.0/32" via "192.168.$((i - 1)).1" src "10.$i.0.0"
	done
}

kernel64k() { kernel "$1" 65535; }

listens() { [[ $(ip netns exec "$id-$1" ss "$2" -Hln sport = ":$3") ]]; }

tcp() {
	local to=$1
	ip netns exec "$id-$to" iperf3 -s -1 >/dev/null &
	until_true listens "$to" -t 5201
	ip netns exec "$id-0" iperf3 -c "10.$to.0.0" -t "$seconds" -O 0.5 -J |
		jq -r '.end.sum_received.bits_per_second / 1e9 * 100 | round / 100'
	wait $!
}

# rtt TO: median round trip in ms. The mean would depend on the other load of the machine.
rtt() {
	ip netns exec "$id-0" ping -c 500 -i 0.002 "10.$1.0.0" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' |
		sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

# packets TO [BYTES]: UDP packets received per second
packets() {
	local to=$1 receiver
	ip netns exec "$id-$to" "$B/tests/bench/udp_rate" receive "10.$to.0.0" "$((seconds + 1))" >"$dir/pps" &
	receiver=$!
	until_true listens "$to" -u 7001
	ip netns exec "$id-0" "$B/tests/bench/udp_rate" send "10.$to.0.0" "${2:-64}" "$seconds" >/dev/null
	wait $receiver
	cat "$dir/pps"
}

# asks TO [BYTES]: round trip of a small UDP datagram: median, 5th and 95th percentile, ns
asks() {
	local to=$1 answerer
	ip netns exec "$id-$to" "$B/tests/bench/udp_ask" answer "10.$to.0.0" &
	answerer=$!
	until_true listens "$to" -u 7002
	ip netns exec "$id-0" "$B/tests/bench/udp_ask" ask "10.$to.0.0" "${2:-64}" 1000 || exit 2
	{ kill "$answerer"; wait "$answerer"; } 2>/dev/null
}

median() { tr ' ' '\n' <<<"$1" | grep . | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b }'; }
