#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Faults that "fabricctl lab" injects. Each is a row of a table: "fabricctl status" shows it within a
# time, and names one more command, whose output shows the cable or the node and the cause. Latency
# and errors of cables without traffic are found by "fabricctl link test" alone: no status shows them.
#
# FAULTS=slow adds those that take longer: tests/run --faults.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=faults$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"

run=/run/torus/$lab
explain() { "$B/fabricctl" status --lab "$lab"; "$B/fabricctl" lab status --name "$lab"; }

programs() {
	mkdir "$tmp/bin" && cp "$B/fabricctl" "$B/torusemu" "$tmp/bin/" && bin=$tmp/bin && release "$B/fabricd"
}
# release PROGRAM: managers that are started from now on run this program
release() { ln -sf "$1" "$tmp/bin/fabricd"; }

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
	lab pause 2,2 && stopped torusemu && stopped fabricd && exits 1 "" lab status && grep -E "^2,2 .* paused$" "$tmp/.exits" &&
		lab status --json | jq -e '[.nodes[] | select(.paused) | .name] == ["n2-2"]' &&
		exits 6 "no answer in 300 ms" ask links --local --node 2,2 --timeout 0.3 && until_true 20 dead && lab revive 2,2 && until_true 20 calm || return 1
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

# "fabricctl diff" shows what is different since then: not a cable that came back, but an exclusion,
# and another root.
compared() {
	local from
	rest 1 # What the tests before did is not in the second that begins now.
	from=$(date '+%F %T')
	rest 1
	exits 0 'nothing has changed' ask diff "$from" && ask root move 1,0 && until_true 20 calm && lab cut 1,1:+y && lab cut 2,1:+y && until_true 20 is .links.faulty 2 &&
		lab mend 2,1:+y && until_true 20 is .links.faulty 1 && ask exclude 0,1:-y --reason dust || return 1
	until_true 10 differs "$from" && cat "$tmp/diff" || return 1
	ask diff "$from" --json | jq -e '(.links | map([.link.name, .link.port, .was, .is, .times])) == [["n1-1", "+y", "up", "lost", 1]] and
		(.exclusions | map(.order | [.state, .node, .ports, .uid, .by, .reason])) == [["excluded", [0,0], ["+y"], 0, "n0-0", "dust"]] and .root.name == "n1-0"' &&
		lab mend 1,1:+y && ask include 0,0:+y && ask root move 0,0 && until_true 20 calm
}
differs() {
	ask diff "$1" >"$tmp/diff"
	[[ $? == 1 ]] && grep -E '^link +1,1:\+y \(n1-1\) - 1,2:-y \(n1-2\) lost, was up: carrier$' "$tmp/diff" && ! grep '2,1:+y' "$tmp/diff" &&
		grep '^admin *excluded 0,0:+y by root(0)@n0-0, at 2.*: dust$' "$tmp/diff" && grep '^root *n1-0, at ' "$tmp/diff"
}

# --- the table ----------------------------------------------------------------------------

# fault NAME SECONDS INJECT STATUS COMMAND PATTERN MEND: INJECT and MEND are commands; after INJECT the
# status has a line that matches STATUS within SECONDS, and names COMMAND, whose output matches PATTERN.
fault() { check "$1" found "${@:2}"; }
found() {
	local within=$1 inject=$2 status=$3 command=$4 pattern=$5 mend=$6 rc=0
	{ eval "$inject" && until_true "$within" shown "$status" && steps_have "$command" && second "$command" "$pattern"; } || rc=1
	eval "$mend" || rc=1
	return $rc
}
shown() { ask status >"$tmp/status"; grep -E -- "$1" "$tmp/status"; }
# steps_have COMMAND: whether the status names this command, for the same lab, and what to do then
steps_have() {
	ask status --json | jq -e --arg c "fabricctl $1 --lab $lab" '.next[] | select(.command == $c) | .text | length > 10' &&
		grep -E "^(next)? +fabricctl ${1//+/\\+} --lab $lab [a-z]" "$tmp/status"
}
# The words of the command are told apart by blanks, as a reader would type them. "links" with a fault to
# show does not end with 0.
# shellcheck disable=SC2086
second() {
	local rc=0
	ctl $1 --lab "$lab" >"$tmp/second" || rc=$?
	cat "$tmp/second"
	[[ $rc != 0 || $1 != links* ]] || { echo "$1: exit status 0"; return 1; }
	grep -E -- "$2" "$tmp/second"
}

# errors RATE CABLE END FROM TO SECONDS: bit errors of a cable that carries 1 Gbit/s from node to node
errors() {
	fault "bit errors, $1" "$6" "lab ber $2 $1 && loaded $4 $5 $6" "^(errors)? +$3 \\(n.-.\\) receives badly from " \
		'links --errors' "^${2%:*}:.x |^$3 .* (warn|fail)" "lab ber $2 0; unloaded"
}
loaded() {
	"$bin/fabricctl" lab traffic --name "$lab" -s "$(($3 * slow))" --udp --size 60000 --rate 2100 "$1" "$2" >"$tmp/traffic" 2>&1 &
	load=$!
}
unloaded() { kill "$load" 2>/dev/null; wait "$load"; cat "$tmp/traffic"; }

# pings FROM TO...: sends a hundred packets a second from a node to each of the others
pings() {
	local to from=$1
	for to in "${@:2}"; do
		"$bin/fabricctl" lab exec --name "$lab" "$from" -- ping -i 0.01 -q -w $((60 * slow)) "$to" >/dev/null 2>&1 &
		pinging+=("$!")
	done
}
pinging=()
fast() { ! shown 'slow cable'; }
unpinged() { kill "${pinging[@]}"; wait "${pinging[@]}"; pinging=(); }

# tested NAME LINK PACKETS INJECT STATUS PATTERN MEND: with the fault that INJECT makes, the status complains of nothing,
# but "link test LINK" with PACKETS packets ends with STATUS and prints what matches PATTERN; without the fault it ends
# with 0 and prints no such thing.
tested() { check "$1" measured "${@:2}"; }
measured() {
	local link=$1 packets=$2 inject=$3 status=$4 pattern=$5 mend=$6 rc=0
	{ probe "$link" "$packets" 0 && ! matches "$pattern" && eval "$inject" && calm &&
		probe "$link" "$packets" "$status" && matches "$pattern"; } || rc=1
	eval "$mend" || rc=1
	return $rc
}
probe() {
	local rc=0
	ctl link test "$1" --count "$2" --lab "$lab" >"$tmp/probe" || rc=$?
	cat "$tmp/probe"
	[[ $rc == "$3" ]] && grep -F "$1 to " "$tmp/probe"
}
matches() { grep -E -- "$1" "$tmp/probe"; }

# Both ends ask for another retry protocol, and the link begins a session.
mismatch() { ctl link retry 0,2:+y acknak --lab "$lab" && ctl link retry 0,0:-y hippi --lab "$lab" && lab cut 0,2:+y && lab mend 0,2:+y; }
# The cable is lost again and again, until it is held down.
flaps() {
	for _ in {1..20}; do
		lab cut 1,2:+x && until_true 5 link_is faulty && lab mend 1,2:+x && until_true 5 link_is up || return 1
		! shown ' flap: ' || return 0
	done
	return 1
}
link_is() { [[ $(ask links 1,2 --json | jq -r '.[] | select(.port == "+x") | .state') == "$1" || $1 != up && $(ask links 1,2 --json | jq -r '.[] | select(.port == "+x") | .state') != up ]]; }

# with NODE SED: its manager begins anew with a changed configuration, and without waiting for it
with() {
	local conf=$run/${1//,/.}/fabricd.conf
	lab kill --manager "$1" && sed -i "$2" "$conf" && lab revive --no-wait "$1"
}
wrong_key() { (umask 077 && echo "this is another key altogether" >"$tmp/key") && with 2,2 "s|^key_file.*|key_file = $tmp/key|"; }
right_key() { with 2,2 "s|^key_file.*|key_file = $run/key|"; }
other_release() { release "$B/tests/netns/fabricd_prev" && lab kill --manager 1,2 && lab revive --no-wait 1,2; }
same_release() { release "$B/fabricd" && lab kill --manager 1,2 && lab revive --no-wait 1,2; }
full_disk() { mount -t tmpfs -o size=4k none "$run/0.0/state" && echo >"$run/0.0/state/other" && ask exclude 1,0:+x; }
empty_disk() { umount "$run/0.0/state" && ask include 1,0:+x; }
rootless() { local n; for n in 0,0 1,0 2,0 0,1 1,1; do lab kill --manager "$n" || return 1; done; }

check "programs are prepared" programs
check "a lab comes up" up
check "lab swap exchanges the far ends of cables" swaps
check "lab silence --one-way drops what one end sends" one_way
check "lab pause stops a node, for a time or until lab revive" pauses

check "diff shows what has changed since a time" compared

# A round trip has the latency twice; 2000 packets of 1 KiB are 16 Mbit each way, of which 1e-5 damages over a
# hundred. Afterwards the receivers may be judged by these errors.
tested "latency of an idle cable" 0,2:+x 300 'lab latency 0,2:+x 50ms' 1 '^ +slow: no round trip took less than 10[0-9] ms' 'lab latency 0,2:+x 0'
tested "bit errors of an idle cable" 1,1:+y 2000 'lab ber 1,1:+y 1e-5' 1 '^ +bit errors: (1,1:\+y|1,2:-y) received [0-9]+ damaged packets' 'lab ber 1,1:+y 0'
errors 1e-5 0,0:+x 1,0:-x 0,0 1,0 10
errors 1e-7 0,1:+x 1,1:-x 0,1 1,1 10
if [[ ${FAULTS-} == slow ]]; then
	errors 1e-6 2,0:+x 0,0:-x 2,0 0,0 10
	errors 1e-8 2,1:+x 0,1:-x 2,1 0,1 30
	errors 1e-9 2,2:+x 0,2:-x 2,2 0,2 200
fi
# With both cables of a node in use, the slow one differs from the other.
fault "a slow cable" 10 'pings 2,0 n2-1 n0-0 && lab latency 2,0:+y 25ms' '^(errors)? +(2,0:\+y|2,1:-y) \(n2-.\) has a slow cable to .*: round trip 5[0-9.]+ ms, elsewhere' \
	'link test 2,0:+y' '^ +slow: no round trip took less than 5' 'lab latency 2,0:+y 0; until_true 10 fast; unpinged'
fault "a silent cable" 10 'lab silence 1,1:+x' '^(faulty)? +1,1:\+x \(n1-1\) - 2,1:-x \(n2-1\) (silence|peer|retry)' \
	'links --bad' '^1,1:\+x +2,1:-x +[a-z]+ \((silence|peer|retry)' 'lab silence 1,1:+x off'
fault "a cable silent in one direction" 10 'lab silence --one-way 1,0:+y' '^(faulty)? +1,0:\+y \(n1-0\) - 1,1:-y \(n1-1\) (silence|peer|retry)' \
	'links --bad' '^1,1:-y +1,0:\+y +[a-z]+ \((silence|peer|retry)' 'lab silence 1,0:+y off'
fault "swapped cables" 10 'lab swap 2,0:+y 0,1:+y' '(problems)? +wiring: 2,0:\+y \S+ is cabled to 0,2:-y \S+ expected 2,1:-y' \
	cabling '^move the end at 0,2:-y \(n0-2\) to 2,1:-y' 'lab swap 2,0:+y 0,1:+y'
fault "dead lanes" 10 'lab line 2,1:+x --length 300 --dead 3,7' '^(lines)? +0,1:-x \(n0-1\) from 2,1:\+x \(n2-1\): 10 of 12 lanes' \
	'links --bad' '^0,1:-x +2,1:\+x +up .* 10/12' 'lab line 2,1:+x --dead none'
fault "parameters that do not match" 10 mismatch '^(faulty)? +0,2:\+y \(n0-2\) - 0,0:-y \(n0-0\) mismatch' \
	'links --bad' '^0,2:\+y +0,0:-y +init \(mismatch: retry=acknak, peer hippi\)' 'lab retry 0,2:+y auto'
fault "a node that hangs" 10 'lab pause 2,2' '^(faulty)? +4 cables of 2,2 \(n2-2\), which is dead' \
	'links --bad' '^2,1:\+y +2,2:-y +[a-z]+ \(' 'lab revive 2,2'
fault "a wrong key" 10 wrong_key "^(problems)? +node: node 2,2 \\('n2-2'\\) is silent" \
	'events --level warning --kind seal,release,nic,fabric,node' 'port (\+x of node 1,2|\+y of node 2,1): .*without the seal of this fabric' right_key
fault "old software" 10 other_release "^(problems)? +release: .*'n1-2' .* up to" nodes '^1,2 +n1-2 +up ' same_release
fault "a full disk" 10 full_disk '^(problems)? +(state|history): .*/0.0/state: No space left' root '^0,0 +n0-0 .* fails' empty_disk
fault "a cable that flaps" 10 flaps '^(problems)? +flap: the link from 1,2:\+x ' outages '^1,2:\+x +n1-2 +2,2:-x .* carrier ' :
fault "no root" 10 rootless '^root +none for ' root '^(2,2|1,2|0,2|2,1) .* answers' :
check "a packed lab refuses what it cannot do" not_packed
done_testing
