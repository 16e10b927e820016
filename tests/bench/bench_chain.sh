#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Traffic through a chain of nodes, in three ways over the same kind of cables: plain
# kernel forwarding, "bare" (a pass-through from tun to AF_PACKET without any protocol),
# and torusemu.
#
#   c0 ──veth── c1 ──veth── c2 ──veth── c3
#
#	bench_chain.sh [SECONDS [ROUNDS]]
#
# Small packets are limited by the kernel's work for each of them at both ends; bench_host
# measures it. TCP is limited by copies: through 3 links a user-space chain copies 8 times
# (tun device, then out of and into a socket for each link), kernel forwarding never.
# Beyond what "bare" does torusemu computes a CRC, a tenth of its time.
#
# The ways take turns, ROUNDS times; the table shows medians. The kernel is measured with
# cables of MTU 1500, the default, and of 65535.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
check_count 2 "$@"
seconds=${1:-3}
rounds=${2:-3}
check_number SECONDS "$seconds" 1 3600
check_number ROUNDS "$rounds" 1 9999
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/chain.sh
. "$TOP/tests/bench/chain.sh"

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

for way in kernel kernel64k bare emu; do
	# shellcheck disable=SC2086
	{
		sample "TCP through 3 links, $way" Gbit/s ${result[$way,tcp]}
		sample "round trip through 3 links, $way" ms ${result[$way,rtt]}
		sample "64-byte UDP through 1 link, $way" 1/s ${result[$way,pps]}
	}
done
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
