#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Traffic through a chain of nodes, three ways over the same kind of cables:
# plain kernel forwarding, a bare tun and AF_PACKET pass-through without any
# protocol, and torusemu.
#
#   c0 ──veth── c1 ──veth── c2 ──veth── c3
#
#	bench_chain.sh [SECONDS [ROUNDS]]
#
# The ways take turns, ROUNDS times; the table shows medians. The kernel is
# measured with cables of MTU 1500, as they come, and of 65535.

set -u
seconds=${1:-3}
rounds=${2:-3}
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
id=tbench$$
dir=$(mktemp -d)

down() {
	local i p
	for i in 0 1 2 3; do
		for p in $(ip netns pids "$id-$i" 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
		ip netns del "$id-$i" 2>/dev/null
	done
	rm -f "$dir"/*.nic	# who was just killed may still listen for a moment
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

# A torus0-like address on lo, so that all ways have the same ends.
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

bare() {
	local n=$1 i l r
	cables "$n" 65535
	for ((i = 0; i < n; i++)); do
		l=w r=e
		((i == 0)) && l=tun:torus0
		((i == n - 1)) && r=tun:torus0
		ip netns exec "$id-$i" "$B/tests/bench/bare" $l $r 2>/dev/null &
		disown
	done
	for i in 0 $((n - 1)); do
		until_true ip -n "$id-$i" link set torus0 mtu 64000 up
		ip -n "$id-$i" addr add "10.$i.0.0/32" dev torus0
		ip -n "$id-$i" route add 10.0.0.0/8 dev torus0
	done
}

is_up() { [[ $("$B/tests/netns/nictool" "$dir/$1.nic" state "$2") == up* ]]; }

emu() {
	local n=$1 i ports
	cables "$n" 65535
	for ((i = 0; i < n; i++)); do
		ports=()
		((i < n - 1)) && ports+=(--port +x=e)
		((i > 0)) && ports+=(--port -x=w)
		ip netns exec "$id-$i" "$B/torusemu" --name "c$i" --ports 2 --socket "$dir/$i.nic" \
			"${ports[@]}" --log-level warning
	done
	for ((i = 0; i < n - 1; i++)); do
		until_true is_up "$i" 0
		until_true is_up "$((i + 1))" 1
	done
	for ((i = 0; i < n; i++)); do
		"$B/tests/netns/nictool" "$dir/$i.nic" place "$n" "$i"
	done
}

listens() { [[ $(ip netns exec "$id-$1" ss "$2" -Hln sport = ":$3") ]]; }

tcp() {
	local to=$1
	ip netns exec "$id-$to" iperf3 -s -1 >/dev/null &
	until_true listens "$to" -t 5201
	ip netns exec "$id-0" iperf3 -c "10.$to.0.0" -t "$seconds" -O 0.5 -J |
		jq -r '.end.sum_received.bits_per_second / 1e9 * 100 | round / 100'
	wait $!
}

# the median of many: the mean shows what else the machine does
rtt() {
	ip netns exec "$id-0" ping -c 500 -i 0.002 "10.$1.0.0" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' |
		sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

packets() {
	local to=$1 receiver
	ip netns exec "$id-$to" "$B/tests/bench/udp_rate" receive "10.$to.0.0" "$((seconds + 1))" >"$dir/pps" &
	receiver=$!
	until_true listens "$to" -u 7001
	ip netns exec "$id-0" "$B/tests/bench/udp_rate" send "10.$to.0.0" 64 "$seconds" >/dev/null
	wait $receiver
	cat "$dir/pps"
}

declare -A result
for ((round = 0; round < rounds; round++)); do
	for way in kernel kernel64k bare emu; do
		$way 4
		ip netns exec "$id-0" ping -q -c 10 -i 0.01 10.3.0.0 >/dev/null
		result[$way,tcp]+="$(tcp 3) "
		result[$way,rtt]+="$(rtt 3) "
		down
		$way 2
		ip netns exec "$id-0" ping -q -c 10 -i 0.01 10.1.0.0 >/dev/null
		result[$way,pps]+="$(packets 1) "
		down
	done
done

median() { tr ' ' '\n' <<<"$1" | grep . | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b }'; }

m() { median "${result[$1,$2]}"; }
printf '%-34s %10s %10s %10s %10s   %s\n' "" kernel "kernel 64K" bare torusemu "torusemu to reference"
printf '%-34s %10s %10s %10s %10s   %s of kernel, %s of bare\n' "TCP through 3 links, Gbit/s" \
	"$(m kernel tcp)" "$(m kernel64k tcp)" "$(m bare tcp)" "$(m emu tcp)" \
	"$(ratio "$(m emu tcp)" "$(m kernel tcp)")" "$(ratio "$(m emu tcp)" "$(m bare tcp)")"
printf '%-34s %10s %10s %10s %10s   %s of bare\n' "round trip through 3 links, ms" \
	"$(m kernel rtt)" "$(m kernel64k rtt)" "$(m bare rtt)" "$(m emu rtt)" \
	"$(ratio "$(m emu rtt)" "$(m bare rtt)")"
printf '%-34s %10s %10s %10s %10s   %s of bare\n' "64-byte UDP through 1 link, 1/s" \
	"$(m kernel pps)" "$(m kernel64k pps)" "$(m bare pps)" "$(m emu pps)" \
	"$(ratio "$(m emu pps)" "$(m bare pps)")"
