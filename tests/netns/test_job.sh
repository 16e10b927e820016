#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Jobs in a lab of real processes, 4x4: two jobs with traffic, and no packet of one crosses a cable
# of the other, by the counters of the NICs; a cable of a job is cut under traffic, a root takes
# over, and a job falls apart.
#
#	y 0 1 2 3
#	x
#	0 A A A A	the shortest way from 0,0 to 2,3 by the order of directions crosses
#	1 B B B A	nodes of B
#	2 B B B A
#	3 . . . .
#
# With TORUS_BACKEND=kernel or mixed, on a machine that has the driver: with such NICs.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=jb$$
a="0,0 0,1 0,2 0,3 1,3 2,3" b="1,0 1,1 1,2 2,0 2,1 2,2" rest="3,0 3,1 3,2 3,3"

job() { ctl job "$1" "${@:2}" --lab "$lab"; }
refused() { local status=$1 text=$2; shift 2; "$@" 2>&1 | tee "$tmp/refused"; ((PIPESTATUS[0] == status)) && grep -qF -- "$text" "$tmp/refused"; }

# crossing "NODES" "OTHERS": packets of hosts that ports of these nodes have sent to these others
crossing() {
	"$bin/fabricctl" links --lab "$lab" --json |
		jq -e --arg a "$1" --arg b "$2" 'def set: split(" ") | map(split(",") | map(tonumber));
			($a | set) as $from | ($b | set) as $to |
			[.[] | select((.node as $n | $from | any(. == $n)) and
				(.peer.node as $n | $to | any(. == $n))) |
				.tx_vcd0 + .tx_vcd1 + .tx_vca] | add'
}
# outside: packets of hosts over cables of B, and over those that leave A or B
outside() {
	crossing "$b" "$b" && crossing "$a" "$b $rest" && crossing "$b" "$a $rest" &&
		crossing "$rest" "$a $b $rest"
}
sends() { lab traffic -s 0.5 --rate 400 "$@"; }

# Packets of A cross no cable but those of A; before, those from 0,0 to 2,3 crossed cables of B.
stays_inside() {
	local before
	before=$(outside) || return 1
	sends 0,0 2,3 && sends 2,3 0,1 && sends 0,2 1,3 || return 1
	echo "packets over cables of B, out of A, out of B and elsewhere:" $before
	[[ $(outside) == "$before" ]]
}
crosses_without() {
	local before
	before=$(outside) || return 1
	sends 0,0 2,3 && ! [[ $(outside) == "$before" ]]
}
# Both jobs send at the same time.
apart_under_load() {
	local in_a in_b out rc=0
	in_a=$(crossing "$a" "$a") in_b=$(crossing "$b" "$b") out=$(crossing "$a" "$b $rest") || return 1
	lab traffic -s 2 --rate 400 0,1 2,3 & lab traffic -s 2 --rate 400 1,0 2,2 || rc=1
	wait "$!" || rc=1
	(($(crossing "$a" "$a") > in_a + 500 && $(crossing "$b" "$b") > in_b + 500)) &&
		[[ $(crossing "$a" "$b $rest") == "$out" ]] && return "$rc"
}

# state NAME WANT: whether the job is in this state
state() { [[ $("$bin/fabricctl" job show "$1" --lab "$lab" --json | jq -r .state) == "$2" ]]; }
job_problem() { [[ $("$bin/fabricctl" status --lab "$lab" --json | jq -r '[.problems[] | select(.kind == "job") | .text] | join(" ")') == *"$1"* ]]; }

# The ring of x = 0 has another way for each cable.
repairs() {
	local pid rc=0
	lab traffic -s 3 --rate 300 0,0 2,3 >"$tmp/traffic" 2>&1 &
	pid=$!
	lab cut 0,0:-y || rc=1
	until_true 20 is .links.faulty 1 || rc=1
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	until_true 20 job verify a && state a runs && return "$rc"
}
# events NAME: kinds of the events that concern a job
events() { "$bin/fabricctl" events --job "$1" --lab "$lab" --json | jq -c '[.[] | .kind] | unique'; }
# The cable that was cut belongs to A. Only A's recovery is one of A.
knows_events() {
	until_true 5 eval '[[ $(events a) == *\"link\"*\"recovery\"* ]]' || { events a; return 1; }
	[[ $(events b) == '["job"]' ]] || { events b; return 1; }
	ctl events --job a --lab "$lab" | grep -F "0,0:-y" && ctl events --job c --lab "$lab" 2>&1 | grep "job 'c' does not run"
}
# A node of B dies. The root, which is a node of A, reports it, and it is no event of A.
knows_dead_node() {
	local rc=0
	lab kill 1,1 && until_true 20 eval '[[ $(events b) == *\"node\"* ]]' || { events b; return 1; }
	ctl events --job b --lab "$lab" | grep " 1,1 .*('n1-1') is dead" || rc=1
	[[ $(events a) != *\"node\"* ]] || { events a; rc=1; }
	lab revive 1,1 && until_true 20 state b runs && sends 1,0 2,2 && return "$rc"
}
falls_apart() {
	lab cut 0,1:+y && until_true 20 state a fallen-apart && until_true 20 job_problem "job 'a' has fallen apart" &&
		job_problem "cannot reach each other; lost: 0," || return 1
	refused 1 fallen-apart job list && refused 1 "join its 2 parts" job show a &&
		refused 1 "of 30 pairs of its nodes have no way" job verify a &&
		ctl trace 0,1 0,2 --lab "$lab" 2>&1 | grep "^fabricctl: job 'a' has fallen apart" &&
		ctl verify --lab "$lab" 2>&1 | grep "^fabricctl: job 'a' has fallen apart" &&
		! lab traffic -s 0.3 --udp 0,0 2,3 && lab traffic -s 0.3 1,0 2,2 || return 1
	lab mend 0,1:+y && until_true 20 state a runs && until_true 20 is '[.problems[] | select(.kind == "job")] | length' 0 &&
		lab mend 0,0:-y && until_true 20 is .links.faulty 0 && sends 0,0 2,3
}
# A member may be excluded as a whole, unless it joins others.
goes_out() {
	refused 1 "would divide job 'a' into 2 parts" ctl exclude 0,3 --lab "$lab" &&
		ctl exclude 2,3 --lab "$lab" && until_true 20 state a degraded &&
		refused 1 "up (excluded)" job show a && job verify a &&
		ctl include 2,3 --lab "$lab" && until_true 20 state a runs && job verify a
}
# A member that has died is named by each command, with the next step.
dies() {
	lab kill 2,3 && until_true 20 state a degraded || return 1
	refused 1 "node 2,3 is dead: its routes are not checked" job verify a && refused 1 "job show a" job verify a &&
		refused 1 "start the node" job show a && refused 3 "not named here" job hosts a &&
		[[ $(job hosts a 2>/dev/null | sort | tr '\n' ' ') == "n0-0 n0-1 n0-2 n0-3 n1-3 " ]] &&
		lab kill 0,3 && until_true 20 job_problem "lost: node 0,3 (dead), 2,3 (dead)" || return 1
	lab revive 2,3 && lab revive 0,3 && until_true 20 state a runs && until_true 20 job verify a
}
# Another root knows the jobs, and the manager of the former one takes its rows as they are.
taken_over() {
	ctl root move 3,3 --lab "$lab" && until_true 20 is '.root.node | tojson' '[3,3]' || return 1
	[[ $(job list --json | jq -c 'map([.name, .state])') == '[["a","runs"],["b","runs"]]' ]] && job verify a && verified
}
stops() {
	job stop a && job stop b && [[ $(job list --json) == "[]" ]] && until_true 20 verified &&
		ctl events --job a --lab "$lab" | grep "job 'a' was ended by" &&
		! ctl events --job a --lab "$lab" | grep "job 'b'" &&
		refused 2 "there is no job 'a'" job hosts a && all_came_once
}
boxes() {
	job start left -n 8 && job start right --nodes 8 --at 0,2 && job verify left && job verify right &&
		[[ $(job hosts left | sort | tr '\n' ' ') == "n0-0 n0-1 n1-0 n1-1 n2-0 n2-1 n3-0 n3-1 " ]] &&
		[[ $(job hosts left --format slurm --slots 2 | uniq -c | awk '$1 == 2 { print $2 }') == "$(job hosts left)" ]] &&
		job stop left && job stop right
}

# Neighbours find the nodes, from 2,2 on; then for two jobs at once, and then all nodes are free again.
grows() {
	local pid rc=0 free
	job start g -n 7 --how grow --at 2,2 && job verify g && job hosts g | grep -x n2-2 &&
		[[ $(job show g --json | jq -c '[.how, .nodes, .up, .parts]') == '["grow",7,7,1]' ]] || return 1
	free=$(ctl nodes --lab "$lab" --json | jq -r --argjson in "$(job show g --json | jq '[.members[].name]')" \
		'[.[] | select(.name as $n | $in | any(. == $n) | not) | .name] | first')
	refused 1 "of 10 nodes were found that are free; other nodes there are in jobs" job start h -n 10 --how grow --at "$free" &&
		refused 1 "node 2,2 belongs to job 'g'" job start h -n 2 --how grow --at 2,2 &&
		refused 1 "only 1 of 2 nodes with 1 link of 2000000000 Mb/s were found" job start h -n 2 --how grow --at "$free" --rate 2000000000 ||
		rc=1
	job stop g && { job start g -n 5 --how grow --at 0,0 & pid=$!; } && job start h -n 5 --how grow --at 2,2 &&
		wait "$pid" && job verify g && job verify h && job stop g && job stop h &&
		job start all -n 16 --how grow --at 1,3 && job verify all && job stop all && return "$rc"
}

starts() {
	# shellcheck disable=SC2086
	printf '%s\n' $a | job start a --list - && printf '%s\n' $b >"$tmp/b" && job start b --list "$tmp/b" &&
		[[ $(job list --json | jq -c 'map([.name, .nodes, .up, .parts, .state])') == '[["a",6,6,1,"runs"],["b",6,6,1,"runs"]]' ]] &&
		[[ $(job hosts a | sort | tr '\n' ' ') == "n0-0 n0-1 n0-2 n0-3 n1-3 n2-3 " ]] && job verify a && job verify b && verified
}
refuses() {
	refused 2 "there is a job 'a' already" job start a --nodes 1 &&
		refused 2 "must be 1 to 16" job start c --nodes 17 &&
		refused 1 "7 nodes do not form a box of 4x4: must be, for example, 6 or 8" job start c --nodes 7 &&
		refused 1 "no box of 8 free nodes in 4x4: 4 nodes are free" job start c --nodes 8 &&
		refused 2 "name of the job 'x y': must be" job start 'x y' --nodes 1 &&
		refused 2 "there is no job 'c'" job stop c && refused 2 "there is no job 'c'" job show c &&
		refused 2 "say how many nodes" job start c &&
		printf 'n3-3 \377\376 n3-2\n' >"$tmp/c" && refused 2 "is not UTF-8" job start c --list "$tmp/c" &&
		printf 'n3-3\0 n3-2\n' >"$tmp/c" && refused 2 "has a NUL byte" job start c --list "$tmp/c"
}

check "a lab comes up" lab up 4x4 "${patience[@]}" || exit 1
check "without jobs packets take the shortest way" crosses_without
check "two jobs start, and the rows of their nodes stay inside" starts
check "impossible jobs are refused" refuses
check "no packet of a job crosses other cables" stays_inside
check "two jobs under load share no cable" apart_under_load
check "a job loses no packet when one of its cables is cut" repairs
check "events of a job are those of its cables" knows_events
check "a node that dies is an event of its job, and of no other" knows_dead_node
check "a job falls apart without its middle node, and is whole when it is back" falls_apart
check "a node of a job can be excluded and included" goes_out
check "commands name a node of a job that has died" dies
check "jobs survive another root" taken_over
check "jobs end" stops
check "boxes of free nodes are found" boxes
check "jobs grow from a node, two at once" grows
done_testing
