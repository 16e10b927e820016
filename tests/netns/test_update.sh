#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Managers are updated to the next release one after the other, the root last, under traffic: none
# is lost or reordered, recoveries work while the releases are mixed, and both sides say that they
# are. Managers of releases that are too far apart do not talk to each other and say why; nothing
# else happens to the fabric.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=update$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

programs() {
	mkdir "$tmp/bin" && cp "$B/fabricctl" "$B/torusemu" "$tmp/bin/" && bin=$tmp/bin && release "$B/fabricd"
}
# release PROGRAM: managers that are started from now on run this program
release() { ln -sf "$1" "$tmp/bin/fabricd"; }

on() { ask "$2" --node "$1" "${@:3}"; }
all_up() { [[ $(on 2,1 status --json | jq -c '[.nodes.up, .links.up, .root.reachable]') == '[6,12,true]' ]]; }
problem() { on "$1" status --json | jq -e --arg kind "$2" --arg text "$3" \
	'.problems[] | select(.kind == $kind and (.text | contains($text)))'; }
no_problem() { [[ $(for n in 0,0 1,0 2,0 0,1 1,1 2,1; do on $n status --json | jq '.problems | length'; done | uniq) == 0 ]]; }
logged() { grep -F "$2" "$run/${1//,/.}/fabricd.log"; }
parent_of() { on 2,1 nodes --json | jq -r --arg name "n${1//,/-}" '.[] | select(.name == $name) | .parent | map(tostring) | join(",")'; }

updated() {
	local n
	for n; do
		lab kill --manager "$n" >/dev/null && lab revive "$n" >/dev/null && until_true 20 all_up || return 1
	done
}

# under_traffic COMMAND...: meanwhile nothing is lost, duplicated or reordered
under_traffic() {
	local flow rc=0
	touch "$tmp/flows"
	while [[ -e $tmp/flows ]]; do
		"$bin/fabricctl" lab traffic --name "$lab" -s 2 --rate 500 1,0 0,1 || exit 1
	done >"$tmp/traffic" 2>&1 &
	flow=$!
	until_true 5 test -s "$tmp/traffic"
	"$@" || rc=1
	rm "$tmp/flows"
	wait "$flow" || rc=1
	cat "$tmp/traffic"
	return $rc
}

# The first one that is updated and the manager above it name each other.
one_updated() {
	release "$B/tests/netns/fabricd_next"
	updated 1,1 || return 1
	local above
	above=$(parent_of 1,1)
	say "1,1 is below $above"
	problem 1,1 release "'n${above//,/-}'" && problem "$above" release "'n1-1'" &&
		logged 1,1 "'n${above//,/-}' " && logged "$above" "'n1-1' "
}
recovers() {
	lab cut 1,0:+y >/dev/null && lab mend 1,0:+y >/dev/null && until_true 20 all_up
}
excludes() {
	[[ $("$bin/fabricctl" exclude 1,0:+x --lab "$lab" --json | jq -c '[.in_force, .kept.have > 3]') == '[true,true]' ]] &&
		verified && "$bin/fabricctl" include 1,0:+x --lab "$lab"
}
most_updated() { updated 2,1 0,1 2,0 && recovers && excludes; }
last_updated() { updated 1,0 0,0 && recovers && excludes && until_true 10 no_problem; }

# A release that skips one: nobody talks to it, its NIC works on, and it comes back when it is
# updated.
too_old() {
	release "$B/tests/netns/fabricd_prev"
	lab kill --manager 1,1 >/dev/null && lab revive --no-wait 1,1 >/dev/null &&
		until_true 10 logged 1,1 "'n1-1' speaks service schemas 5 to 5, 'n" || return 1
	local n rc=1
	for n in 0,0 1,0 2,0 0,1 2,1; do
		problem "$n" refused "'n1-1' speaks service schemas 5 to 5, 'n${n//,/-}' 6 to 8" && rc=0
	done
	"$TOP/tests/netns/ask" "$run/1.1/control" status | jq -es 'any(.[].data.problems[]; .kind == "refused")' || rc=1
	[[ $(on 2,1 status --json | jq -c .nodes.total) == 6 ]] || rc=1
	release "$B/fabricd"
	updated 1,1 && return $rc
}

check "programs are prepared" programs
check "a lab comes up" lab up 3x2
check "all nodes are up" until_true 10 all_up
check "managers of one release report no problem" no_problem
check "one node is updated, and both sides report the versions" under_traffic one_updated
check "most nodes are updated" under_traffic most_updated
check "the others are updated, the root last" under_traffic last_updated
check "a release that is too old is reported, and does no harm" under_traffic too_old
check "every path is right" verified
check "every packet arrived once" all_came_once
check "the lab ends" lab down
done_testing
