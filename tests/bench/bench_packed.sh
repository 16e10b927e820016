#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packed labs: a manager for each node, and all NICs in one process. Measured are the time
# until the fabric is up, "fabricctl verify" and other questions to all nodes, the recovery after
# a cut, memory and processor time. Beside the
# first stands, in the same run, OpenSM on ibsim's model of the same torus, one process that
# manages all nodes: the time from its start to SUBNET UP.
#
#	bench_packed.sh [--ups N] [SHAPE...]	4x4x4 and 8x8x8
#
# --ups: raises each lab N times first, median and worst. "bench_packed.sh --ups 10 8x8x8 16x8x8"
# measures what the last column has limits for.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
ups=0
if [[ ${1-} == --ups ]]; then
	(($# > 1)) || usage_error "--ups needs a value"
	check_number --ups "$2" 1 999
	ups=$2
	shift 2
fi
(($#)) || set -- 4x4x4 8x8x8
for shape; do check_shape "$shape" 3 1024; done
# shellcheck source=tests/bench/peers.sh
. "$TOP/tests/bench/peers.sh"
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"
# Without OpenSM our side is measured all the same; the exit status says that OpenSM is missing.
(need_peers bench_packed)
missing=$?
cuts=10
asked=5
lab=bp$$
run=/run/torus/$lab
tmp=$(mktemp -d)
root=
trap '"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; rm -rf "$tmp"' EXIT

die() { echo "bench_packed: $*" >&2; exit 1; }
lab() { "$B/fabricctl" lab "$1" --name "$lab" "${@:2}"; }
# Asks only the root: 'fabricctl status' also asks all nodes for their lines, which takes more
# processor time than a cut.
status() { "$TOP/tests/netns/ask" "$root" status | jq -r ".data | $1"; }
median() { sort -n | awk '{ a[NR] = $1 } END { printf "%.1f", a[int((NR + 1) / 2)] }'; }
# row TEXT OPENSM OURS WANTED
row() {
	printf '%-50s %14s %16s   %s\n' "$@"
	sample_text "$shape: $1" "$3"
	sample_text "$shape: $1, OpenSM" "$2"
}

until_true() {
	local end=$((SECONDS + 30))
	until "$@"; do
		((SECONDS < end)) || die "still not: $*"
		sleep 0.05
	done
}

# at_rest VERSION: no recovery is under way, and the last one was of a later version
# shellcheck disable=SC2317 # by until_true
at_rest() { (($(status 'if .state == "recovering" then 0 else .last_recovery.version // 0 end') > $1)); }

# pids NAME: the lab's processes of this name, from its pid files
pids() { cat "$run"/*.pid "$run"/*/*.pid 2>/dev/null | cut -d' ' -f1 | while read -r p; do
	[[ $(cat "/proc/$p/comm" 2>/dev/null) == "$1" ]] && echo "$p"
done; }

# used PID...: processor time of these processes in milliseconds
used() { for p; do cut -d' ' -f1 "/proc/$p/schedstat"; done 2>/dev/null |
	awk '{ n += $1 } END { printf "%.0f", n / 1e6 }'; }

# memory PID...: largest resident size and sum of anonymous memory, both in KiB, and the number
# of processes
memory() { for p; do
	awk '/^VmRSS/ { r = $2 } /^RssAnon/ { a = $2 } END { print r, a }' "/proc/$p/status"
done 2>/dev/null | awk '{ if ($1 > m) m = $1; a += $2 } END { print m, a, NR }'; }

# From OpenSM's first log line to SUBNET UP. ibsim is already running by then.
opensm_ms() {
	((missing == 0)) || { echo "left out:"; return; }
	# shellcheck disable=SC2016
	unshare --net bash -c '. "$0"; net ${1//x/ }; opensm_run 60; between "-> OpenSM " "SUBNET UP"' \
		"$TOP/tests/bench/ibsim.sh" "$1"
}

# limit SHAPE WHAT: what a lab of this many nodes must reach
limit() {
	case $((${1//x/*})):$2 in
	512:verify) echo '< 700 ms' ;;
	1024:verify) echo '< 2000 ms' ;;
	1024:status) echo '< 50 ms' ;;
	"1024:links --bad") echo '< 300 ms' ;;
	1024:up) echo '< 8 s' ;;
	1024:worst) echo '< 12 s' ;;
	*:up) echo '< 10 s' ;;
	esac
}

# raise_often SHAPE: "--ups N"
raise_often() {
	local i
	: >"$tmp/ups"
	for ((i = 0; i < ups; i++)); do
		lab up "$1" --packed --json >"$tmp/up" || die "no lab"
		jq '.seconds.total * 1e3 | round' "$tmp/up" >>"$tmp/ups"
		lab down >/dev/null || die "lab down"
	done
	row "$1 up, median of $ups" - "$(median <"$tmp/ups") ms" "$(limit "$1" up)"
	row "$1 up, worst of $ups" - "$(sort -n "$tmp/ups" | tail -n 1) ms" "$(limit "$1" worst)"
}

bring_up() {
	local seconds
	seconds=$(lab up "$1" --packed --json) || die "no lab"
	root=$run/$(jq -r '.shape | map("0") | join(".")' <<<"$seconds")/control
	managers=$(pids fabricd)
	nics=$(pids torusemu)
	# shellcheck disable=SC2086
	row "$1 up: $(wc -w <<<"$managers") managers, all processes" "$(opensm_ms "$1") ms" \
		"$(jq '.seconds.total * 1e3 | round' <<<"$seconds") ms" "$(limit "$1" up)"
	# shellcheck disable=SC2086
	row "  of it processor time: managers, NICs" - "$(used $managers), $(used $nics) ms" ""
}

# Until the command has read its answer from all nodes.
questions() {
	local command i began
	for command in status 'links --bad' verify nodes links counters; do
		: >"$tmp/asked"
		for ((i = 0; i < asked; i++)); do
			began=${EPOCHREALTIME/[.,]/}
			# shellcheck disable=SC2086 # words of a command
			"$B/fabricctl" $command --lab "$lab" --json >/dev/null || die "$command"
			echo $(((${EPOCHREALTIME/[.,]/} - began) / 1000)) >>"$tmp/asked"
		done
		row "  $command, median of $asked" - "$(median <"$tmp/asked") ms" "$(limit "$shape" "$command")"
	done
	row "  the root's largest memory so far" - \
		"$(awk '/^VmHWM/ { print $2 }' "/proc/$(cut -d' ' -f1 "${root%/*}/fabricd.pid")/status") KiB" ""
}

one_cut() {
	local v
	v=$(status .table_version)
	lab cut "$1" >/dev/null || die "cut"
	until_true at_rest "$v"
	status .last_recovery.duration_ms >>"$tmp/cut"
	v=$(status .table_version)
	lab mend "$1" >/dev/null || die "mend"
	until_true at_rest "$v"
}

recovery() {
	local i before after node
	: >"$tmp/cut"
	# shellcheck disable=SC2086
	before=$(used $managers)
	for ((i = 0; i < cuts; i++)); do
		node=$(lab hosts --json | jq -r ".[$((RANDOM % $(wc -w <<<"$managers")))].node | map(tostring) | join(\",\")")
		one_cut "$node:+y"
	done
	# shellcheck disable=SC2086
	after=$(used $managers)
	row "  recovery after a cut, median of $cuts" - "$(median <"$tmp/cut") ms" ""
	row "  processor time of all managers, a cut and mend" - "$(((after - before) / cuts)) ms" ""
}

cost() {
	local largest own n nic_own before_m before_n
	# shellcheck disable=SC2086
	read -r largest own n < <(memory $managers)
	# shellcheck disable=SC2086
	read -r _ nic_own _ < <(memory $nics)
	row "  a manager's memory: largest resident, own" - "$largest, $((own / n)) KiB" "< 6144"
	row "  a NIC's share of their process's own" - "$((nic_own / n)) KiB" ""
	sleep 2
	# shellcheck disable=SC2086
	before_m=$(used $managers) before_n=$(used $nics)
	sleep 10
	# shellcheck disable=SC2086
	row "  idle, of one core: managers, NICs" - \
		"$(awk -v m=$(($(used $managers) - before_m)) -v n=$(($(used $nics) - before_n)) \
			'BEGIN { printf "%.1f, %.1f %%", m / 100, n / 100 }')" ""
}

printf '%-50s %14s %16s   %s\n' 'packed labs' OpenSM ours wanted
for shape; do
	((ups == 0)) || raise_often "$shape"
	bring_up "$shape"
	cost
	questions
	recovery
	lab down >/dev/null || die "lab down"
done
exit $missing
