#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# All nodes lose their power at once, and come back: coordinates, names and what was excluded are as
# before. A state file that is damaged or cannot be written is told, and the fabric runs on.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=keep$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

fabricctl() { "$B/fabricctl" "$@" --lab "$lab"; }
nodes() { seq 0 2 | while read -r y; do for x in 0 1 2; do echo "$x,$y"; done; done; }
excluded() { fabricctl verify --json | jq -c .excluded; }
all_up() { [[ $(ask status --json | jq -c '[.nodes.up, .links.total]') == '[9,18]' ]]; }
named() { [[ $(ask nodes --json | jq -c '[.[] | .name]') == "$names" ]]; }
problem() { ask status --json | jq -e --arg text "$1" '.problems[] | select(.kind == "state" and (.text | contains($text)))'; }
kept_at() { compgen -G "$run/$1/state/fabricd-*.state" >/dev/null; }

all_lose_power() {
	local n
	for n in $(nodes); do lab kill --power "$n" >/dev/null || return 1; done
}
all_come_back() {
	local n
	for n in $(nodes); do lab revive --no-wait "$n" >/dev/null || return 1; done
	until_true 30 all_up && named
}

kept() {
	names=$(ask nodes --json | jq -c '[.[] | .name]')
	fabricctl exclude 1,0:+x && fabricctl exclude 2,2 && until_true 10 kept_at 0.0 && kept_at 1.2 &&
		! kept_at 2.2
}
as_before() {
	all_lose_power && all_come_back && [[ $(excluded) == '[[2,2]]' ]] &&
		fabricctl links 1,0 --json | jq -e '.[] | select(.port == "+x") | .excluded == "admin"'
}

# Seven of the eight lose what they have kept, and the last has all.
one_is_enough() {
	local n
	all_lose_power || return 1
	for n in $(nodes); do
		case $n in
		1,1) ;;
		0,0) truncate -s -3 "$run"/0.0/state/fabricd-*.state ;;
		*) rm -rf "$run/${n//,/.}/state" ;;
		esac
	done
	all_come_back && [[ $(excluded) == '[[2,2]]' ]] && problem 'is not used: it has' &&
		compgen -G "$run/0.0/state/*.refused"
}

# The directory of the root cannot be written: what is excluded is in force all the same.
cannot_write() {
	rm -rf "$run/0.0/state" && touch "$run/0.0/state" && fabricctl include 2,2 &&
		until_true 10 problem 'cannot write' && [[ $(excluded) == '[]' ]] || return 1
	rm "$run/0.0/state"
	fabricctl include 1,0:+x && until_true 10 no_problem && kept_at 0.0
}
no_problem() { ask status --json | jq -e '.problems | length == 0'; }

check "up" lab up 3x3
check "all run" until_true 10 all_up
check "candidates keep what is excluded, others do not" kept
check "all is as before when all lose their power" as_before
check "what one candidate has kept is enough" one_is_enough
check "a disk that fails is told, and works again" cannot_write
check "every path is right" verified
check "the lab ends" lab down
done_testing
