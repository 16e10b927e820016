#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Bad cables, in a lab of real processes: a cable whose receiver counts bit errors is named by
# status, with both ends and the next step, and is good again when it is repaired; a clean fabric
# reports nothing. By option it is taken out of service, but not if a node would be cut off.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=te$$
# Nothing here is about silence; on a busy machine a NIC may have to wait for a processor.
patience+=(--set "silence=$((20 * slow))s" --set "retrain_time=$((2 * slow))s")

# shellcheck disable=SC2317
explain() { "$B/fabricctl" status --lab "$lab"; "$B/fabricctl" links --errors --lab "$lab"; ask events | tail; }

# under A B COMMAND...: traffic between these nodes while COMMAND runs. Neither may fail.
under() {
	local a=$1 b=$2 pid rc=0
	shift 2
	"$bin/fabricctl" lab traffic --name "$lab" -s 8 --rate 2000 "$a" "$b" >"$tmp/traffic" 2>&1 &
	pid=$!
	"$@" || rc=1
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	return $rc
}

warns() { ask status >"$tmp/status"; [[ $? == 3 ]]; }
fine() { ask status >"$tmp/status" && ! grep errors "$tmp/status"; }
errors_of() { ask links --errors "${@:3}" --json | jq -r --argjson n "[$1]" --arg p "$2" '.[] | select(.node == $n and .port == $p)'; }
# judged NODE PORT LEVEL
judged() { [[ $(errors_of "$1" "$2" | jq -r .quality.level) == "$3" ]]; }

up() { lab up 4x2 "${patience[@]}" && until_true 20 is .state running; }
clean() {
	under 2,1 3,1 true && fine &&
		[[ $(ask links --errors --json | jq -c 'map(.quality.level) | unique') == '["good"]' ]] &&
		[[ $(ask links --errors --json | jq 'length') == 32 ]] &&
		! ask events | grep ' errors ' && ask links --errors >"$tmp/errors" &&
		grep -E '^3,1:-x +2,1:\+x +good ' "$tmp/errors" && grep -E '^0,0:\+x +1,0:-x +- ' "$tmp/errors"
}

# A fault is named within 10 s of its begin, on a machine that is not busy.
named() {
	lab ber 2,1:+x "$1" && under 2,1 3,1 until_true $((10 * slow)) warns && cat "$tmp/status" &&
		grep -E '^errors +(3,1:-x \(n3-1\) receives badly from 2,1:\+x \(n2-1\)|2,1:\+x \(n2-1\) receives badly from 3,1:-x \(n3-1\)): [0-9]+ errors' "$tmp/status" &&
		grep "^next  *fabricctl links --errors --lab $lab shows errors and bits of each receiver; clean, reseat or replace the cable, then 'fabricctl exclude' and 'include' it, to have it judged anew\$" "$tmp/status"
}
as_event() { ask events --level warning | grep -E "errors +3,1:-x \('n3-1'\) receives badly from 2,1:\+x \('n2-1'\): "; }
is_bad() {
	ask links --bad >"$tmp/bad"
	[[ $? == 3 ]] && cat "$tmp/bad" && grep '^3,1:-x  *2,1:+x  *up ' "$tmp/bad"
}

# counts OPTION...: `links --errors` while the receiver of the cable is judged bad
counts() {
	ask links --errors "$@"
	[[ $? == 3 ]]
}

# The measured error rate is the injected one, within the errors of so few, and no other cable has
# any.
measured() {
	counts --top 2 && counts --json >"$tmp/list" &&
		[[ $(jq -c '.[0] | [.node, .port, .peer.node]' "$tmp/list") == '[[3,1],"-x",[2,1]]' ]] &&
		jq -e '.[0] | .ber > 5e-7 and .ber < 2e-6 and .ber_min < .ber and .ber < .ber_max' "$tmp/list" &&
		jq -e '[.[2:][] | .errors] | add == 0' "$tmp/list"
}

# A baseline begins the counts anew; one that does not fit is told of.
baseline() {
	local before
	lab ber 2,1:+x 0 && counts --save "$tmp/base" >/dev/null &&
		under 2,1 3,1 true && before=$(errors_of 3,1 -x | jq .errors) && ((before > 0)) &&
		errors_of 3,1 -x --since "$tmp/base" | jq -e '.errors == 0 and .bits > 0 and .restarted == false' &&
		sed 's/"epoch": [0-9]*/"epoch": 7/' "$tmp/base" >"$tmp/old" &&
		errors_of 3,1 -x --since "$tmp/old" | jq -e --argjson n "$before" '.errors >= $n and .restarted' &&
		ask links --errors --since "$tmp/old" | grep '^\* not in the baseline' &&
		counts --since "$tmp/base" --top 1 && ! ask links --errors --since "$TOP/README.md"
}

# With limits at which few bits are enough, a repaired cable is good again after a second.
up_ring() {
	printf '%s\n' '[links]' 'warn_ber = 1e-7' 'fail_ber = 2e-6' 'clean_for = 1s' 'out_of_service = 5' >"$tmp/conf"
	lab down && lab up 3x1 "${patience[@]}" --config "$tmp/conf" && until_true 20 is .state running
}
over() {
	lab ber 0,0:+x 5e-7 && under 0,0 1,0 until_true $((10 * slow)) warns && judged 1,0 -x warn &&
		lab ber 0,0:+x 0 && under 0,0 1,0 true && until_true 10 fine &&
		ask events | grep -E "errors +over: 1,0:-x \('n1-0'\) receives well again from 0,0:\+x \('n0-0'\)"
}
taken_out() {
	lab ber 0,0:+x 1e-5 && under 0,0 1,0 until_true 10 is .links.excluded 1 &&
		is '.orders[0].reason | test("^bit errors: .*e-0[56] measured")' true && until_true 10 is .state running &&
		ask events | grep -E "errors +.* is taken out of service: replace its cable" && all_came_once
}
# The ring has become a line, and a node at its end has one cable left.
kept_in() {
	lab ber 1,0:+x 1e-5 && under 1,0 2,0 until_true 10 told_kept && is .links.excluded 1
}
told_kept() { ask events | grep -E "errors +.* is not taken out of service: without it a node would be cut off"; }
# The link that had to stay must be good before there is another way. A link that is included
# unrepaired would be excluded again; one that is repaired is judged anew.
included() {
	lab ber 1,0:+x 0 && under 1,0 2,0 true && under 2,0 1,0 true && until_true 20 judged 2,0 -x good &&
		until_true 20 judged 1,0 +x good && lab ber 0,0:+x 0 && ask include 0,0:+x &&
		under 0,0 1,0 true && until_true 20 fine && is .links.excluded 0
}

# A repaired link that is included at once, before its receiver is read again, begins anew, too.
at_once() {
	local before
	before=$(told_out)
	lab ber 0,0:+x 1e-5 && under 0,0 1,0 mended_at_once && until_true 20 fine &&
		[[ $(told_out) == $((before + 1)) ]] && is .links.excluded 0
}
mended_at_once() { until_true 10 is .links.excluded 1 && lab ber 0,0:+x 0 && ask include 0,0:+x; }
told_out() { ask events | grep -c ' is taken out of service'; }

check "a lab comes up" up
check "a clean fabric reports nothing under traffic" clean
check "status names a cable with a bit error rate of 1e-6" named 1e-6
check "the cable with bit errors is reported as an event" as_event
check "links --bad lists the cable with bit errors" is_bad
check "links shows the measured bit error rate" measured
check "links --since counts errors from a baseline on" baseline
check "status names a cable with a bit error rate of 1e-5" named 1e-5
check "a ring with its own limits comes up" up_ring
check "a repaired cable is good again" over
check "a failing cable is taken out of service" taken_out
check "the last cable of a node is not taken out of service" kept_in
check "errors of an included cable are counted anew" included
check "errors of a cable that is included at once are counted anew" at_once
cleanup
done_testing
