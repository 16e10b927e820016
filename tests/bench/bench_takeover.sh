#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a flow sees when a host loses its power, when the root is lost or hangs and a cable is cut
# soon afterwards, and when the root is moved.
#
#	bench_takeover.sh [--rounds N] [--shape SHAPE] [CASE...]
#
# One lab (4x4x4), NICs in user space. In each round the flows go from a node to the one that is
# farthest away, neither of them the root:
#
#	transit	a node on the way that is not the root loses its power; TCP, and 20000 datagrams
#		of 512 bytes a second
#	root	the root's host loses its power; 0, 0.5, 1 or 2 s later a cable on the way is cut.
#		5000 datagrams of 512 bytes a second
#	hung	the root's manager is stopped (SIGSTOP), and a cable on the way is cut at once; it goes
#		on after 5 s and must join as a member. 5000 datagrams a second
#	move	'fabricctl root move' to another node; TCP, and 20000 datagrams a second
#
# The columns: datagrams lost, reordered and doubled in all rounds; the longest gap in arrivals:
# median, 99th percentile and worst of the rounds; and the same of TCP. All processes run at
# real-time priority (SCHED_FIFO), before other work of the machine; Linux stops such processes
# for 50 ms in each second in which they would take a whole processor.

set -u
[[ ${AT_ONCE-} ]] || AT_ONCE=1 exec chrt -f 1 bash "$0" "$@"
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"
rounds=3 shape=4x4x4 cases=()
usage() { echo "usage: bench_takeover.sh [--rounds N] [--shape SHAPE] [transit|root|hung|move...]" >&2; exit 2; }
while (($#)); do
	case $1 in
	--rounds) rounds=${2-}; [[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || usage; shift ;;
	--shape) shape=${2-}; shift ;;
	transit | root | hung | move) cases+=("$1") ;;
	*) usage ;;
	esac
	shift
done
((${#cases[@]})) || cases=(transit root hung move)
lab=bt$$
run=/run/torus/$lab
dir=$(mktemp -d)
trap 'exit 130' INT TERM HUP
# shellcheck disable=SC2317 # by the trap
cleanup() {
	local p
	for p in $(jobs -p); do kill "$p" 2>/dev/null; done
	[[ -z ${hung-} ]] || kill -CONT "$hung" 2>/dev/null
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	rm -rf "$dir"
}
trap cleanup EXIT

die() { echo "bench_takeover: $*" >&2; exit 1; }
lab() { "$B/fabricctl" lab "$1" --name "$lab" "${@:2}"; }
ask() { "$B/fabricctl" "$1" --lab "$lab" "${@:2}" --json; }
# at NODE: its directory and namespace have dots
at() { echo "${1//,/.}"; }

until_true() {
	local end=$((SECONDS + $1))
	until "${@:2}" >/dev/null 2>&1; do
		((SECONDS < end)) || die "still not: ${*:2}"
		sleep 0.05
	done
}
at_rest() { [[ $(ask status | jq -r '.state + " " + (.nodes | .up == .total | tostring)') == "running true" ]]; }

# The two ends of the flows, a node on the way between them, and the cable of the first hop
choose() {
	root=$(ask root | jq -r '.node | join(",")')
	mapfile -t nodes < <(ask nodes | jq -r '.[].node | join(",")')
	from=${nodes[RANDOM % ${#nodes[@]}]}
	while [[ $from == "$root" ]]; do from=${nodes[RANDOM % ${#nodes[@]}]}; done
	to=$(jq -rn --arg a "$from" --arg s "$shape" '[$a | split(",") | map(tonumber)] +
		[$s | split("x") | map(tonumber)] | transpose |
		map((.[0] + (.[1] / 2 | floor)) % .[1]) | join(",")')
	[[ $to != "$root" ]] || { choose; return; }
	ask trace "$from" "$to" >"$dir/way"
	cable=$(jq -r '.hops[0] | "\(.node | map(tostring) | join(",")):\(.port)"' "$dir/way")
	mapfile -t way < <(jq -r '.hops[1:-1][].node | map(tostring) | join(",")' "$dir/way")
	victim=
	for n in "${way[@]}"; do [[ $n == "$root" ]] || victim=$n; done
	[[ $victim ]] || { choose; return; }
}

cut_way() { lab cut "$cable" >/dev/null || die "cut $cable"; }

# begin RATE SECONDS [TCP]: the flows begin
begin() {
	local address
	address=$(lab hosts --json | jq -r --argjson n "[$to]" '.[] | select(.node == $n) | .address')
	ip netns exec "$lab-$(at "$to")" "$B/tests/bench/udp_flow" receive "$address" $(($2 + 3)) >"$dir/received" &
	flows=($!)
	sleep 0.3
	ip netns exec "$lab-$(at "$from")" "$B/tests/bench/udp_flow" send "$address" 512 "$1" "$2" >"$dir/sent" &
	flows+=($!)
	if [[ ${3-} ]]; then
		lab traffic "$from" "$to" --tcp --rate 2000 -s "$2" --json >"$dir/tcp" &
		flows+=($!)
	else
		rm -f "$dir/tcp"
	fi
	sleep 1
}

# finish: waits for the flows; one line of $dir/result for this round
finish() {
	local p
	for p in "${flows[@]}"; do wait "$p" || die "a flow was not whole: $(cat "$dir/tcp" 2>/dev/null)"; done
	jq -r -n --slurpfile s "$dir/sent" --slurpfile r "$dir/received" '$s[0] as $s | $r[0] as $r |
		[$s.sent - $r.received, $r.reordered, $r.doubled, $s.failed, $r.silence_ms] | @tsv' >>"$dir/result"
	[[ ! -e $dir/tcp ]] ||
		jq '[.. | objects | .longest_gap_ms? // empty] | max' "$dir/tcp" >>"$dir/tcp_gaps"
}

round_transit() {
	begin 20000 4 tcp
	lab kill --power "$victim" >/dev/null || die "kill $victim"
	finish
	lab revive "$victim" >/dev/null || die "revive $victim"
}

round_root() {
	begin 5000 7
	lab kill --power "$root" >/dev/null || die "kill $root"
	sleep "$(((RANDOM % 4) * 5))e-1"
	cut_way
	finish
	lab mend "$cable" >/dev/null
	lab revive "$root" >/dev/null || die "revive $root"
}

round_hung() {
	hung=$(pgrep -f -- "^[^ ]*fabricd --config $run/$(at "$root")/fabricd.conf") || die "no manager of $root"
	begin 5000 9
	kill -STOP "$hung"
	cut_way
	sleep 5
	kill -CONT "$hung"
	hung=
	finish
	lab mend "$cable" >/dev/null
}

round_move() {
	begin 20000 4 tcp
	ask root move "$victim" >/dev/null || die "root move $victim"
	finish
}

# spread FILE COLUMN: median, 99th percentile, worst
spread() {
	cut -f "$2" "$1" | sort -n | awk '{ a[NR] = $1 }
		END { printf "%.1f %.1f %.1f\n", a[int((NR + 1) / 2)], a[int((99 * NR + 99) / 100)], a[NR] }'
}

row() { printf '%-8s %6s %7s %7s %7s %7s %9s %9s %9s   %9s %9s   %s\n' "$@"; }

measure() { # CASE WANTED
	local i lost reordered doubled failed median most worst tcp='-' tcp_worst='-'
	rm -f "$dir/result" "$dir/tcp_gaps"
	for ((i = 0; i < rounds; i++)); do
		until_true 60 at_rest
		choose
		"round_$1"
	done
	read -r lost reordered doubled failed < <(awk '{ a += $1; b += $2; c += $3; d += $4 }
		END { print a, b, c, d }' "$dir/result")
	read -r median most worst < <(spread "$dir/result" 5)
	[[ ! -e $dir/tcp_gaps ]] || read -r tcp _ tcp_worst < <(spread "$dir/tcp_gaps" 1)
	row "$1" "$rounds" "$lost" "$reordered" "$doubled" "$failed" "$median" "$most" "$worst" \
		"$tcp" "$tcp_worst" "$2"
	sample "$1 lost" datagrams "$lost"
	sample "$1 reordered" datagrams "$reordered"
	# shellcheck disable=SC2046 # a value each
	sample "$1 gap" ms $(cut -f 5 "$dir/result")
	# shellcheck disable=SC2046
	[[ ! -e $dir/tcp_gaps ]] || sample "$1 gap of TCP" ms $(<"$dir/tcp_gaps")
}

lab up "$shape" >"$dir/up" || die "no lab: $(<"$dir/up")"
printf '%s, NICs in user space; gaps in ms\n' "$shape"
row case rounds lost reorder doubled failed median '99 %' worst 'TCP' worst wanted
for c in "${cases[@]}"; do
	case $c in
	transit) measure transit 'median < 60, worst < 200, lost only what was inside the node' ;;
	root) measure root 'median < 1000, 99 % < 3000, none lost' ;;
	hung) measure hung '< 3000, none lost or reordered' ;;
	move) measure move '< 20, none lost' ;;
	esac
done
