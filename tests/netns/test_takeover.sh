#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# The root loses its power, ends or hangs, and a cable is cut after that: another node becomes root
# and leads the recovery, no packet between the others is lost, and the former root is a node like
# all others when it is back. Node 2,2 looks on: it is no candidate (fabricd.conf(5)).

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=take$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

# Prints the last log lines of the managers.
explain() { tail -n 40 "$run"/*/fabricd.log; }

seen() { "$TOP/tests/netns/ask" "$run/2.2/control" status | jq -r "$1"; }
root() { seen '.data.root.node | map(tostring) | join(",")'; }
leads() { [[ $(seen '.data.root.reachable') == true && $(root) == "$1" ]]; }
led_by_other() { [[ $(seen '.data.root.reachable') == true && $(root) != "$1" ]]; }
runs() { [[ $(seen '.data | .state == "running" and .nodes.up == 9 and .links.up == 18') == true ]]; }
pid_of() { cut -d' ' -f1 "$run/${1//,/.}/fabricd.pid"; }

# ends HOW NODE, back HOW NODE
ends() {
	case $1 in
	power) lab kill --power "$2" ;;
	ends) lab kill --manager "$2" ;;
	hangs) kill -STOP "$(pid_of "$2")" ;;
	esac
}
back() {
	case $1 in
	hangs) kill -CONT "$(pid_of "$2")" ;;
	*) lab revive "$2" ;;
	esac
}

# The root ends by that way; each packet from 2,2 to 1,2, which are neighbours, comes all the same.
taken_over() {
	local old new ping fine=1
	old=$(root)
	ip netns exec "$lab-2.2" ping -q -i 0.01 -W 20 -c 500 10.1.2.0 >"$tmp/ping" &
	ping=$!
	ends "$1" "$old" >/dev/null && until_true 10 led_by_other "$old" && new=$(root) &&
		lab cut 2,2:-x >/dev/null && rest 1 && lab mend 2,2:-x >/dev/null && fine=0
	wait "$ping"
	cat "$tmp/ping"
	grep -q ' received, 0% packet loss' "$tmp/ping" || fine=1
	back "$1" "$old" >/dev/null
	until_true 20 runs && leads "$new" && return "$fine"
}

# moved NODE: it becomes root under traffic, and nothing else changes
moved() {
	local ping fine=1
	ip netns exec "$lab-2.2" ping -q -i 0.002 -W 20 -c 500 10.1.2.0 >"$tmp/ping" &
	ping=$!
	"$B/fabricctl" root move --lab "$lab" "$1" && until_true 10 leads "$1" && fine=0
	wait "$ping"
	cat "$tmp/ping"
	grep -q ' received, 0% packet loss' "$tmp/ping" || fine=1
	until_true 10 runs && [[ $(seen '.data.root.why') == "root moved from "* ]] && return "$fine"
}

# silent: no NIC sends a management packet for longer than the longest interval of repeated Inits
silent() {
	local before
	before=$(sent)
	((before > 0)) && rest 2.5 && [[ $(sent) == "$before" ]]
}
sent() {
	local n
	for n in 0,0 1,0 2,0 0,1 1,1 2,1 0,2 1,2 2,2; do
		"$TOP/tests/netns/ask" "$run/${n/,/.}/control" links node="$n"
	done | jq -s 'map(.data[].mgmt_tx) | add // 0'
}

# Without a root nobody says that all is well, and the one that comes says why it leads.
told() {
	local old
	old=$(root)
	lab kill --manager "$old" >/dev/null
	until_true 5 lost || return 1
	until_true 10 led_by_other "$old" &&
		[[ $(seen '.data.root.why') == "root 'n${old//,/-}' lost" ]] || return 1
	"$B/fabricctl" status --lab "$lab" --node 2,2 | tee "$tmp/status"
	grep -q '^nodes  *8 of 9 up' "$tmp/status" || return 1
	lab revive "$old" >/dev/null && until_true 20 runs
}
lost() { "$B/fabricctl" status --lab "$lab" --node 2,2 |
	grep '^nodes  *8 of 9 up by their last reports, of the others nothing is known for .*, 1 reported now$'; }

# Node 2,2, which is no candidate, is alone. It tells of its own NIC and of its neighbours' Inits,
# and of all the others that it does not know. No node counts as up only because the last table
# says so.
alone() {
	local n
	for n in 0,0 1,0 2,0 0,1 1,1 2,1 0,2 1,2; do lab kill --manager "$n" >/dev/null; done
	until_true 10 unknown && ((rc == 1)) || return 1
	grep -q 'no root for .*: this is what n2-2 (2,2) knows itself' "$tmp/err" || return 1
	of_2_2 links && [[ $(jq -c 'map(.node, .state, .rootless) | unique' "$tmp/out") == '[true,"up",[2,2]]' ]] ||
		return 1
	of_2_2 counters && [[ $(jq -c 'map(.node)' "$tmp/out") == '[[2,2]]' ]] || return 1
	of_2_2 status
	cat "$tmp/out"
	[[ $(jq -c '[.nodes.total, .root.reachable, .last_recovery, .nodes.up < 6, .links.up < 14]' "$tmp/out") == \
		'[9,false,null,true,true]' ]] && ((rc == 1))
}
# of_2_2 COMMAND: in $tmp/out, its exit status in $rc
of_2_2() {
	rc=0
	"$B/fabricctl" "$1" --json --lab "$lab" --node 2,2 >"$tmp/out" 2>"$tmp/err" || rc=$?
	((rc < 2))
}
# The root is unknown at once, the others after a while; those beside this one may have said
# something since.
unknown() {
	of_2_2 nodes && jq -e 'map(select(.state == "unknown" and .heard_ms >= 3000)) | length >= 4' "$tmp/out" >/dev/null
}

# The managers around 1,0 hang, and the root, its last neighbour, ends: five of nine live, and 1,0
# is needed, to which nobody passes an Init. Then a cable is lost between two others: 1,0 takes the
# table, too.
called() {
	local n fine=1
	leads 0,0 || { "$B/fabricctl" root move --lab "$lab" 0,0 && until_true 10 runs; } || return 1
	for n in 2,0 1,1 1,2; do kill -STOP "$(pid_of "$n")"; done
	lab kill --manager 0,0 >/dev/null
	until_true 10 led_by_other 0,0 && until_true 5 tells_of_call && moves_on && fine=0
	for n in 2,0 1,1 1,2; do kill -CONT "$(pid_of "$n")"; done
	lab revive 0,0 >/dev/null && until_true 20 runs && return "$fine"
}
# The new root has called, or has been called by one that asked as well.
tells_of_call() {
	"$B/fabricctl" root --lab "$lab" --node "$(root)" | tee "$tmp/root"
	grep -q '^1,0 .* answers' "$tmp/root" && grep -h 'is called over the service network' "$run"/*/fabricd.log
}
moves_on() {
	local ping fine=1 before
	before=$(seen .data.table_version)
	ip netns exec "$lab-2.2" ping -q -i 0.01 -W 20 -c 200 10.2.1.0 >"$tmp/ping" &
	ping=$!
	lab cut 2,2:-y >/dev/null && until_true 10 has_later "$before" && lab mend 2,2:-y >/dev/null && fine=0
	wait "$ping"
	cat "$tmp/ping"
	grep -q ' received, 0% packet loss' "$tmp/ping" && return "$fine"
}
# has_later VERSION: the NIC of 1,0 has the rows of the root's table, which is a later one
has_later() {
	local version
	version=$(seen .data.table_version)
	((version > $1)) && [[ $("$TOP/tests/netns/ask" "$run/2.2/control" rows node=1,0 | jq .data.version) == "$version" ]]
}

check "a lab comes up" lab up 3x3
check "all nodes are up, and packets are counted" until_true 10 runs
check "another node leads after the root's manager ends, without loss" taken_over ends
check "another node leads after the next one hangs, without loss" taken_over hangs
check "another node leads after this one loses its power, without loss" taken_over power
check "no Inits are repeated after the takeovers" until_true 30 silent
check "the root hands over without loss" moved 1,1
check "the next root hands over to node 0 without loss" moved 0,0
check "status shows that there is no root, then why the new one leads" told
check "a working node among hanging managers is contacted" called
check "every path is right" verified
check "an isolated node shows what it knows" alone
check "the lab ends" lab down
done_testing
