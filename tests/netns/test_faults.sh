#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Faults that "fabricctl lab" injects, and that an administrator finds by "fabricctl status" and one
# more command.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=faults$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"

explain() { "$B/fabricctl" status --lab "$lab"; "$B/fabricctl" lab status --name "$lab"; }

up() { lab up 3x3 "${patient[@]}" "$@" && until_true 20 calm; }
calm() { is '.state == "running" and .problems == [] and .degraded_links == []' true; }

# --- injectors ----------------------------------------------------------------------------

# leads_to END: what the manager of 0,0 sees at the other end of the cable in 0,0:+x
leads_to() { [[ $(ask links 0,0 --json | jq -r '.[] | select(.port == "+x") | .peer | "\(.node[0]),\(.node[1]):\(.port)"') == "$1" ]]; }
# swapped NODE...: the nodes of which lab status tells swapped ports
swapped() { [[ $(lab status --json | jq -r '[.nodes[] | select(.swapped != []) | .name] | join(" ")') == "$*" ]]; }

# Ports of the same and of different names; a cable elsewhere can be cut and mended, and comes back.
swaps() {
	lab swap 0,0:+x 1,1:+x && swapped n0-0 n1-0 n1-1 n2-1 && until_true 20 leads_to 2,1:-x &&
		lab status | grep -E '^0,0 .*\+x leads to 2,1:-x$' &&
		lab cut 2,1:-x && lab status --json | jq -e '[.nodes[] | select(.cut != []) | .name] == ["n0-0", "n2-1"]' &&
		exits 2 "is cut: 'fabricctl lab mend' it first" lab swap 1,0:+x 0,0:+x && lab mend 0,0:+x &&
		lab swap 0,0:+x 1,1:+x && swapped && until_true 20 leads_to 1,0:-x && until_true 20 calm &&
		lab swap 0,0:+x 2,2:-y && until_true 20 leads_to 2,1:+y && lab swap 0,0:+x 2,2:-y && swapped &&
		until_true 20 calm
}

# reason END: why the link is down, as this end tells
why_down() { [[ $(ask links "${1%:*}" --json | jq -r --arg p "${1#*:}" '.[] | select(.port == $p) | .reason') == "$2" ]]; }
# The end that sends nothing hears from its peer that this one hears nothing.
one_way() {
	lab silence --one-way 0,1:+y && lab status | grep -E '^0,1 .*\+y sends nothing$' && until_true 20 why_down 0,2:-y silence &&
		lab status --json | jq -e '[.nodes[].faults[] | select(.silence) | .one_way] == [true]' &&
		lab silence 0,1:+y off && until_true 20 calm &&
		lab silence 0,1:+y && lab status --json | jq -e '[.nodes[].faults[] | select(.silence) | .one_way] == [false, false]' &&
		lab silence 0,1:+y off && until_true 20 calm
}

stopped() { grep -q '^State:.*stopped' "/proc/$(cut -d ' ' -f 1 "/run/torus/$lab/2.2/$1.pid")/status"; }
dead() { is '.problems[] | select(.kind == "node") | .text | contains("2,2")' true; }
pauses() {
	lab pause 2,2 && stopped torusemu && stopped fabricd && until_true 20 dead && lab revive 2,2 && until_true 20 calm || return 1
	"$bin/fabricctl" lab pause --name "$lab" 2,2 600 &
	local pid=$!
	until_true 10 stopped fabricd && until_true 20 dead && lab ber 0,0:+x 0 && kill "$pid" && wait "$pid" &&
		! stopped fabricd && ! stopped torusemu && until_true 20 calm && lab pause 2,2 0.05 && ! stopped fabricd &&
		lab kill 2,2 && exits 5 "lab revive" lab pause 2,2 && lab revive 2,2 && until_true 20 calm
}
not_packed() {
	lab=${lab}p
	lab up 2x2 --packed && exits 2 "is packed: its cables lie in one process" lab swap 0,0:+x 0,0:+y &&
		exits 2 "is packed: its nodes share processes" lab pause 1,1
	local rc=$?
	lab down
	lab=${lab%p}
	return $rc
}

check "a lab comes up" up
check "lab swap exchanges the far ends of cables" swaps
check "lab silence --one-way drops what one end sends" one_way
check "lab pause stops a node, for a time or until lab revive" pauses
check "what a packed lab cannot do is told" not_packed
done_testing
