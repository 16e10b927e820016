#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Jobs that grow from neighbour to neighbour ("fabricctl job start --how grow") in packed labs: the
# time from the order of the root until it knows all members, as the root reports it, and the
# processor time and the time slices of all managers and NICs from the start of the command until
# the table of the job is in force.
#
#	bench_grow.sh [--rounds N] [SHAPE:NODES...]	10 rounds of each of 8x8:16, 8x8:48, 8x8:64
#
# All processes share the processors of this machine, so a growth that keeps them busy is slower
# here than on machines of its own: "hop times" of "fabricsim grow" are the steps that follow each
# other.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
rounds=10 cases=()
while (($#)); do
	case $1 in
	--rounds)
		(($# > 1)) || usage_error "--rounds needs a value"
		check_number --rounds "$2" 1 999
		rounds=$2
		shift
		;;
	-*) usage_error "unknown option '$1'" ;;
	*:*)
		check_shape "${1%%:*}" 0 1024
		check_number "nodes of $1" "${1#*:}" 1 1024
		cases+=("$1")
		;;
	*) usage_error "'$1': must be like 8x8:64, shape and number of nodes" ;;
	esac
	shift
done
((${#cases[@]})) || cases=(8x8:16 8x8:48 8x8:64)
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"
lab=bg$$
run=/run/torus/$lab
trap '"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1' EXIT

die() { echo "bench_grow: $*" >&2; exit 1; }
ctl() { "$B/fabricctl" "$@" --lab "$lab"; }

until_true() {
	local end=$((SECONDS + 30))
	until "$@"; do
		((SECONDS < end)) || die "still not: $*"
		sleep 0.05
	done
}
# shellcheck disable=SC2317 # by until_true
is_quiet() { ctl status --json 2>/dev/null | jq -e '.state == "running"' >/dev/null; }

# used: processor time in ms and number of time slices of all processes of the lab
used() {
	cat "$run"/*.pid "$run"/*/*.pid 2>/dev/null | cut -d' ' -f1 | while read -r p; do
		cat "/proc/$p"/task/*/schedstat 2>/dev/null
	done | awk '{ n += $1; s += $3 } END { printf "%.1f %d\n", n / 1e6, s }'
}
# spread VALUE...: median, least and largest
spread() { printf '%s\n' "$@" | sort -n | awk '{ a[NR] = $1 } END { printf "%.1f (%.1f to %.1f)", a[int((NR + 1) / 2)], a[1], a[NR] }'; }

# grow NODES: adds the figures of one growth to ms, cpu and slices
grow() {
	local name=g$((++serial)) before after found
	read -r -a before < <(used)
	ctl job start "$name" -n "$1" --how grow >/dev/null || return 1
	read -r -a after < <(used)
	found=$(ctl events | sed -n "s/.*job '$name' grew:.* in \([0-9.]*\) ms.*/\1/p")
	ctl job stop "$name" >/dev/null && until_true is_quiet
	[[ $found ]] || die "the root has not reported how long $name took"
	ms+=("$found")
	cpu+=("$(awk "BEGIN { printf \"%.1f\", ${after[0]} - ${before[0]} }")")
	slices+=($((after[1] - before[1])))
}

serial=0
printf '%-12s %-28s %-28s %s\n' growth 'nodes known after, ms' 'processor time, ms' 'time slices'
for case in "${cases[@]}"; do
	ms=() cpu=() slices=() failed=0
	"$B/fabricctl" lab up "${case%%:*}" --packed --name "$lab" >/dev/null || die "cannot raise a lab of ${case%%:*}"
	until_true is_quiet
	for ((i = 0; i < rounds; i++)); do grow "${case#*:}" || ((++failed)); done
	((${#ms[@]})) || die "no growth of $case succeeded"
	printf '%-12s %-28s %-28s %s\n' "$case" "$(spread "${ms[@]}")" "$(spread "${cpu[@]}")" "$(spread "${slices[@]}")"
	((!failed)) || echo "$case: $failed of $rounds growths failed"
	sample "$case: nodes known" ms "${ms[@]}"
	sample "$case: processor time" ms "${cpu[@]}"
	"$B/fabricctl" lab down --name "$lab" >/dev/null
done
