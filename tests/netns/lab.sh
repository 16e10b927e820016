# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# For tests that use one lab, $lab, of programs in $bin: questions and changes, said as they
# are done, and the end of it.

# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
bin=$B

ctl() { say "fabricctl $*"; "$bin/fabricctl" "$@"; }
lab() { local verb=$1; shift; ctl lab "$verb" --name "$lab" "$@"; }
ask() { ctl "$1" --lab "$lab" "${@:2}"; }

# shellcheck disable=SC2317
cleanup() { "$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; }

# is FILTER WANT: of the fabric's status
is() { [[ $(ask status --json | jq -r "$1") == "$2" ]]; }
version() { "$bin/fabricctl" status --lab "$lab" --json | jq .table_version; }
# Rows are asked for node by node, and may be of two tables, for which no proof holds: a
# verdict that is wrong now says nothing while a table comes, one that stays wrong does. Rows
# that are wrong for a moment are looked for where all NICs stand still: sim's checkers look at
# the rows in force after each event. How many verdicts were wrong first is told.
verified() {
	local wrong=0 rc=0
	until_true 20 verdict || rc=1
	((!wrong)) || say "verify: wrong $wrong times first"
	return $rc
}
verdict() { ask verify || { wrong=$((wrong + 1)); return 1; }; }
# Of no flow a packet is missing or came twice, as all NICs count that receive.
all_came_once() {
	local counters
	counters=$(ask counters --json) || return 1
	[[ $(jq -c 'map(.lost, .duplicates) | unique' <<<"$counters") == "[0]" ]] ||
		{ jq -c '.[] | {node, lost, duplicates}' <<<"$counters"; return 1; }
}
