#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The root of a lab, and another node, record their inputs and actions while a cable is cut and a
# link is excluded. The simulator plays it again, action by action, and notices a changed line.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=rec$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

settled() { is .state running && is '[.nodes.up, .links.up] | @csv' 9,18; }

# The manager of a node, once more, and recording
records() {
	local at=${1//,/.}
	lab kill "$1" --manager || return
	"$B/fabricctl" lab exec --name "$lab" "$1" -- "$B/fabricd" --config "$run/$at/fabricd.conf" \
		--record "$tmp/$at.rec" >"$tmp/$at.log" 2>&1 &
	until_true 20 settled
}

cut_and_mended() {
	lab cut 1,1:+x && until_true 20 is .links.faulty 1 && lab mend 1,1:+x && until_true 20 settled
}

excluded_and_included() {
	ask exclude 2,2:+y && until_true 20 is .links.excluded 1 && ask include 2,2:+y &&
		until_true 20 settled
}

replay() { "$B/fabricsim" replay "$@" >"$tmp/out" 2>&1; }
counts() { jq -r "$1" "$tmp/out"; }

# plays NODE MANAGERS: all that it recorded, the same; it did much, and began that often
plays() {
	replay "$tmp/$1.rec" --json || { cat "$tmp/out"; return 1; }
	[[ $(counts '.same, .managers') == $'true\n'"$2" ]] && (($(counts .events) > 20 && $(counts .actions) > 20))
}

reports() {
	replay "$tmp/0.0.rec" && grep "recovery: version . in force" "$tmp/out" && tail -n 1 "$tmp/out" | grep -F "as recorded"
}

# A recording has no secret in it, but names and addresses: it is for its owner alone.
for_its_owner() { [[ $(stat -c %a "$tmp/0.0.rec") == 600 ]]; }

# changed SED STATUS TEXT: a copy that sed has changed ends with that status and says so
changed() {
	sed "$1" "$tmp/0.0.rec" >"$tmp/copy"
	! cmp -s "$tmp/0.0.rec" "$tmp/copy" || return 1
	replay "$tmp/copy"
	[[ $? == "$2" ]] && grep -F -- "$3" "$tmp/out"
}

# The line before which the version of the first table stands
first() { grep -n -m 1 "$1" "$tmp/0.0.rec" | cut -d: -f1; }

# Prints the line of the first message which the root answered: earlier ones may have come too
# early, and are sent again.
taken() {
	awk '/"event":/ { at = /"event":"msg"/ ? NR : 0 } at && /"do":"send"/ { print at; exit }' \
		"$tmp/0.0.rec"
}

cut_short() {
	head -c -20 "$tmp/0.0.rec" >"$tmp/copy"
	replay "$tmp/copy" --json && [[ $(grep -c "cut short" "$tmp/out") == 1 ]]
}

until_then() {
	replay "$tmp/0.0.rec" --json || return
	local all
	all=$(counts .events)
	replay "$tmp/0.0.rec" --json --until 100ms && (($(counts .events) < all && $(counts .events) > 0)) &&
		jq -e '.seconds <= 0.1' "$tmp/out"
}

check "a lab comes up" lab up 3x3 --service 172.29.0.0/16
check "the root's manager restarts and records" records 0,0
check "another node's manager restarts and records" records 1,1
check "a cable is cut and mended" cut_and_mended
check "a link is excluded and included" excluded_and_included
check "the lab ends" lab down
check "replaying the root's recording gives the same actions" plays 0.0 1
check "the replay gives the same reports" reports
check "replaying the other node's recording gives the same actions" plays 1.1 1
check "only its owner may read a recording" for_its_owner
check "a changed action is noticed" changed "$(first '"do":"release"')s/\"version\":/\"version\":1/" 1 "does another thing now"
check "a missing action is noticed" changed "$(first '"do":"release"')d" 1 "does another thing now"
check "an additional action is noticed" changed "$(first '"do":"release"')p" 1 "does not do this now"
check "a missing end of an action is noticed" changed "$(first '"event":"done"')d" 1 "now"
check "a recording of another format is refused" changed '1s/"format":[0-9]*/"format":1/' 2 "a fabricd of another version wrote this"
check "an additional action at the end of an event is noticed" changed "$(first '"event":"timer"')i $(grep -m 1 '"do":"release"' "$tmp/0.0.rec")" 1 "now"
check "a missing event is noticed" changed "$(taken)d" 1 "now"
check "an event without its time is refused" changed "$(first '"event":"msg"')s/\"now\":[0-9]*,//" 2 "not an event of a manager"
check "a malformed message is refused" changed "$(first '"event":"msg"')s/\"data\":\"../\"data\":\"ff/" 2 "not an event of a manager"
check "a line that is no JSON is refused" changed "$(first '"event":"timer"')s/{/{{/" 2 "copy:"
check "time that goes backwards is refused" changed "$(first '"event":"timer"')s/\"now\":[0-9]*/\"now\":1/" 2 "goes backwards"
check "a line cut short by a crash is left out" cut_short
check "a part of a recording can be replayed" until_then
check "a missing file is refused" exits 2 "No such file" "$B/fabricsim" replay "$tmp/none"
check "an empty file is refused" exits 2 "no recording" "$B/fabricsim" replay /dev/null
{ echo "service_address = 192.0.2.1:7117" && cat "$TOP/daemon/fabricd.conf"; } >"$tmp/conf"
check "a recording that cannot be written is refused" exits 2 "No such file" "$B/fabricd" --config "$tmp/conf" \
	--record "$tmp/none/file"
done_testing
