#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Remote memory beside TCP over torus0, in a lab that is a ring of 8 nodes, in turn: the median time
# of a put and its completion beside that of a message and an answer of 8 bytes, and how many puts
# and messages a second one process gets through. Then gets, atomic operations, and datagrams.
#
#	bench_rma.sh [--packed] [--hops N] [--rounds N] [SECONDS [BYTES...]]
#
# SECONDS is for each figure of each round, 0.3 unless given; the tables show medians of --rounds,
# 3 unless given. BYTES are 8 to 1048576; --hops is how far to go, 1 to 3. --packed: all NICs are
# one process; else they are one each, connected by veth. NICs of the kernel have no remote memory.
#
# FABRIC is the round trip of libfabric's tcp provider over torus0, by fi_pingpong, likewise in turn.
# Its two processes poll without end, which takes processors from the NICs: with few processors it is
# the scheduler's time. If it cannot be installed, the column is empty, and the exit status is 3.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
packed=() hops=3 rounds=3
while (($#)); do
	case $1 in
	--packed) packed=(--packed --tun) ;;
	--hops | --rounds)
		(($# > 1)) || usage_error "$1 needs a value"
		check_number "$1" "$2" 1 "$([[ $1 == --hops ]] && echo 3 || echo 999)"
		if [[ $1 == --hops ]]; then hops=$2; else rounds=$2; fi
		shift
		;;
	-*) usage_error "unknown option '$1'" ;;
	*) break ;;
	esac
	shift
done
seconds=${1:-0.3}
[[ $seconds =~ ^[0-9]{1,4}(\.[0-9]{1,3})?$ && $seconds =~ [1-9] ]] ||
	usage_error "SECONDS '$seconds': must be 0.001 to 9999"
sizes=("${@:2}")
((${#sizes[@]})) || sizes=(8 64 512 4096 32768 262144 1048576)
for bytes in "${sizes[@]}"; do check_number BYTES "$bytes" 8 1048576; done
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"
# shellcheck source=tests/bench/peers.sh
. "$TOP/tests/bench/peers.sh"
lab=bm$$
run=/run/torus/$lab
tmp=$(mktemp -d)
jobs=()
declare -A far ip

# shellcheck disable=SC2317
cleanup() {
	((!${#jobs[@]})) || kill "${jobs[@]}" 2>/dev/null
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	rm -rf "$tmp"
}
trap cleanup EXIT

die() { echo "bench_rma: $*" >&2; exit 1; }
# at NODE COMMAND...: in the namespace of a node
at() { "$B/fabricctl" lab exec --name "$lab" "$1" -- "${@:2}"; }
until_true() {
	local end=$((SECONDS + 20))
	until "$@"; do
		((SECONDS < end)) || die "still not: $*"
		sleep 0.02
	done
}
listens() { at "$1" ss -Hlnt "sport = :$2" | grep -q .; }
median() { tr ' ' '\n' <<<"$1" | grep . | sort -g | awk '{ a[NR] = $1 } END { if (NR) print a[int((NR + 1) / 2)]; else print "-" }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0 && a > 0) printf "%.2f", a / b; else print "-" }'; }
running() { [[ $("$B/fabricctl" status --lab "$lab" --json | jq -r .state) == running ]]; }
address() { at "$1" ip -4 -j addr show torus0 | jq -er '.[0].addr_info[0].local'; }

raise_lab() {
	local i
	"$B/fabricctl" lab up 8 --name "$lab" "${packed[@]}" >/dev/null || die "no lab"
	until_true running
	for ((i = 1; i <= hops; i++)); do
		until_true address "$i" >/dev/null
		ip[$i]=$(address "$i")
		"$B/tests/bench/rma_rate" own "unix:$run/$i/rma.sock" >"$tmp/far$i" &
		jobs+=($!)
		at "$i" "$B/tests/bench/tcp_rate" serve "${ip[$i]}" &
		jobs+=($!)
		until_true test -s "$tmp/far$i"
		far[$i]=$(<"$tmp/far$i")
		until_true listens "$i" 7002
	done
}

# rma HOPS MODE OPERATION BYTES
# shellcheck disable=SC2086
rma() { "$B/tests/bench/rma_rate" "$2" "unix:$run/0/rma.sock" ${far[$1]} "$3" "$4" "$seconds" || die "rma_rate"; }
# tcp HOPS MODE BYTES
tcp() { at 0 "$B/tests/bench/tcp_rate" "$2" "${ip[$1]}" "$3" "$seconds" || die "tcp_rate"; }

# fabric HOPS BYTES: round trip of libfabric, microseconds; of fi_pingpong, a transfer is half of it
fabric() {
	local job n=$((20 + 200000 / (1000 + $2)))
	((has_fabric)) || return 0
	timeout 60 "$B/fabricctl" lab exec --name "$lab" "$1" -- fi_pingpong -p tcp -e msg -S "$2" -I "$n" >/dev/null 2>&1 &
	job=$!
	until_true listens "$1" 47592
	at 0 timeout 60 fi_pingpong -p tcp -e msg -S "$2" -I "$n" "${ip[$1]}" 2>/dev/null |
		awk '$1 ~ /^[0-9]/ { print 2 * $(NF - 1) }'
	wait $job
}

# datagrams HOPS: of 8 bytes, received per second
datagrams() {
	local job
	at "$1" "$B/tests/bench/udp_rate" receive "${ip[$1]}" "$(awk -v s="$seconds" 'BEGIN { print s + 1 }')" >"$tmp/datagrams" &
	job=$!
	sleep 0.5
	at 0 "$B/tests/bench/udp_rate" send "${ip[$1]}" 8 "$seconds" >/dev/null
	wait $job
	cat "$tmp/datagrams"
}

declare -A result
# measure KEY COMMAND...: appends what it prints to result[KEY]
measure() { result[$1]+="$("${@:2}") "; }

measure_all() {
	local h s
	for ((h = 1; h <= hops; h++)); do
		for s in "${sizes[@]}"; do
			measure "trip $h $s" rma "$h" trip put "$s"
			measure "tcp trip $h $s" tcp "$h" trip "$s"
			measure "fabric $h $s" fabric "$h" "$s"
			measure "stream $h $s" rma "$h" stream put "$s"
			measure "tcp stream $h $s" tcp "$h" stream "$s"
		done
		measure "get $h" rma "$h" trip get 8
		measure "add $h" rma "$h" trip add 8
		measure "adds $h" rma "$h" stream add 8
		measure "tcp trip $h" tcp "$h" trip 8
		measure "puts $h" rma "$h" stream put 8
		measure "datagrams $h" datagrams "$h"
	done
}

of() { median "${result[$1]}"; }
# keep FIGURE UNIT KEY: samples for the record
# shellcheck disable=SC2086
keep() { sample "$1" "$2" ${result[$3]}; }

has_fabric=1
(need_peers bench_rma) >&2 || has_fabric=0
raise_lab
for ((round = 0; round < rounds; round++)); do measure_all; done

printf '%7s %4s %9s %9s %6s %10s %6s %11s %11s %6s %9s\n' BYTES HOPS "PUT us" "TCP us" RATIO "FABRIC us" RATIO \
	"PUTS/s" "TCP/s" RATIO "PUT MB/s"
for s in "${sizes[@]}"; do
	for ((h = 1; h <= hops; h++)); do
		printf '%7s %4s %9s %9s %6s %10s %6s %11s %11s %6s %9s\n' "$s" "$h" "$(of "trip $h $s")" "$(of "tcp trip $h $s")" \
			"$(ratio "$(of "trip $h $s")" "$(of "tcp trip $h $s")")" "$(of "fabric $h $s")" \
			"$(ratio "$(of "trip $h $s")" "$(of "fabric $h $s")")" \
			"$(of "stream $h $s")" "$(of "tcp stream $h $s")" \
			"$(ratio "$(of "stream $h $s")" "$(of "tcp stream $h $s")")" \
			"$(awk -v n="$(of "stream $h $s")" -v s="$s" 'BEGIN { printf "%.1f", n * s / 1e6 }')"
		keep "put of $s bytes and completion, $h hops" us "trip $h $s"
		keep "TCP, $s bytes and an answer, $h hops" us "tcp trip $h $s"
		keep "libfabric tcp, round trip of $s bytes, $h hops" us "fabric $h $s"
		keep "puts of $s bytes, $h hops" /s "stream $h $s"
		keep "TCP messages of $s bytes, $h hops" /s "tcp stream $h $s"
	done
done
printf '\n%4s %9s %9s %9s %6s %11s %11s %11s %6s\n' HOPS "GET us" "ADD us" "TCP us" RATIO "ADDS/s" "PUTS/s" \
	"DATAGRAMS/s" RATIO
for ((h = 1; h <= hops; h++)); do
	printf '%4s %9s %9s %9s %6s %11s %11s %11s %6s\n' "$h" "$(of "get $h")" "$(of "add $h")" "$(of "tcp trip $h")" \
		"$(ratio "$(of "add $h")" "$(of "tcp trip $h")")" "$(of "adds $h")" "$(of "puts $h")" \
		"$(of "datagrams $h")" "$(ratio "$(of "puts $h")" "$(of "datagrams $h")")"
	keep "get of 8 bytes, $h hops" us "get $h"
	keep "fetch and add, $h hops" us "add $h"
	keep "fetch and add, $h hops, many at a time" /s "adds $h"
	keep "datagrams of 8 bytes received, $h hops" /s "datagrams $h"
done
((has_fabric)) || left_out bench_rma "libfabric's tcp provider"
