# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# For tests with one lab, $lab, of the programs in $bin. "ctl" runs fabricctl and prints the
# command; "lab VERB" runs "fabricctl lab VERB" for this lab; "ask COMMAND" runs any other
# command for it. The lab is removed at the end.

# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
bin=$B

ctl() { say "fabricctl $*"; "$bin/fabricctl" "$@"; }
lab() { local verb=$1; shift; ctl lab "$verb" --name "$lab" "$@"; }
ask() { ctl "$1" --lab "$lab" "${@:2}"; }

# shellcheck disable=SC2317
cleanup() { "$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; }

# is FILTER WANT: whether the jq filter, applied to the status of the fabric, gives WANT
is() { [[ $(ask status --json | jq -r "$1") == "$2" ]]; }
version() { "$bin/fabricctl" status --lab "$lab" --json | jq .table_version; }
# Succeeds if "fabricctl verify" does. It does not read the rows of all nodes at one instant, so
# while a new table is distributed it may read rows of two tables, which together need not pass.
# Only a verdict that stays wrong is an error; the number of wrong verdicts before a right one is
# printed. The simulator's checker reads them at one instant (check_rows(), tests/sim/check.h).
verified() {
	local wrong=0 rc=0
	until_true 20 verdict || rc=1
	((!wrong)) || say "verify: wrong $wrong times first"
	return $rc
}
verdict() { ask verify || { wrong=$((wrong + 1)); return 1; }; }
# total COUNTER: its sum over all NICs; fails if a NIC does not have it, or if there are no NICs
total() {
	"$bin/fabricctl" counters --lab "$lab" --json |
		jq "map(.$1) | if length > 0 and all(type == \"number\") then add else error(\"no NIC counts $1\") end"
}
# Succeeds if no receiving NIC counts a lost or a duplicate packet of any flow.
all_came_once() {
	local counters
	counters=$(ask counters --json) || return 1
	[[ $(jq -c 'map(.lost, .duplicates) | unique' <<<"$counters") == "[0]" ]] ||
		{ jq -c '.[] | {node, lost, duplicates}' <<<"$counters"; return 1; }
}

# note_sent NODE...: notes how many messages these nodes have sent, before traffic from them begins
note_sent() {
	local node n
	for node; do
		n=$(sent "$node") && [[ $n =~ ^[0-9]+$ ]] || { echo "node $node counts no messages: '$n'"; return 1; }
		noted[$node]=$n
	done
}
declare -A noted
# flows_from NODE...: waits until each of these nodes has sent 50 messages more than note_sent noted. Counted
# from now on, traffic that is nearly over on a busy machine might not send as many any more.
flows_from() {
	local node
	for node; do
		[[ ${noted[$node]-} ]] || { echo "note_sent did not note node $node"; return 1; }
		until_true 20 has_sent "$node" $((${noted[$node]} + 50)) || return 1
		unset "noted[$node]"
	done
}
sent() { "$bin/fabricctl" counters "$1" --lab "$lab" --json | jq '.[0].host_messages_tx'; }
has_sent() { (($(sent "$1") >= $2)); }

# --- sanitized programs: their reports are in $tmp/asan*, those of UBSan in their logs --------------

# Opens the lab's logs: "lab down" removes them, with what a process says while it ends.
keep_logs() {
	local f fd
	for f in /run/torus/"$lab"/{,*/}*.log; do
		[[ -e $f ]] && exec {fd}<"$f" && logs+=("$fd")
	done
}
logs=()
no_reports() {
	local program found fd
	# Without sanitizers, and without logs, there would be no reports either.
	for program in torusemu fabricd fabricctl; do
		grep -q __asan_init "$bin/$program" || { echo "$bin/$program is without sanitizers"; return 1; }
	done
	for fd in "${logs[@]}"; do
		cat <&"$fd"
		exec {fd}<&-
	done >>"$tmp/logs"
	logs=()
	[[ -s $tmp/logs ]] || grep -q . -r --include='*.log' "/run/torus/$lab" || { echo "there are no logs"; return 1; }
	found=$(grep -lE 'AddressSanitizer|LeakSanitizer|runtime error' -r "/run/torus/$lab" "$tmp"/{logs,asan*} 2>/dev/null)
	[[ -z $found ]] || { cat "$tmp"/asan* 2>/dev/null; grep -hE -A 20 'Sanitizer|runtime error' $found; return 1; }
}
