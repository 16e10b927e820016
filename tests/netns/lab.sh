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
# Succeeds if no receiving NIC counts a lost or a duplicate packet of any flow.
all_came_once() {
	local counters
	counters=$(ask counters --json) || return 1
	[[ $(jq -c 'map(.lost, .duplicates) | unique' <<<"$counters") == "[0]" ]] ||
		{ jq -c '.[] | {node, lost, duplicates}' <<<"$counters"; return 1; }
}

# flows_from NODE...: waits until each of these nodes sends messages: in the meantime 50 more
flows_from() {
	local node n
	for node; do
		n=$(sent "$node") && until_true 20 has_sent "$node" $((n + 50)) || return 1
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
	local found fd
	for fd in "${logs[@]}"; do
		cat <&"$fd"
		exec {fd}<&-
	done >>"$tmp/logs"
	logs=()
	found=$(grep -lE 'AddressSanitizer|LeakSanitizer|runtime error' -r "/run/torus/$lab" "$tmp"/{logs,asan*} 2>/dev/null)
	[[ -z $found ]] || { cat "$tmp"/asan* 2>/dev/null; grep -hE -A 20 'Sanitizer|runtime error' $found; return 1; }
}
