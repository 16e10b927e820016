#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A lab of 64 nodes: time until it is up, recovery time, memory and processor time.
#
#	bench_lab.sh [CUTS [SHAPE]]
#
# The recovery time is the manager's own measurement, from the first node's detection to
# the end of the last hold. The pause is the longest gap of a UDP flow over the cut cable.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
check_count 2 "$@"
cuts=${1:-100}
shape=${2:-4x4x4}
check_number CUTS "$cuts" 1 100000
check_shape "$shape" 0 1024
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"
lab=bl$$
tmp=$(mktemp -d)
trap '"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; rm -rf "$tmp"' EXIT

die() { echo "bench_lab: $*" >&2; exit 1; }
lab() { "$B/fabricctl" lab "$1" --name "$lab" "${@:2}"; }
status() { "$B/fabricctl" status --lab "$lab" --json | jq -r "$1"; }
ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
# Median, 99th percentile (nearest rank) and worst of the numbers on standard input.
spread() {
	sort -n | awk '{ a[NR] = $1 }
		END { if (NR) printf "%.1f %.1f %.1f\n", a[int((NR + 1) / 2)], a[int((99 * NR + 99) / 100)], a[NR] }'
}

until_true() {
	local end=$((SECONDS + 20))
	until "$@"; do
		((SECONDS < end)) || die "still not: $*"
		sleep 0.01
	done
}

# at_rest VERSION: no recovery is under way, and the last one was of a later version
at_rest() {
	local v
	v=$(status 'if .state == "recovering" then 0 else .last_recovery.version // 0 end')
	((v > $1))
}

# row TEXT REFERENCE OURS WANTED
row() {
	printf '%-46s %16s %16s   %s\n' "$@"
	sample_text "$1" "$3"
}

running() { [[ $(status .state) == running ]]; }

bring_up() {
	local began bare full
	began=$(ms)
	lab up --bare "$shape" >/dev/null || die "no bare lab"
	bare=$(($(ms) - began))
	lab down >/dev/null || die "lab down"
	began=$(ms)
	lab up "$shape" >/dev/null || die "no lab"
	full=$(($(ms) - began))
	row "lab of $shape up and addressed" "$bare ms bare" "$full ms" "< 5000 ms"
}

# one_cut VERB UNDO: breaks a random cable by lab command VERB, then mends it by UNDO
one_cut() {
	local v node port
	node=$((RANDOM % ${#nodes[@]}))
	port=${ports[RANDOM % ${#ports[@]}]}
	v=$(status .table_version)
	lab "$1" "${nodes[node]}:$port" >/dev/null || die "$1"
	until_true at_rest "$v"
	status '.last_recovery.duration_ms' >>"$tmp/$1"
	status '.last_recovery.lost' >>"$tmp/lost"
	v=$(status .table_version)
	# shellcheck disable=SC2086
	lab ${2% *} "${nodes[node]}:$port" ${2#* } >/dev/null || die "$2"
	until_true at_rest "$v"
}

recovery() {
	local i median most worst
	for ((i = 0; i < cuts; i++)); do one_cut cut "mend "; done
	read -r median most worst < <(spread <"$tmp/cut")
	row "recovery after a cut, median of $cuts" "-" "$median ms" "< 50 ms"
	row "recovery after a cut, 99th percentile" "-" "$most ms" "< 200 ms"
	row "recovery after a cut, worst of $cuts" "-" "$worst ms" "-"
	for ((i = 0; i < (cuts + 9) / 10; i++)); do one_cut silence "silence off"; done
	read -r median most worst < <(spread <"$tmp/silence")
	row "after silence is detected, worst of $(((cuts + 9) / 10))" "-" "$worst ms" "< 200 ms"
	row "packets lost in all of these" "-" "$(awk '{ n += $1 } END { print n + 0 }' "$tmp/lost")" "0"
}

pause() {
	local first=${nodes[0]} last=${nodes[-1]} link pid
	link=$("$B/fabricctl" trace --lab "$lab" "$first" "$last" --json |
		jq -r '.hops[0] | "\(.node | map(tostring) | join(",")):\(.port)"')
	lab traffic --udp -s 4 "$first" "$last" --json >"$tmp/traffic" &
	pid=$!
	sleep 2
	lab cut "$link" >/dev/null
	wait $pid || die "traffic was not whole: $(cat "$tmp/traffic")"
	row "longest pause of a flow over a cut cable" "-" \
		"$(jq -r '[.. | objects | .longest_gap_ms? // empty] | max * 10 | round / 10' "$tmp/traffic") ms" "< 200 ms"
	lab mend "$link" >/dev/null
	until_true running
}

pids() { pgrep -f -- "/run/torus/$lab/" | while read -r p; do
	[[ $(cat "/proc/$p/comm" 2>/dev/null) == "$1" ]] && echo "$p"
done; }

ticks() {
	local p sum=0 t
	for p in $(pids fabricd) $(pids torusemu); do
		t=$(awk '{ print $14 + $15 }' "/proc/$p/stat" 2>/dev/null) && sum=$((sum + t))
	done
	echo "$sum"
}

cost() {
	local p before began used max=0 kb
	for p in $(pids fabricd); do
		kb=$(awk '/^VmRSS/ { print $2 }' "/proc/$p/status")
		((kb > max)) && max=$kb
	done
	row "fabricd resident, largest" "-" "$((max / 1024)).$((max % 1024 * 10 / 1024)) MiB" "< 6 MiB"
	sleep 2
	before=$(ticks)
	began=$(ms)
	sleep 10
	used=$((($(ticks) - before) * 1000 / $(getconf CLK_TCK)))
	row "idle lab, of one core" "-" \
		"$(awk -v u="$used" -v t=$(($(ms) - began)) 'BEGIN { printf "%.1f %%", 100 * u / t }')" "< 5 %"
}

# TCP over one hop without and with bit errors.
tcp_rate() { lab traffic --tcp -s 4 "$1" "$2" --json | jq -r '[.. | objects | .bits_per_second? // empty] | max / 1e9'; }

bit_errors() {
	local first=${nodes[0]} next clean dirty
	next=$("$B/fabricctl" links --lab "$lab" "$first" --json |
		jq -r '[.[] | select(.port == "+x")][0].peer.node | map(tostring) | join(",")')
	clean=$(tcp_rate "$first" "$next")
	lab ber "$first:+x" 1e-6 >/dev/null
	dirty=$(tcp_rate "$first" "$next")
	lab ber "$first:+x" 0 >/dev/null
	row "TCP at a bit error rate of 1e-6, Gbit/s" "$(printf '%.2f clean' "$clean")" \
		"$(printf %.2f "$dirty")" "> 0.6 of it: $(awk -v a="$dirty" -v b="$clean" 'BEGIN { printf "%.2f", a / b }')"
}

row "$shape" reference ours "wanted"
bring_up
mapfile -t nodes < <("$B/fabricctl" nodes --lab "$lab" --json |
	jq -r '.[] | .node | map(tostring) | join(",")')
mapfile -t ports < <("$B/fabricctl" links --lab "$lab" "${nodes[0]}" --json |
	jq -r '.[] | select(.peer) | .port')
((${#nodes[@]} && ${#ports[@]})) || die "no nodes or ports"
cost
recovery
pause
bit_errors
