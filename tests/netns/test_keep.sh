#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# All nodes lose their power at once, and come back: coordinates, names and exclusions are as
# before, if the command that excluded has ended. That command reports a disk that hangs. A state
# file that is damaged or cannot be written is reported, and the fabric runs on.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=keep$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

fabricctl() { "$bin/fabricctl" "$@" --lab "$lab"; }
nodes() { seq 0 2 | while read -r y; do for x in 0 1 2; do echo "$x,$y"; done; done; }
excluded() { fabricctl verify --json | jq -c .excluded; }
all_up() { [[ $(ask status --json | jq -c '[.nodes.up, .links.total]') == '[9,18]' ]]; }
named() { [[ $(ask nodes --json | jq -c '[.[] | .name]') == "$names" ]]; }
problem() { ask status --json | jq -e --arg text "$1" '.problems[] | select(.kind == "state" and (.text | contains($text)))'; }
kept_at() { compgen -G "$run/$1/state/fabricd-*.state" >/dev/null; }

# Prints the status, and the last lines that each manager logged.
explain() {
	fabricctl status
	tail -n 5 "$run"/*/fabricd.log
}

# All disks can be told to hang.
hanging_programs() {
	mkdir "$tmp/bin" && cp "$B/fabricctl" "$B/torusemu" "$tmp/bin/" &&
		cp "$B/tests/netns/fabricd_hang" "$tmp/bin/fabricd" && bin=$tmp/bin
}
hang() {
	local n
	for n; do touch "$run/$n/hang" || return 1; done
}
hang_no_more() { rm -f "$run"/*/hang; }

all_lose_power() {
	local n
	cut -d' ' -f1 "$run"/*/fabricd.pid | xargs kill -STOP || return 1	# at once: none does anything more
	for n in $(nodes); do lab kill --power "$n" >/dev/null || return 1; done
}
all_come_back() {
	local n
	for n in $(nodes); do lab revive --no-wait "$n" >/dev/null || return 1; done
	until_true 30 all_up && named
}

kept() {
	names=$(ask nodes --json | jq -c '[.[] | .name]')
	fabricctl exclude 1,0:+x --reason 'loose plug' && fabricctl exclude 2,2 --node 1,1 && kept_at 0.0 && ! kept_at 2.2 &&
		[[ $(orders) == '[[[1,0],["+x"],0,"loose plug"],[[2,2],["+x","+y","-x","-y"],0,null]]' ]] &&
		fabricctl table --json | jq -e '[.orders[] | .by] == ["n0-0", "n1-1"] and (.orders | all(.until == null and .since > 1600000000))' &&
		orders=$(fabricctl table --json | jq -c .orders)
}
orders() { fabricctl table --json | jq -c '[.orders[] | [.node, .ports, .uid, .reason]]'; }
same_orders() { [[ $(fabricctl table --json | jq -c .orders) == "$orders" ]]; }
# An order that changes nothing makes no new table, and the reason of the first order stays, also if the second
# has none: drain, before the cable is pulled.
already_so() {
	local version
	version=$(fabricctl table --json | jq .version) &&
		fabricctl include 0,0:+y 1,1 | grep "^nothing to change; table version $version," &&
		fabricctl exclude 1,0:+x --reason 'loose plug' --node 2,1 | grep "^nothing to change; table version $version," &&
		fabricctl exclude 2,2 --json | jq -e '.changed == false and .in_force' && same_orders &&
		fabricctl drain 1,0:+x && same_orders && fabricctl drain 2,0:-x && same_orders &&
		[[ $(fabricctl table --json | jq .version) == "$version" ]]
}
# The next root tells who excluded what, and takes another reason.
next_root() {
	fabricctl root move 1,0 && until_true 10 moved && all_up && same_orders &&
		fabricctl status | grep -E '^excluded +1,0:\+x by root\(0\)@n0-0, (.* ago|just now): loose plug$' &&
		fabricctl table | grep -E '^  2,2 by root\(0\)@n1-1, (.* ago|just now)$' &&
		fabricctl exclude 1,0:+x --reason 'new plug' --node 2,1 &&
		fabricctl table --json | jq -e '.orders[0] | .by == "n2-1" and .reason == "new plug"' &&
		orders=$(fabricctl table --json | jq -c .orders) && fabricctl root move 0,0 && until_true 10 moved_back
}
moved() { [[ $(ask root --json | jq -c .node) == '[1,0]' ]]; }
moved_back() { [[ $(ask root --json | jq -c .node) == '[0,0]' ]]; }
# An exclusion for a while is shown as such, and the next root ends it.
for_a_while() {
	fabricctl exclude 0,1:+y --for "$((15 * slow))s" --reason dust &&
		fabricctl table | grep -E '^  0,1:\+y by root\(0\)@n0-0, (.* ago|just now), for another .*: dust$' &&
		fabricctl links 0,1 | grep -E '^0,1:\+y .* admin [0-9.]+ ' &&
		fabricctl links 0,1 --json | jq -e '.[] | select(.port == "+y") | .until > 1600000000' &&
		fabricctl root move 1,0 && until_true 10 moved || return 1
	until_true $((60 * slow)) over && fabricctl events --node 1,0 | grep 'included 0,1:+y, the time is over' &&
		fabricctl root move 0,0 && until_true 10 moved_back && same_orders
}
over() { [[ $(fabricctl links 0,1 --json | jq -c '.[] | select(.port == "+y") | [.excluded, .until]') == '[null,null]' ]]; }
as_before() {
	local before=$orders
	fabricctl exclude 0,1:+y --for 1h && orders=$(fabricctl table --json | jq -c .orders) || return 1
	all_lose_power && all_come_back && [[ $(excluded) == '[[2,2]]' ]] && same_orders &&
		fabricctl include 0,1:+y && orders=$before && same_orders &&
		fabricctl links 1,0 --json | jq -e '.[] | select(.port == "+x") | .excluded == "admin"'
}

# changes WHAT ARGUMENT...: the answer says whether the change is in force, and whether most candidates
# have kept it. How long it waits at most is tested in virtual time (unit/test_answers.c).
changes() {
	fabricctl "${@:2}" --json >"$tmp/answer" 2>"$tmp/said"
	rc=$?
	say "exit status $rc, kept $(jq -c .kept "$tmp/answer")"
	[[ $(jq -c '[.in_force, .kept.have > 4]' "$tmp/answer") == "$1" ]]
}
# recovered N: whether the root has ended more than N recoveries, so that the change after N is in force
recovered() { (($(recoveries) > $1)); }
recoveries() { grep -c ' in force after ' "$run/0.0/fabricd.log"; }

# The disks of most candidates are slow: the command waits for them.
waits_for_disks() {
	local before
	before=$(recoveries)
	hang 0.0 1.0 2.0 0.1 || return 1
	{ until_true 10 recovered "$before"; hang_no_more; } >/dev/null &
	changes '[true,true]' exclude 0,2:+x && [[ $rc == 0 ]]
}
# ... and not, if these are the fewer; what they have is as good as before
waits_for_most() {
	hang 0.0 1.0 2.0 || return 1
	changes '[true,true]' exclude 1,1:+y && [[ $rc == 0 ]]
}
# Right after the answer all lose their power, the disks that hang with it.
safe_at_once() {
	all_lose_power && hang_no_more && all_come_back &&
		fabricctl links 1,1 --json | jq -e '.[] | select(.port == "+y") | .excluded == "admin"' &&
		fabricctl include 1,1:+y 0,2:+x
}
# Each of two commands at once is answered when what both changed is kept.
two_at_once() {
	local other rc
	fabricctl exclude 0,1:+x >/dev/null &
	other=$!
	ask exclude 0,1:+y --node 2,2
	rc=$?
	wait "$other" && [[ $rc == 0 ]] && [[ $(ask root --json | jq '[.candidates[] | select(.disk == "kept")] | length') -gt 4 ]] &&
		fabricctl include 0,1:+x 0,1:+y
}
# The disks hang for long: the command reports it, and its change is in force.
tells_that_disks_hang() {
	hang 0.0 1.0 2.0 0.1 || return 1
	changes '[true,false]' exclude 1,1:+y && [[ $rc == 3 ]] &&
		grep 'only 4 of 8 candidates' "$tmp/said" && until_true 10 problem 'does the disk hang?' || return 1
	hang_no_more
	until_true 10 no_problem && changes '[true,true]' include 1,1:+y && [[ $rc == 0 ]]
}

# Four candidates are away: the others are no majority, and the command does not wait.
tells_who_is_away() {
	local n fine
	for n in 0,1 1,1 2,1 0,2; do lab kill --manager "$n" >/dev/null || return 1; done
	until_true 10 five_left || return 1
	changes '[true,false]' exclude 1,1:+y && [[ $rc == 3 ]] && grep 'only 4 of 8 candidates' "$tmp/said" &&
		[[ $(ask root --json | jq -c '[.candidates[] | .disk] | group_by(.) | map([.[0], length])') == '[["behind",4],["kept",4]]' ]]
	fine=$?
	for n in 0,1 1,1 2,1 0,2; do lab revive "$n" >/dev/null || return 1; done
	until_true 20 all_up && changes '[true,true]' include 1,1:+y && return $fine
}
five_left() { [[ $(ask nodes --json | jq -c '[.[] | select(.state == "silent")] | length') == 4 ]]; }
# The root ends while the command waits for disks: that says so, and the next root knows what is
# excluded.
root_ends() {
	local before
	before=$(recoveries)
	hang 1.0 2.0 0.1 1.1 2.1 || return 1
	# Stopped at once: it answers after 2 s in any case.
	{ until_true 10 recovered "$before"; kill -STOP "$(cut -d' ' -f1 "$run/0.0/fabricd.pid")"; lab kill --manager 0,0; } >/dev/null &
	changes '[null,false]' exclude 1,1:+y --node 2,2
	wait
	[[ $rc == [125] ]] && until_true 10 led_by_other "[0,0]" && other links 1,1 --json |
		jq -e '.[] | select(.port == "+y") | .excluded == "admin"' || return 1
	hang_no_more
	lab revive 0,0 >/dev/null && until_true 20 all_up && until_true 10 no_problem && fabricctl include 1,1:+y
}
other() { ask "$@" --node 2,2; }
led_by_other() { other status --json | jq -e --argjson old "$1" '.root | .reachable and .node != $old'; }

# All disks hang: a recovery, a takeover and another recovery end all the same, before any disk
# answers.
beside_hanging_disks() {
	local old up fine=1
	old=$(other root --json | jq -c .node)
	hang 0.0 1.0 2.0 0.1 1.1 2.1 0.2 1.2 || return 1
	changes '[true,false]' exclude 1,1:+y && [[ $rc == 3 ]] && up=$(links_up) && lab cut 0,2:+x >/dev/null &&
		until_true 10 links_are $((up - 1)) && lab kill --manager "$(jq -r 'map(tostring) | join(",")' <<<"$old")" >/dev/null &&
		until_true 10 led_by_other "$old" && lab mend 0,2:+x >/dev/null && until_true 10 links_are "$up" &&
		rest 5 && until_true 10 all_hang && fine=0
	hang_no_more
	lab revive "$(jq -r 'map(tostring) | join(",")' <<<"$old")" >/dev/null && until_true 20 all_up &&
		until_true 10 no_problem && fabricctl include 1,1:+y && return $fine
}
links_up() { other status --json | jq -c .links.up; }
links_are() { [[ $(links_up) == "$1" && $(other status --json | jq -r .state) == degraded ]]; }
# The disks of all candidates but the one that has ended.
all_hang() {
	local n=0 node
	for node in 0,0 1,0 2,0 0,1 1,1 2,1 0,2 1,2; do
		says "$node" 'any(.problems[]; .text | contains("does the disk hang?"))' && n=$((n + 1))
	done
	say "$n disks hang"
	[[ $n == 7 ]]
}
# says NODE FILTER: whether that manager runs, and the filter is true of its status
says() { "$TOP/tests/netns/ask" "$run/${1//,/.}/control" status 2>/dev/null | jq -es "any(.[]; .data | $2)" >/dev/null; }

# All managers end, and start while the service network is down, for more than twice member_max (3 s).
late_network() {
	local n before
	before=$(places)
	for n in $(nodes); do lab kill --manager "$n" >/dev/null || return 1; done
	ip -n "$lab-service" link set br0 down || return 1
	for n in $(nodes); do lab revive --no-wait "$n" >/dev/null || return 1; done
	rest 7
	! leads_any || return 1
	ip -n "$lab-service" link set br0 up || return 1
	until_true 60 all_up && as_it_was "$before"
}
places() { fabricctl nodes --json | jq -c '[.[] | {node, name, address}]'; }
# as_it_was PLACES: whether places and exclusions are as before
as_it_was() {
	[[ $(places) == "$1" ]] || { echo "places were: $1, and are: $(places)"; return 1; }
	[[ $(excluded) == '[[2,2]]' ]] || { echo "excluded: $(excluded)"; return 1; }
	fabricctl links 1,0 --json | jq -e '.[] | select(.port == "+x") | .excluded == "admin"' ||
		{ fabricctl links 1,0; return 1; }
}
leads_any() {
	local n
	for n in $(nodes); do
		says "$n" .root.reachable && echo "$n has a root" && return 0
	done
	return 1
}

# While the manager of an excluded node is away, another node becomes root. That manager keeps no table,
# and its NIC has no rows and knows the former root: it follows the other root all the same.
excluded_and_away() {
	local before fine
	before=$(places)
	lab kill --manager 2,2 >/dev/null && lab kill --manager 0,0 >/dev/null && until_true 20 seven_follow &&
		lab revive --no-wait 2,2 >/dev/null && until_true 60 is_back &&
		! grep 'no Init has named a root for 30 s' "$run/2.2/fabricd.log"
	fine=$?
	lab revive 0,0 >/dev/null && until_true 20 all_up && as_it_was "$before" && return $fine
	return 1
}
seven_follow() {
	fabricctl status --node 1,1 --json | jq -e '.root | .reachable and .state == "leads" and .node != [0,0]' &&
		[[ $(fabricctl nodes --node 1,1 --json | jq -c 'map(.state) | group_by(.) | map([.[0], length])') == '[["silent",2],["up",7]]' ]]
}
is_back() { fabricctl nodes --node 1,1 --json | jq -e '.[] | select(.node == [2,2]) | .state == "up"'; }

# Seven of the eight lose what they have kept, and the last has all.
one_is_enough() {
	local n
	all_lose_power || return 1
	for n in $(nodes); do
		case $n in
		1,1) ;;
		0,0) truncate -s -3 "$run"/0.0/state/fabricd-*.state ;;
		1,0) cat "$TOP/tests/unit/golden/state-format-1" >"$(echo "$run"/1.0/state/fabricd-*.state)" ;;
		2,0) sed -i '1s/^torus-state 1 /torus-state 9 /' "$run"/2.0/state/fabricd-*.state ;;
		*) rm -rf "$run/${n//,/.}/state" ;;
		esac
	done
	all_come_back && [[ $(excluded) == '[[2,2]]' ]] && same_orders && problem 'is not used: it has' &&
		compgen -G "$run/0.0/state/*.refused"
}
# refused_at NODE TEXT: the file of that node is refused with that text, in its status and its log
refused_at() {
	ask status --json --node "$1" | jq -e --arg text "$2" '.problems[] | select(.kind == "state" and (.text | contains($text)))' &&
		grep -F "$2" "$run/${1//,/.}/fabricd.log"
}

# The directory of the root cannot be written: what is excluded is in force all the same.
cannot_write() {
	rm -rf "$run/0.0/state" && touch "$run/0.0/state" && fabricctl include 2,2 &&
		until_true 10 problem 'cannot write' && [[ $(excluded) == '[]' ]] || return 1
	rm "$run/0.0/state"
	fabricctl include 1,0:+x && until_true 10 no_problem && kept_at 0.0
}
# The disk of the root is full.
full_disk() {
	rm -rf "$run/0.0/state" && mkdir -m 700 "$run/0.0/state" &&
		mount -t tmpfs -o size=4k none "$run/0.0/state" && echo >"$run/0.0/state/other" || return 1
	fabricctl exclude 1,0:+x && until_true 10 problem 'cannot write' && problem 'No space left on device'
	local rc=$?
	umount "$run/0.0/state" && fabricctl include 1,0:+x && until_true 10 no_problem && kept_at 0.0 && return $rc
}
no_problem() { ask status --json | jq -e '.problems | length == 0'; }

check "programs whose disks hang are prepared" hanging_programs
check "a lab comes up" lab up 3x3
check "all nodes are up" until_true 10 all_up
check "candidates keep exclusions on disk, other nodes do not" kept
check "excluding or including a port again changes nothing" already_so
check "the author of an exclusion outlives the root, and changes with another reason" next_root
check "an exclusion for a while ends by itself, under another root" for_a_while
check "exclusions and places survive a loss of all power" as_before
check "exclude waits for slow disks of most candidates" waits_for_disks
check "exclude does not wait for slow disks of a few" waits_for_most
check "an answered exclusion survives a loss of all power" safe_at_once
check "two exclusions at once are both answered once they are kept" two_at_once
check "hanging disks of most candidates are reported" tells_that_disks_hang
check "candidates that are away are reported" tells_who_is_away
check "an exclusion stays if the root ends while the command waits for disks" root_ends
check "recoveries and a takeover wait for no disk" beside_hanging_disks
check "a service network that comes late changes nothing" late_network
check "an excluded node follows a root that it does not know" excluded_and_away
check "the table that a single candidate has kept is enough" one_is_enough
check "a state file of another fabric is reported" refused_at 1,0 "it is of fabric 'lab', and this is '$lab'"
check "a state file of a later fabricd is reported" refused_at 2,0 'it has format 9, of a later fabricd'
check "a failing disk is reported until it works again" cannot_write
check "a full disk is reported until it has room again" full_disk
check "every path is right" verified
check "the lab ends" lab down
done_testing
