#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel against the kernel's own forwarding, in one guest with Debian's
# kernel: packets through one node, one at a time (round trips) and as many as go, and TCP through
# three links.
#
#	bench_kernel.sh [--icount] [--cpu MODEL] [--round-trips | --tcp | --readers] [SECONDS [ROUNDS [PAYLOAD]]]
#
# --round-trips measures nothing else, in a tenth of the time; --tcp only TCP; --readers TCP through
# three links beside 64 processes that read a NIC on its way all the time, and beside 64 that only
# spin. These have the policy SCHED_IDLE, so they take no processor time that TCP needs.
# PAYLOAD: payload_max of the NICs, by default the largest, as in labs.
#
# Both ways take turns, ROUNDS times; the table shows medians. On an emulated processor
# only the ratios mean something. Cables have MTU 65535 for both, which favours plain
# forwarding: its segments then pass whole. The sender puts many small messages of a flow
# into one frame. "at once" sends each in a frame of its own (torus(4), tx-usecs), as for a
# host that waits for answers.
#
# A round trip is one of 1000 questions of 64 bytes, each sent after the answer to the one before;
# beside the median of each round are the 5th and 95th percentile. The NIC sends them at once by
# itself, since the host waits for answers. There is one processor: what both hosts and the node
# between them do for a round trip is added up, and nothing runs at the same time.
#
# With --icount the guest's clock counts instructions, 1 ns each. The figures are then
# instructions, not times: they do not depend on the load of the machine, and one round of
# one second is enough, and the default; but those of TCP differ by some per cent from run to
# run. A second of the guest takes ten to twenty seconds then, and a round six minutes on a busy
# machine. The guest is ended after four times as long.
#
# What the ratios leave out:
#  - The cables are veth pairs, whose frames never leave the machine's memory. For these the NIC
#    computes no CRC of the payload, as it would for a cable between machines.
#  - The target of 0.7 is for the rows in which up to 128 messages share a frame. "at once" has no
#    target, and the delay by which messages wait for others is not measured.
#  - Of UDP only packets that arrive are counted. Forwarding also spends time on packets that it
#    drops later; the driver makes the sender wait instead.
#  - PAYLOAD is that of labs, 16368, not the driver's default, 4096.
#
# Time and instructions both overrate the cost of a copy compared with a real processor, and
# for TCP the copies of the hosts are much of the reference. By default the kernel copies
# words, one per instruction; with --cpu max, a processor with fast string instructions, it
# copies byte by byte.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
clock=()
[[ ${1-} != --icount ]] || { clock=(--icount); shift; }
if [[ ${1-} == --cpu ]]; then
	(($# > 1)) && [[ $2 && $2 != -* ]] || usage_error "--cpu needs a value"
	clock+=(--cpu "$2")
	shift 2
fi
only=()
[[ ${1-} != @(--round-trips|--tcp|--readers) ]] || { only=("$1"); shift; }
check_count 3 "$@"
enough=$([[ ${clock[0]-} == --icount ]] && echo 1 || echo 3)
seconds=${1:-$enough}
rounds=${2:-$enough}
payload=${3:-16368}
check_number SECONDS "$seconds" 1 3600
check_number ROUNDS "$rounds" 1 9999
check_number PAYLOAD "$payload" 64 16368
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B

# limit: how long the guest may take, which measures 8 * seconds + 11 seconds in each round
limit() {
	local each=10 all
	[[ ${clock[0]-} != --icount ]] || each=60
	all=$((300 + rounds * (8 * seconds + 11) * each))
	echo $((all < 999999 ? all : 999999))
}

# Outside of a guest: start one. The driver is in KMOD there.
if [[ -z ${KMOD-} ]]; then
	exec "$TOP/tests/vm/guest" --no-plan "${clock[@]}" --limit "$(limit)" "${VM:-stock}" env \
		BENCH_SAMPLES="${BENCH_SAMPLES-}" bash "$TOP/tests/bench/bench_kernel.sh" \
		"${only[@]}" "$seconds" "$rounds" "$payload"
fi

# shellcheck source=tests/bench/chain.sh
. "$TOP/tests/bench/chain.sh"

nic() { ip netns exec "$id-$1" "$B/tests/netns/nictool" genl:torus0 "${@:2}"; }
is_up() { [[ $(nic "$1" state "$2") == up* ]]; }

torus() {
	local n=$1 i
	cables "$n" 65535
	for ((i = 0; i < n; i++)); do
		ip netns exec "$id-$i" "$B/fabricctl" device add torus0 --set "payload_max=$payload" >/dev/null
		((i < n - 1)) && nic "$i" attach 0 e
		((i > 0)) && nic "$i" attach 3 w
	done
	for ((i = 0; i < n; i++)); do
		((i < n - 1)) && until_true is_up "$i" 0
		((i > 0)) && until_true is_up "$i" 3
		nic "$i" place "${n}x1x1" "$i,0,0"
		ip -n "$id-$i" link set torus0 up
		ip -n "$id-$i" addr add "10.$i.0.0/32" dev torus0
		ip -n "$id-$i" route add 10.0.0.0/8 dev torus0 src "10.$i.0.0"
	done
}

if [[ ! -e /sys/module/torus ]]; then
	for m in $(modinfo -F depends "$KMOD/torus.ko" | tr , ' '); do modprobe "$m" 2>/dev/null; done
	insmod "$KMOD/torus.ko" || exit 2
fi
declare -A result

# through_one WAY: through one node
through_one() {
	local way=$1 middle low high
	"$way" 3
	ip netns exec "$id-0" ping -q -c 10 -i 0.01 10.2.0.0 >/dev/null
	asks 2 64 >"$dir/rtt"
	read -r middle low high <"$dir/rtt"
	result[$way,rtt]+="$middle "
	result[$way,low]+="$low "
	result[$way,high]+="$high "
	if [[ ! ${only[*]} ]]; then
		result[$way,64]+="$(packets 2 64) "
		result[$way,1400]+="$(packets 2 1400) "
	fi
	if [[ ! ${only[*]} && $way == torus ]]; then
		ip netns exec "$id-0" ethtool -C torus0 tx-usecs 0
		result[at_once,64]+="$(packets 2 64) "
		result[at_once,1400]+="$(packets 2 1400) "
	fi
	down
}

# through_three WAY: through three links
through_three() {
	"$1" 4
	ip netns exec "$id-0" ping -q -c 10 -i 0.01 10.3.0.0 >/dev/null
	result[$1,tcp]+="$(tcp 3) "
	down
}

# beside WHERE: TCP beside 64 readers of WHERE in the first node between
beside() {
	local readers
	ip netns exec "$id-1" "$B/tests/bench/readers" "$1" 64 >"$dir/calls" &
	readers=$!
	sleep 0.5
	result[${1%:*},tcp]+="$(tcp 3) "
	kill "$readers"
	wait "$readers"
	echo "# calls of 64 readers of $1: $(cat "$dir/calls")"
}

# read_all: TCP alone, beside processes that spin, and beside processes that read
read_all() {
	torus 4
	ip netns exec "$id-0" ping -q -c 10 -i 0.01 10.3.0.0 >/dev/null
	result[torus,tcp]+="$(tcp 3) "
	beside none
	beside genl:torus0
	down
}

if [[ ${only[*]} == --readers ]]; then
	for ((round = 0; round < rounds; round++)); do read_all; done
	printf '%-42s %12s %8s   %s\n' "NICs of the kernel, payload_max $payload" "Gbit/s" "ratio" "wanted"
	alone=$(median "${result[torus,tcp]}")
	spun=$(median "${result[none,tcp]}")
	printf '%-42s %12s\n' "TCP through 3 links, alone" "$alone"
	printf '%-42s %12s %8s\n' "the same, beside 64 processes that spin" "$spun" "$(ratio "$spun" "$alone")"
	with=$(median "${result[genl,tcp]}")
	printf '%-42s %12s %8s   %s\n' "the same, beside 64 that read a NIC" "$with" "$(ratio "$with" "$spun")" 0.95
	exit 0
fi

for ((round = 0; round < rounds; round++)); do
	for way in kernel64k torus; do
		[[ ${only[*]} == --round-trips ]] || through_three $way
		[[ ${only[*]} == --tcp ]] || through_one $way
	done
done

# row TEXT WHAT WANTED [WAY]
row() {
	local a b
	a=$(median "${result[kernel64k,$2]}")
	b=$(median "${result[${4:-torus},$2]}")
	printf '%-42s %12s %12s %8s   %s\n' "$1" "$a" "$b" "$(ratio "$b" "$a")" "$3"
	# shellcheck disable=SC2086
	sample "$1, forwarding" 1 ${result[kernel64k,$2]}
	# shellcheck disable=SC2086
	sample "$1, torus" 1 ${result[${4:-torus},$2]}
}

# spread WAY: 5th and 95th percentile of its round trips
spread() { echo "$(median "${result[$1,low]}")-$(median "${result[$1,high]}")"; }

echo "NICs of the kernel, payload_max $payload, veth cables: no CRC of the payload"
printf '%-42s %12s %12s %8s   %s\n' "" "forwarding" "torus" "ratio" "wanted"
if [[ ! ${only[*]} ]]; then
	row "64-byte UDP through one node, batched, 1/s" 64 "0.7"
	row "1400-byte UDP through one node, batched" 1400 "0.7"
	row "64-byte UDP, at once" 64 "" at_once
	row "1400-byte UDP, at once" 1400 "" at_once
fi
[[ ${only[*]} == --round-trips ]] || row "TCP through 3 links, Gbit/s" tcp "0.6"
[[ ${only[*]} != --tcp ]] || exit 0
row "64-byte UDP, round trip, ns" rtt ""
printf '%-42s %12s %12s\n' "  9 of 10 of these" "$(spread kernel64k)" "$(spread torus)"
