#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fabricctl link test, locate and module, in a lab of real processes: an idle cable with bit errors
# is distinguished from a good one, by both ends' counters; a test loses no other traffic; a link
# that is not up, or whose far manager is away, is refused with the reason.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=lt$$

# shellcheck disable=SC2317
explain() { "$B/fabricctl" status --lab "$lab"; ask events | tail; cat "$tmp/said" "$tmp/result"; }

# tests STATUS ARGUMENTS...: runs the test, with its result in $tmp/result and its words in $tmp/said
tests() {
	local want=$1 rc
	shift
	ask "link test" "$@" >"$tmp/result" 2>"$tmp/said"
	rc=$?
	cat "$tmp/result" "$tmp/said"
	[[ $rc == "$want" ]] || { echo "exit status $rc, wanted $want"; return 1; }
}
ask() {
	local words
	read -ra words <<<"$1"
	ctl "${words[@]}" --lab "$lab" "${@:2}"
}
of_result() { jq -e "$1" <(sed '/^{/!d' "$tmp/result") >/dev/null || { echo "not so: $1"; return 1; }; }

up() { lab up 4x2 "${patience[@]}" && until_true 20 is .state running; }
patience=(--set "silence=$((5 * slow))s")

healthy() {
	tests 0 1,0:+x --seconds 2 && grep -E '^1,0:\+x to 2,0:-x: [0-9]+ packets of 1024 bytes' "$tmp/result" &&
		grep -E '^round trip  min [0-9.]+ us, median [0-9.]+ us, max [0-9.]+ us' "$tmp/result" &&
		grep '^verdict     good' "$tmp/result" || return 1
	tests 0 n1-0:+x --count 300 --size 100 --json && of_result '.sent == 300 and .received == 300 and .lost == 0' &&
		of_result '.size == 100 and .verdict == "good" and .reasons == []' &&
		of_result '[.node, .port, .peer.node, .peer.port, .peer.name] == [[1,0], "+x", [2,0], "-x", "n2-0"]' &&
		of_result '.rtt_us.min > 0 and .rtt_us.min <= .rtt_us.median and .rtt_us.median <= .rtt_us.max' &&
		of_result '.link_mbps == 10000 and .mbps > 0 and .mbps <= 500' &&
		of_result '.directions | map(.packets == 300 and .crc_errors + .malformed + .pattern_errors == 0) | all'
}

# A cable that is idle, and has no traffic but the test's. What is measured is what was injected.
bad() {
	lab ber 2,1:+x 1e-6 && tests 1 2,1:+x --seconds 4 --json && of_result '.verdict == "bad" and .lost == 0' &&
		of_result '.directions | map(.ber > 3e-7 and .ber < 3e-6 and .crc_errors + .malformed > 5) | all' &&
		of_result '[.reasons[] | select(test("^bit errors: (3,1:-x|2,1:.x) received"))] | length == 2' || return 1
	lab ber 2,1:+x 1e-5 && tests 1 3,1:-x --seconds 2 && grep '^verdict     bad' "$tmp/result" &&
		grep -E '^  bit errors: 3,1:-x received [0-9]+ damaged packets, (9|1)\.[0-9]e-0[56] errors a bit: clean, reseat or replace' "$tmp/result" &&
		lab ber 2,1:+x 0 && tests 0 2,1:+x --seconds 1
}

# A cable between that and another is not blamed.
not_the_next() { lab ber 2,1:+x 1e-5 && tests 0 1,1:+x --seconds 1 && lab ber 2,1:+x 0; }

latency() {
	tests 0 0,1:+x --count 200 --json && lab latency 0,1:+x 5ms && tests 1 0,1:+x --count 200 --json &&
		of_result '.rtt_us.min >= 10000 and .lost == 0 and .verdict == "bad"' &&
		of_result '.reasons | length == 1 and (.[0] | startswith("slow: no round trip took less than 1"))' && lab latency 0,1:+x 0
}

# The test goes on under load, and no packet of the load is lost or duplicated.
under_load() {
	local pid rc=0
	"$bin/fabricctl" lab traffic --name "$lab" -s $((4 * slow)) --rate 2000 1,0 2,0 >"$tmp/traffic" 2>&1 &
	pid=$!
	tests 0 1,0:+x --seconds 2 --rate 10000 || rc=1
	wait "$pid" || { cat "$tmp/traffic"; rc=1; }
	((rc == 0)) && all_came_once && is .table_version "$1"
}

# Excluded links are tested before they are included again.
excluded() {
	ask exclude 1,0:+x >/dev/null && tests 0 1,0:+x --count 100 && ask include 1,0:+x >/dev/null
}

# mgmt_of NODE PORT: how many management packets it has received
mgmt_of() { "$bin/fabricctl" links "$1" --lab "$lab" --json | jq --arg p "$2" '.[] | select(.port == $p) | .mgmt_rx'; }

# A test over a link that goes down meanwhile ends at once.
goes_down() {
	(until_true 10 eval '[[ $(mgmt_of 0,0 +y) -gt 200 ]]'; lab cut 0,0:+y) >/dev/null 2>&1 &
	tests 1 0,0:+y --seconds 60 --json && wait && of_result '.verdict == "bad" and .seconds < 59' &&
		of_result '.reasons | map(test("the link went down: carrier|is not up|link down|not up")) | any' || return 1
	tests 1 0,0:+y && grep "link 0,0:+y is not up, but faulty (carrier): only a link that is up can be tested" "$tmp/said" &&
		lab mend 0,0:+y && until_true 20 is .state running
}

# Ctrl-C ends the test, and shows what was found.
stopped() {
	timeout --preserve-status -s INT 2 "$bin/fabricctl" link test 1,1:+x --seconds 600 --lab "$lab" --json >"$tmp/result" &&
		of_result '.verdict == "good" and .sent > 0 and .seconds < 60' && tests 0 1,1:+x --count 10
}

# Two tests of one link: the second one is refused, that of another link is not.
twice() {
	local pid rc=0
	"$bin/fabricctl" link test 3,0:+y --seconds 600 --lab "$lab" >/dev/null 2>&1 &
	pid=$!
	until_true 10 eval '[[ $(mgmt_of 3,0 +y) -gt 200 ]]' || rc=1
	until_true 10 eval 'tests 1 3,0:+y --count 5 && grep "link 3,[01]:.y is being tested already" "$tmp/said"' || rc=1
	tests 0 1,0:+y --count 5 || rc=1
	kill -INT "$pid"
	wait "$pid"
	return $rc
}

# Interfaces of a lab have neither LEDs nor plugs, and say so at both ends; one that is unplugged, at its own.
no_led() {
	"$bin/fabricctl" link locate 1,0:+x --lab "$lab" >"$tmp/result"
	[[ $? == 1 ]] && cat "$tmp/result" && grep -Fx '1,0:+x (n1-0): px+ cannot blink: its driver has no such function' "$tmp/result" &&
		grep -Fx '2,0:-x (n2-0): px- cannot blink: its driver has no such function' "$tmp/result" &&
		ctl link locate 1,0:+x --off --lab "$lab" >/dev/null || return 1
	"$bin/fabricctl" link locate 1,0:+x --lab "$lab" --json >"$tmp/result"
	[[ $(jq -c 'map([.node, .port, .lower, .state])' "$tmp/result") == '[[[1,0],"+x","px+","failed"],[[2,0],"-x","px-","failed"]]' ]]
}
no_plug() {
	"$bin/fabricctl" link module 1,0:+x --lab "$lab" >"$tmp/result"
	[[ $? == 1 ]] && cat "$tmp/result" && [[ $(grep -c 'cannot read a plug: its driver has no such function$' "$tmp/result") == 2 ]]
}
wrong() {
	tests 2 1,0 && grep "write a node and its port" "$tmp/said" && tests 2 1,0:+z && grep "'+z' is not a port" "$tmp/said" &&
		tests 2 9,0:+x && tests 2 1,0:+x --seconds 0 && tests 2 1,0:+x --size 2000 && tests 2 1,0:+x 2,0:+x &&
		"$bin/fabricctl" link test 1,0:+x --control /nope 2>&1 | grep "/nope: No such file"
}
denied() {
	chmod o+rx "/run/torus/$lab" || return 1
	setpriv --reuid 65534 --regid 65534 --clear-groups "$bin/fabricctl" link test 1,0:+x --control "/run/torus/$lab/0.0/control" 2>"$tmp/said"
	[[ $? == 4 ]] && grep "link test loads a link: only root" "$tmp/said"
}

# Without a manager at the far end nobody echoes.
far_away() {
	lab kill --manager 3,1 && tests 5 2,1:+x && grep "node '3,1' does not answer" "$tmp/said" &&
		tests 0 1,1:+x --count 20
}

check "a lab comes up" up
check "a healthy link passes the test" healthy
check "an idle cable with bit errors is found" bad
check "the cable next to it passes the test" not_the_next
check "the round trip shows latency" latency
check "a test under traffic loses no packet and causes no new table" under_load "$(version)"
check "an excluded link can be tested" excluded
check "a link that goes down ends the test" goes_down
check "Ctrl-C ends the test" stopped
check "a second test of a link is refused" twice
check "locate refuses interfaces without LEDs" no_led
check "module refuses interfaces without plugs" no_plug
check "wrong arguments are refused" wrong
check "users who are not operators are refused" denied
check "a missing manager at the far end is reported" far_away
cleanup
done_testing
