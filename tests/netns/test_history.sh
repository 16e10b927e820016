#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# The history of an incident can be read afterwards, from any node: when its root is dead, when all
# nodes have lost their power, and when the disk is full or a file is damaged.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=hist$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab
nodes='0,0 1,0 2,0 0,1 1,1 2,1 0,2 1,2 2,2'

fabricctl() { "$bin/fabricctl" "$@" --lab "$lab"; }
fabric_is() { [[ $(ask status --json | jq -c '[.nodes.up, .links.up]') == "$1" ]]; }
histories() { echo "$run/$1"/state/fabricd-*.history; }

all_at() { [[ $(fabricctl events --json --since -1h --node "$1" | jq -c 'map([.log, .seq])' | md5sum) == "$all" ]]; }
same_everywhere() {
	local n
	all=$(fabricctl events --json --since -1h --node 0,0 | jq -c 'map([.log, .seq])' | md5sum)
	for n in 1,1 2,2 0,1; do all_at "$n" || return 1; done
}
incident() {
	lab cut 1,1:+x && until_true 20 fabric_is '[9,17]' && lab mend 1,1:+x && until_true 20 fabric_is '[9,18]'
}
# As often as the cable was lost.
told() {
	losses_told "$@" && [[ $(grep -c "1,1:+x ('n1-1') to 2,1:-x ('n2-1') is up again" "$tmp/told") == $(<"$tmp/losses") ]]
}
losses_told() {
	fabricctl events --link 2,1:-x --kind link "$@" | tee "$tmp/told" &&
		[[ $(grep -c "1,1:+x ('n1-1') to 2,1:-x ('n2-1') is lost" "$tmp/told") == $(<"$tmp/losses") ]]
}
filtered() {
	fabricctl events --json --level warning | jq -e 'length > 0 and all(.level == "warning" or .level == "error")' &&
		fabricctl events --json --until yesterday | jq -e '. == []' &&
		fabricctl events --json --kind recovery | jq -e 'length > 1 and all(.kind == "recovery")' &&
		fabricctl events --of 2,1 | grep ' is lost: ' && ! fabricctl events --of 2,2 | grep ' is lost: '
}
# The manager of a candidate noticed nothing of the cable itself; it keeps the event all the same,
# for it may become root.
locally() {
	fabricctl events --local --node 1,0 | tee "$tmp/local" | grep 'position from node' && ! grep 'is lost' "$tmp/local" &&
		fabricctl events --local --node 2,2 2>&1 | grep 'n2-2 keeps no history on disk'
}
at_candidate() { cat "$(histories 1.0)"/*.log | grep -c "'n2-1') is lost" | grep -qx 1; }
# An event is lost with the root if no candidate has asked for it yet (daemon/keeper.c).
copied() { copied_all "is lost" && copied_all "is up again"; }
copied_all() { [[ $(cat "$(histories 1.0)"/*.log | grep -c "'n2-1') $1") == $(<"$tmp/losses") ]]; }
next_root() {
	until_true 10 copied && lab kill 0,0 && until_true 30 fabric_is '[8,14]' && told --node 2,2 --since -1h &&
		fabricctl events --json --node 2,2 | jq -e 'map(.by) | unique | contains(["n0-0"]) and length > 1'
}
since_then() {
	fabricctl diff "$from" --node 2,2 | tee "$tmp/diff" | grep "^node .*node 0,0 ('n0-0') is dead" &&
		[[ $(grep -c '^link .*0,0:.* lost, was up: ' "$tmp/diff") == 4 && $(grep -c '^link' "$tmp/diff") == 4 ]] &&
		grep '^root ' "$tmp/diff" && ! grep -vE '^(link|node|root) ' "$tmp/diff" &&
		fabricctl outages --json | jq -e '[.[] | select(.link.node == [0,0] or .link.peer.node == [0,0]) | select(.state == "lost")] |
			length == 4 and all(.dead == [0,0])' && fabricctl outages | grep '^0,0:+x .* (0,0 dead) ' &&
		fabricctl report | tee "$tmp/report" | grep "^nodes  *0,0 (n0-0) was dead 1 time, for .*, and is still dead: " &&
		fabricctl report --json | jq -e 'all(.to_do[]; .link.node != [0,0] or .what != "mend")'
}
as_before() { fabricctl diff "$from" --node 2,2 | tee "$tmp/diff" | grep '^root ' && ! grep -v '^root ' "$tmp/diff"; }
# Orders that were given just before the root has handed over are in the history of the next one, also
# if they came right after each other.
ordered() {
	fabricctl exclude 2,0:+x >/dev/null && fabricctl include 2,0:+x >/dev/null &&
		fabricctl exclude 2,0:+y --reason 'ticket 4711' >/dev/null && fabricctl root move 1,0 && until_true 10 leads 1,0 || return 1
	fabricctl events --json --since -1h >"$tmp/orders"
	jq -e 'map(select(.kind == "admin") | .order | select(.ports == ["+x"]) | .state) | . == ["excluded", "included"]' "$tmp/orders" &&
		jq -e 'any(.[]; .kind == "admin" and (.order | .state == "excluded" and .node == [2,0] and .ports == ["+y"] and
		.uid == 0 and .by == "n0-0" and .reason == "ticket 4711"))' "$tmp/orders" && fabricctl report | tee "$tmp/report" | grep "^  *excluded 2,0:+y by root(0)@n0-0, at .*: ticket 4711" &&
		fabricctl include 2,0:+y >/dev/null && fabricctl root move 0,0 && until_true 10 leads 0,0 && until_true 20 fabric_is '[9,18]'
}
# The former root gets the events that others had meanwhile; no node gets an event twice.
comes_back() {
	lab revive 0,0 >/dev/null && until_true 30 fabric_is '[9,18]' && until_true 20 caught_up && until_true 10 same_everywhere
}
caught_up() {
	cat "$(histories 0.0)"/*.log | grep "node 0,0 ('n0-0') is dead" && cat "$run"/0.0/state/*.history/*.log | cut -d' ' -f3,4 | sort | uniq -d | wc -l | grep -qx 0
}
# The first table may be made before this cable is up: then it is told as up again, without a loss.
power_is_back() {
	local n
	for n in $nodes; do lab kill --power "$n" >/dev/null || return 1; done
	printf 'noise' >"$(histories 0.0)/00000007.log"
	for n in $nodes; do lab revive --no-wait "$n" >/dev/null || return 1; done
	until_true 40 fabric_is '[9,18]' && losses_told --since -1h
}
problem() { ask status --json | jq -e --arg text "$1" 'any(.problems[]; .kind == "history" and (.text | contains($text)))'; }
no_problem() { ! problem ''; }
# A file that is none is told, and is kept.
refused() { problem '00000007.log is not used: it is not a history file; it was renamed to .refused' && [[ -e $(histories 0.0)/00000007.log.refused ]]; }
# While the disk is full, what happens is in memory; and on the disk when it has room again.
full_disk() {
	local root state
	root=$(ask root --json | jq -r '.node | map(tostring) | join(".")') state=$run/$root/state
	lab kill "${root/./,}" >/dev/null && mount -t tmpfs -o size=160k none "$state" && lab revive "${root/./,}" >/dev/null || return 1
	until_true 30 fabric_is '[9,18]' && fabricctl root move "${root/./,}" && until_true 10 leads "${root/./,}" || return 1
	dd if=/dev/zero of="$state/filler" bs=1k 2>/dev/null
	lab cut 1,2:+x && until_true 20 filled && problem 'No space left on device; events are kept in memory only' &&
		fabricctl events --kind link --since -1min | grep '1,2:+x' && rm "$state/filler" || return 1
	until_true 30 written "$state" && until_true 30 no_problem
}
# The last page of a file has room for some more events.
filled() { fabricctl exclude 0,2:+y >/dev/null && fabricctl include 0,2:+y >/dev/null && problem 'No space'; }
leads() { [[ $(ask root --json | jq -r '.node | map(tostring) | join(",")') == "$1" ]]; }
written() { cat "$1"/*.history/*.log | grep "1,2:+x ('n1-2') to 2,2:-x"; }
# Both ends, why, and a pause that is longer than the recovery if it was noticed late.
outage() {
	lab silence 0,2:+x && until_true 20 fabric_is '[9,17]' && lab silence 0,2:+x off && until_true 20 fabric_is '[9,18]' &&
		fabricctl outages --node 2,2 &&
		fabricctl outages --node 2,2 --link 1,2:-x --json | jq -e 'length == 1 and .[0].reason == "silence" and .[0].state == "mended" and .[0].silent_ms == 350 and
			.[0].pause_ms == 350 + .[0].recovery.duration_ms and .[0].to > .[0].from and .[0].link.peer.name == "n1-2"' &&
		fabricctl outages --link 2,1:-x --json | jq -e 'length == 1 and .[0].reason == "carrier" and .[0].silent_ms == 0' &&
		fabricctl outages --until yesterday | grep -x 'nothing is known of that time'
}
still_lost() {
	lab cut 0,1:+y && until_true 20 fabric_is '[9,17]' && fabricctl outages --link 0,1:+y | grep 'still lost' &&
		lab mend 0,1:+y && until_true 20 fabric_is '[9,18]'
}
held_down() {
	fabricctl link down 0,1:+y && until_true 20 fabric_is '[9,17]' && fabricctl outages --link 0,1:+y | grep 'held down  .* admin' &&
		fabricctl link up 0,1:+y && until_true 20 fabric_is '[9,18]'
}
# A cable that comes back to another port is still lost, until it is in the right one.
wrong_end() {
	lab swap 0,0:+y 1,0:+y && until_true 20 fabric_is '[9,16]' && until_true 10 is_lost '0,0:+y' && is_lost '1,0:+y' &&
		fabricctl outages --link 0,0:+y | grep 'still lost' && fabricctl events --link 0,0:+y --kind link | tail -n 1 | grep ' is lost' &&
		lab swap 0,0:+y 1,0:+y && until_true 20 fabric_is '[9,18]' && until_true 10 is_mended 0,0:+y && is_mended 1,0:+y
}
is_lost() { fabricctl outages --link "$1" --json | jq -e 'length == 1 and .[0].state == "lost"'; }
is_mended() { fabricctl outages --link "$1" --json | jq -e 'length >= 1 and all(.state == "mended")'; }
# The cable that was lost most often comes first.
report() {
	local n
	for n in 1 2; do lab cut 1,1:+x && until_true 20 fabric_is '[9,17]' && lab mend 1,1:+x && until_true 20 fabric_is '[9,18]' || return 1; done
	echo 3 >"$tmp/losses"
	fabricctl report --node 2,2 | tee "$tmp/report" &&
		[[ $(grep -A1 '^CABLE' "$tmp/report" | tail -1) == "1,1:+x (n1-1) - 2,1:-x (n2-1) "*' 3 '* ]] && grep '^recoveries .*median' "$tmp/report" &&
		grep '^to do  *replace  1,1:+x (n1-1) - 2,1:-x (n2-1): lost 3 times (carrier' "$tmp/report" &&
		fabricctl report --json | jq -e '.cables[0].times == 3 and .recoveries.count > 6 and (.outages | length) > 3 and .orders == [] and .events.link > 3' &&
		fabricctl report --day yesterday | grep -x 'nothing is known of that time'
}
# The page is well-formed, and what others wrote remains text.
page() {
	fabricctl exclude 0,1:+y --reason '<script>alert("1 & 2")</script>' >/dev/null && fabricctl report --html >"$tmp/page" || return 1
	fabricctl include 0,1:+y >/dev/null && until_true 20 fabric_is '[9,18]' && ! grep -i '<script' "$tmp/page" && grep -F '<li><b>replace</b> 1,1:+x (n1-1) - 2,1:-x (n2-1): lost 3 times' "$tmp/page" &&
		python3 -c 'import sys, xml.etree.ElementTree as tree; print("".join(tree.parse(sys.argv[1]).getroot().itertext()))' "$tmp/page" | grep -F '<script>alert("1 & 2")</script>'
}
# A recovery waits for a manager that hangs: meanwhile its steps are told, and the faulty cable is not
# forgotten. The root tells of the steps of few recoveries in quick succession, so this comes first.
steps() {
	local manager follower rc=0
	until_true 20 fabric_is '[9,18]' || return 1
	fabricctl events --follow --json >"$tmp/follow" & follower=$!
	until_true 10 test -s "$tmp/follow" || rc=1
	read -r manager _ <"$run/2.2/fabricd.pid"
	kill -STOP "$manager" && lab cut 0,1:+x >/dev/null && until_true 10 goes_on || rc=1
	kill -CONT "$manager"
	until_true 20 fabric_is '[9,17]' && until_true 20 has_ended && lab mend 0,1:+x >/dev/null && until_true 20 fabric_is '[9,18]' || rc=1
	kill "$follower"
	return $rc
}
goes_on() {
	local rc=0
	fabricctl status --json >"$tmp/status" || rc=$?
	[[ $rc == 1 ]] && jq -e '.state == "recovering" and (.recovery.timeline | .table != null and .rebuilt == null)' "$tmp/status" &&
		fabricctl status | grep -A1 '^recovers version' | grep 'goes on for' &&
		jq -es --slurpfile s "$tmp/status" 'map(select(.step.version == $s[0].recovery.version) | .step.step) == ["table"]' "$tmp/follow"
}
has_ended() {
	[[ $(ask status --json | jq .recovery) == null ]] && fabricctl events --json --kind step,recovery --since -1min |
		jq -e '(map(select(.recovery)) | last.recovery.version) as $v | map(select((.step // .recovery).version == $v) | .step.step) |
			. == ["table", "rebuilt", "drained", null] or . == ["table", "rebuilt", "drained", "replayed", null]'
}
counted() {
	fabricctl status --json | jq -e '.history | .events > 10 and .bytes > 2000 and .bytes_max == 67108864 and .dropped == 0 and .since > 1600000000'
}
mounted() { awk -v at="$run/" 'index($2, at) == 1 { print $2 }' /proc/mounts; }
unmount() { mounted | xargs -r umount -l; }
unmounted() { [[ $(mounted) ]] && unmount && [[ ! $(mounted) ]]; }
trap 'unmount; cleanup' EXIT

echo 1 >"$tmp/losses"

check "a lab comes up" lab up 3x3
check "the steps of a running recovery are shown" steps
check "the loss and return of a cable are recorded" incident
check "any node shows the history of the cable by either end" told --node 2,1
check "all nodes show the same events" until_true 10 same_everywhere
check "events can be selected by level, kind, node and time" filtered
check "a node shows the events that it noticed itself" locally
check "candidates keep the events, too" until_true 20 at_candidate
check "status counts the events" counted
check "the next root knows what was ordered just before" ordered
check "an outage shows both ends, the reason and its duration" outage
check "a cable that is still lost is shown as lost" still_lost
check "a cable that was taken down is shown as held down" held_down
check "a cable in a wrong port does not count as mended" wrong_end
check "a report names the cable to replace" report
check "the report as a page is well-formed and escapes text" page
rest 1 # the second in which the cables before were lost
from=$(date '+%F %T')
rest 1
check "the next root records the death of the former one" next_root
check "the next root records what was lost with the former one" since_then
check "the former root gets all events that it missed, once" comes_back
check "a node that is back is not shown as a difference" until_true 10 as_before
check "losses are shown after all nodes had no power" power_is_back
check "a file of another format is moved aside" refused
check "a full disk is reported, and no event is lost" full_disk
check "the test's file systems are unmounted" unmounted
check "the lab ends" lab down
done_testing
