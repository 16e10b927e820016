#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a neighbour to which nothing can move costs the others: TCP from c1 to c2 alone, and beside a
# flow and a flood of datagrams to c0, which is on hold. torusemu.
#
#   c0 ──veth── c1 ──veth── c2
#
#	bench_fair.sh [SECONDS [ROUNDS]]
#
# Both take turns, ROUNDS times; the table shows medians. The ratio includes what the senders of the
# flood themselves take of the processors: "after a moment" is TCP beside them when the NIC drops
# what they send, "beside the flow" without them.

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

nic() { "$B/tests/netns/nictool" "$dir/$1.nic" "${@:2}"; }
is_up() { [[ $(nic "$1" state "$2") == up* ]]; }

emu() {
	local i ports
	cables 3 65535
	for i in 0 1 2; do
		ports=()
		((i < 2)) && ports+=(--port +x=e)
		((i > 0)) && ports+=(--port -x=w)
		ip netns exec "$id-$i" "$B/torusemu" --name "c$i" --ports 2 --socket "$dir/$i.nic" \
			"${ports[@]}" --log-level warning
	done
	for i in 0 1; do until_true is_up $i 0; until_true is_up $((i + 1)) 1; done
	for i in 0 1 2; do nic $i place 3 $i; done
}

# between: Gbit/s from c1 to c2
between() {
	ip netns exec "$id-2" iperf3 -s -1 >/dev/null &
	until_true listens 2 -t 5201
	ip netns exec "$id-1" iperf3 -c 10.2.0.0 -t "$seconds" -O 0.5 -J |
		jq -r '.end.sum_received.bits_per_second / 1e9 * 100 | round / 100'
	wait $!
}

stuck() { (($(nic 1 node "$1") > 0)); }

declare -A result
for ((round = 0; round < rounds; round++)); do
	emu
	ip netns exec "$id-1" ping -q -c 10 -i 0.01 10.2.0.0 >/dev/null
	result[alone]+="$(between) "
	ip netns exec "$id-0" iperf3 -s -1 >/dev/null &
	until_true listens 0 -t 5201
	ip netns exec "$id-1" iperf3 -c 10.0.0.0 -t 3600 >/dev/null &
	sleep 0.5
	nic 1 hold 0
	result[flow]+="$(between) "
	ip netns exec "$id-1" python3 "$TOP/tests/vm/inside/flood.py" 10.0.0.0 &
	flood=$!
	result[flood]+="$(between) "
	until_true stuck host_stuck
	result[later]+="$(between) "
	kill $flood
	down 2>/dev/null
	wait 2>/dev/null
done

row() {
	printf '%-52s %8s %8s\n' "$1" "$(median "${result[$2]}")" \
		"$(ratio "$(median "${result[$2]}")" "$(median "${result[alone]}")")"
	# shellcheck disable=SC2086
	sample "TCP $1" Gbit/s ${result[$2]}
}
printf '%-52s %8s %8s\n' "TCP from c1 to c2" Gbit/s ratio
row "alone" alone
row "beside a flow to c0, which is on hold" flow
row "beside that and a flood of datagrams to c0" flood
row "the same, after a moment" later
