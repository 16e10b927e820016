#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Remote memory of NICs of the kernel (/dev/torus) beside UDP over their netdevs, between two nodes in
# one guest with Debian's kernel; and what an open /dev/torus costs the packets of its netdev.
#
#	bench_rma_kernel.sh [--icount] [SECONDS [ROUNDS]]
#
# SECONDS is for each figure of each round, ROUNDS times; the table shows medians. The round trip over
# the netdev is that of 64 bytes by UDP: before any process has opened the device, while two contexts
# with a region each are open and idle, and after they are closed.
#
# With --icount the guest's clock counts instructions, 1 ns each, on its one processor: what both
# nodes and both processes do is added up, and does not depend on the load of the machine. Without it,
# only ratios mean something. A copy and a system call both cost more than on a real processor.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
clock=()
[[ ${1-} != --icount ]] || { clock=(--icount); shift; }
check_count 2 "$@"
seconds=${1:-1}
rounds=${2:-$([[ ${clock[*]} ]] && echo 1 || echo 3)}
check_number SECONDS "$seconds" 1 3600
check_number ROUNDS "$rounds" 1 9999
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B

# Outside of a guest: start one. The driver is in KMOD there.
if [[ -z ${KMOD-} ]]; then
	limit=$((600 + rounds * (20 * seconds + 20) * 30))
	exec "$TOP/tests/vm/guest" --no-plan "${clock[@]}" --limit "$((limit < 999999 ? limit : 999999))" \
		"${VM:-stock}" env BENCH_SAMPLES="${BENCH_SAMPLES-}" \
		bash "$TOP/tests/bench/bench_rma_kernel.sh" "$seconds" "$rounds"
fi

# shellcheck source=tests/bench/chain.sh
. "$TOP/tests/bench/chain.sh"
if [[ ! -e /sys/module/torus ]]; then
	for m in $(modinfo -F depends "$KMOD/torus.ko" | tr , ' '); do modprobe "$m" 2>/dev/null; done
	insmod "$KMOD/torus.ko" || exit 2
fi
declare -A result
tool=$B/tests/netns/nictool
rate=$B/tests/bench/rma_rate

# nic N COMMAND...: at the NIC of node N
nic() { ip netns exec "$id-$1" "$tool" genl:torus0 "${@:2}"; }
is_up() { [[ $(nic "$1" state "$2") == up* ]]; }
place() {
	until_true is_up 0 0
	until_true is_up 1 1
	nic 0 place 2 0
	nic 1 place 2 1
}

# torus: two NICs of the kernel
torus() {
	local i
	cables 2 65535
	for i in 0 1; do
		ip netns exec "$id-$i" "$B/fabricctl" device add torus0 >/dev/null
		nic "$i" attach "$i" "$( ((i)) && echo w || echo e)"
	done
	place
	for i in 0 1; do
		ip -n "$id-$i" link set torus0 up
		ip -n "$id-$i" addr add "10.$i.0.0/32" dev torus0
		ip -n "$id-$i" route add 10.0.0.0/8 dev torus0 src "10.$i.0.0"
	done
	ip netns exec "$id-0" ping -q -c 10 -i 0.01 10.1.0.0 >/dev/null
}

# measure KEY COMMAND...: appends the first number that it prints to result[KEY]
measure() {
	local got
	got=$("${@:2}")
	[[ $got ]] || { echo "$1: failed" >&2; exit 2; }
	result[$1]+="${got%% *} "
}
own() {
	rm -f "$dir/far$1"
	ip netns exec "$id-$1" "$rate" own dev:torus0 >"$dir/far$1" &
	owner[$1]=$!
	until_true test -s "$dir/far$1"
}
disown_all() { kill "${owner[@]}"; wait "${owner[@]}"; } 2>/dev/null
# rma MODE OPERATION BYTES
# shellcheck disable=SC2046
rma() { ip netns exec "$id-0" "$rate" "$1" dev:torus0 $(<"$dir/far1") "$2" "$3" "$seconds"; }

measure_rma() {
	local op s
	for op in put get add; do measure "trip $op" rma trip "$op" 8; done
	for s in 8 4096; do measure "stream $s" rma stream put "$s"; done
}

owner=()
for ((round = 0; round < rounds; round++)); do
	torus
	measure "unused" asks 1 64
	own 0
	own 1
	measure "open" asks 1 64
	measure_rma
	disown_all
	measure "closed" asks 1 64
	down
done

# row TEXT KEY UNIT
row() {
	printf '%-46s %12s\n' "$1, $3" "$(median "${result[$2]}")"
	# shellcheck disable=SC2086
	sample "$1" "$3" ${result[$2]}
}

row "put of 8 bytes and completion" "trip put" us
row "get of 8 bytes" "trip get" us
row "fetch and add" "trip add" us
row "puts of 8 bytes" "stream 8" /s
row "puts of 4096 bytes" "stream 4096" /s
for state in unused open closed; do row "round trip over torus0, /dev/torus $state" "$state" ns; done
