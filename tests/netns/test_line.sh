#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cables that get worse, in a lab of real processes: under traffic receivers retrain, shed lanes
# and slow down before a link fails, and no packet is lost; the administrator can see all of
# this. With TORUS_BACKEND=kernel, on a machine that has the driver: the same with NICs of the
# kernel, without what only managers and fabricctl do.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=tn$$
seconds=6
[[ ${TORUS_BACKEND:-user} == user ]] || seconds=3

# shellcheck disable=SC2317
explain() { "$B/fabricctl" status --lab "$lab"; "$B/fabricctl" links --lab "$lab"; }

# of NODE PORT FILTER: what links --json shows for that end
of() {
	ask links "$1" --json | jq -r --arg port "$2" '.[] | select(.port == $port) | '"$3"
}

is_of() { [[ $(of "$1" "$2" "$3") == "$4" ]]; }
faulty_ns() { of 0,0 +x .ns_faulty; }

# under COMMAND...: traffic over the link 0,0:+x, meanwhile COMMAND. Neither may fail, and
# the link must not. The rate leaves processor time for everything else.
under() {
	local pid rc=0 faulty
	faulty=$(faulty_ns)
	"$bin/fabricctl" lab traffic --name "$lab" -s "$seconds" --rate 1000 0,0 1,0 >"$tmp/traffic" 2>&1 &
	pid=$!
	"$@" || rc=1
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	[[ $(faulty_ns) == "$faulty" ]] || { echo "0,0:+x was faulty"; rc=1; }
	return $rc
}

# On a busy machine an end that trains may have to wait for a processor, while the other end
# waits for it. No test here is about silence.
patience+=(--set "silence=$((20 * slow))s" --set "retrain_time=$((2 * slow))s")

up() {
	lab up 3x2 "${patience[@]}" && until_true 20 is '[.state, (.degraded_links | length)] | join(" ")' "running 0" &&
		is_of 0,0 +x .peer_rate 75000
}

says_modelled() { ask links | grep 'modelled lines' && is_of 0,0 +x .line.length 0; }

# Without taps no mask fits there; with both sides trained all lanes work at the full rate.
longer() {
	lab line 0,0:+x --length 600 --class dac26 &&
		until_true 10 eye_trained 0,0 +x && until_true 10 eye_trained 1,0 -x &&
		is_of 0,0 +x '.width' 12 && is_of 0,0 +x '.rate == .rate_max' true
}
eye_trained() { is_of "$1" "$2" '.state == "up" and .margin < 400 and .lane[3].pre + .lane[3].post > 0' true; }

# Both sides of the cable are set, and both are shown.
both_sides() {
	is_of 0,0 +x '.lane | all(.[]; .ctle + .dfe > 0)' true &&
		ctl links 0,0 --all --lab "$lab" | grep -E 'lane 3 .* taps [0-9]+, [0-9]+  receiver [0-9]+, [0-9]+  eye'
}

# The margin is that of the smaller side of the eye; the mask is 60 mV and 100 mUI.
lanes_right() {
	is_of 0,0 +x '.lane | all(.[]; ([.height * 100 / 60, .width] | min) - .margin | fabs <= 3)' true &&
		is_of 0,0 +x '.lane | length' 12 &&
		is_of 0,0 +x '[.lane[] | .state == "on" and .rate == 6250 and .margin >= 100
			and .ber <= 1e-12] | all' true &&
		is_of 0,0 +x '.margin == ([.lane[].margin] | min)' true
}

# As many bit errors an hour as rate and width times the error rate: 270 at 75 Gb/s and 1e-12.
errors_an_hour() {
	local want
	want=$(ctl links 0,0 --lab "$lab" --json | jq -r '.[] | select(.port == "+x") |
		([.line_ber, 1] | max) * 1e-18 * .rate * 1e6 * .width * 3600')
	ctl links 0,0 --all --lab "$lab" | awk -v want="$want" '
		/^ .*0,0:\+x to / || /^0,0:\+x to / { at = 1 }
		at && /bit errors an hour expected/ { sub(/fewer than /, ""); print; exit !(want > 0 && ($1 / want - 1) ^ 2 < 1e-4) }'
}

# Lanes die one after another; each is shed, the others go on.
lanes_die() {
	local dead
	for dead in 0 0,5 0,5-6; do
		lab line 0,0:+x --dead $dead || return 1
		until_true 10 is_of 0,0 +x '[.lane[] | select(.state == "dead")] | length' \
			"$(lanes_of $dead)" || return 1
	done
	until_true 10 is_of 0,0 +x '.lanes_shed' 3 && until_true 10 is_of 1,0 -x '.width' 9 &&
		until_true 10 is_of 0,0 +x .peer_rate 56250 && until_true 10 is_of 1,0 -x .peer_rate 56250
}
lanes_of() { case $1 in 0) echo 1 ;; 0,5) echo 2 ;; *) echo 3 ;; esac; }

told() { ask events | grep 'line 0,0:+x: 9 of 12 lanes'; }

both_named() {
	is '.degraded_links | map("\(.node | map(tostring) | join(",")):\(.port) \(.width)") | sort | join(" ")' \
		"0,0:+x 9 1,0:-x 9"
}
named() {
	until_true 10 both_named &&
		ask status | grep '^lines  *0,0:+x (n0-0) from 1,0:-x (n1-0): 9 of 12 lanes at 6250 of 6250 Mb/s' &&
		until_true 10 told && warns
}
warns() { ask status >/dev/null; [[ $? == 3 ]]; }

# The root keeps the list: a restarted root learns it again.
named_anew() { lab kill 0,0 --manager && lab revive --timeout $((60 * slow)) 0,0 && until_true 10 both_named; }

# The loss of the cable has ended the report; when it is back, the line is reported again.
reported_again() {
	local before
	before=$(reports)
	lab cut 0,0:+x && until_true 10 is_of 0,0 +x '.state != "up"' true && lab mend 0,0:+x &&
		until_true 10 is_of 0,0 +x '.state == "up" and .width == 9' true &&
		until_true 10 has_reports $((before + 2)) && ctl diff -1h now --lab "$lab" --json |
		jq -e '.problems | map(select(.kind == "line") | .text | select(contains("9 of 12"))) | length == 2'
}
has_reports() { (($(reports) == $1)); }
# Reports of the cable's two lines.
reports() { ask events --kind line | grep -cE 'warning +line +line (0,0:\+x|1,0:-x): 9 of 12 lanes'; }

# A restarted manager tells the root what has changed, so that the root forgets the old state.
# Both NICs see the cut before it is mended; one that does not would not train anew.
forgotten() {
	local before
	before=$(losses)
	lab line 0,0:+x --dead 0 && until_true 10 narrow && lab kill 1,0 --manager &&
		lab line 0,0:+x --dead none && lab cut 0,0:+x &&
		until_true 10 is_of 0,0 +x '.state != "up"' true && until_true 10 lost_again "$before" && lab mend 0,0:+x &&
		until_true 10 is_of 0,0 +x '.state == "up" and .width == 12' true &&
		lab revive --timeout $((60 * slow)) 1,0 && until_true 10 whole
}
losses() { grep -c 'port -x: up -> ' "/run/torus/$lab/1.0/torusemu.log"; }
lost_again() { (($(losses) > $1)); }
narrow() { is '.degraded_links | map(select(.width < 12) | .node[0]) | sort | join(" ")' "0 1"; }
whole() { is '.degraded_links | map(select(.width < 12)) | length' 0; }

# A repaired line gets its lanes back by a retraining, in each direction.
widened() {
	lab line 0,0:+x --dead none && ctl link retrain 0,0:+x --lab "$lab" &&
		until_true 10 is_of 0,0 +x .width 12 && ctl link retrain 1,0:-x --lab "$lab" &&
		until_true 10 is_of 1,0 -x .width 12 &&
		until_true 10 whole && until_true 10 told_end
}
# The root's history has the end of what another node noticed.
told_end() { ask events --kind line --of 1,0 | grep 'over: line 1,0:-x: 12 of 12 lanes'; }

# All lanes get worse together: the rate falls.
warms() {
	lab line 0,0:+x --length 950 --temperature 90 &&
		until_true 10 is_of 0,0 +x '.rate < .rate_max and .width > 0 and .state == "up"' true
}

# Lanes age beyond use within seconds; they are shed before errors reach a user.
ages() {
	lab line 0,0:+x --length 400 --temperature 20 --dead none --ageing 2500 --aged 2,7 &&
		until_true 10 is_of 0,0 +x \
			'.lane | [.[2, 7].state] == ["poor", "poor"] and .[3].state == "on"' true
}

eye() {
	ctl link eye 0,0:+x --lab "$lab" --lane 3 >"$tmp/eye" && grep ooooo "$tmp/eye" &&
		ctl link eye 0,0:+x --lab "$lab" --lane 3 --json |
		jq -e '[.lane, .mask_height, .mask_width] == [3, 60, 100]' &&
		ctl link eye 0,0:+x --lab "$lab" --lane 3 --svg "$tmp/eye.svg" &&
		python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/eye.svg" && grep -q polygon "$tmp/eye.svg"
}

revived() {
	lab kill 1,0 && lab revive --timeout $((60 * slow)) 1,0 &&
		until_true 10 is_of 1,0 -x '.line.length == 400 and .line.aged == 132' true &&
		is_of 1,0 -x '[.line.loss, .line.crosstalk] == [2000, 10]' true && until_true 10 as_asked
}
# The list has links that received errors, too, as one whose lanes die: these are left out.
reduced='map(select(.width < .lanes or .rate < .rate_max or .margin < .margin_train))'
# For a NIC that restarted the list shows what that NIC reports.
as_asked() {
	[[ $(ask status --json | jq -c ".degraded_links | $reduced | map([.node, .port, .width])") == \
		"$(ask links --json | jq -c "map(select(.state == \"up\")) | $reduced | map([.node, .port, .width])")" ]]
}

# No lane is left: the link fails, traffic takes another path, and the link returns by itself.
dies_and_returns() {
	lab line 0,0:+x --dead all && until_true 10 is_of 0,0 +x '.state' faulty &&
		is_of 0,0 +x '.train_failures > 0' true && until_true 10 is .state degraded &&
		answered lab exec 0,0 -- ping -q -c 3 -W 30 n1-0 &&
		lab line 0,0:+x --length 0 --dead none --ageing 0 --aged none &&
		until_true 20 is .state running && until_true 10 is ".degraded_links | $reduced | length" 0
}

# Thresholds are parameters. The line is laid while it is cut: no eye of the settings before is looked
# at. A margin that training would not accept is reported before it is
# used up.
thin() {
	lab up 2x2 "${patience[@]}" --set margin_train=200 && lab cut 0,0:+x &&
		lab line 0,0:+x --length 570 --class dac26 && lab mend 0,0:+x && until_true 20 is .state running &&
		until_true 10 is_of 0,0 +x '.state == "up" and .width == 12 and .margin >= 200' true &&
		until_true 10 is ".degraded_links | $reduced | length" 0 && lab line 0,0:+x --temperature 110 &&
		until_true 10 is_of 0,0 +x '.margin < .margin_train' true &&
		until_true 10 is '.degraded_links | map(.width) | join(" ")' "12 12" && is_of 0,0 +x .eye_retrains 0
}

# With pace=100 a line of one lane, 6,250 Mb/s, carries 62.5 Mb/s: by the NIC's own clock, and so
# however busy the machine is.
paced() {
	lab up 3x1 "${patience[@]}" --set pace=100 && lab line 0,0:+x --dead 0-10 &&
		until_true 20 is_of 0,0 +x '.state == "up" and .peer_rate == 6250' true &&
		until_true 20 is_of 1,0 -x '.state == "up" and .peer_rate == 6250' true || return 1
	of 0,0 +x '"\(.tx_bytes) \(.ns_up)"' >"$tmp/paced" && lab traffic -s 3 --tcp 0,0 1,0 &&
		of 0,0 +x '"\(.tx_bytes) \(.ns_up)"' >>"$tmp/paced" || return 1
	awk 'NR == 1 { bytes = $1; ns = $2 }
		NR == 2 { mbps = ($1 - bytes) * 8000 / ($2 - ns); print mbps " Mb/s"; exit !(mbps > 0 && mbps < 63) }' "$tmp/paced"
}

check "a lab is up" up || exit $failed
check "the output states that lines are modelled" says_modelled
check "a link trains for a longer cable under traffic" under longer
check "the equaliser of each lane is trained, and shown" both_sides
check "each lane has state, rate, margin and expected errors" lanes_right
check "the expected errors per hour are shown" errors_an_hour
check "lanes that die are shed under traffic" under lanes_die
check "status, links and events show lost lanes" named
check "a line that is still reduced is reported again when its cable is back" reported_again
[[ ${TORUS_BACKEND:-user} != user ]] || check "a restarted root shows them as well" named_anew
check "lanes come back by a retraining, under traffic" under widened
[[ ${TORUS_BACKEND:-user} != user ]] || check "reports from before a manager's restart are forgotten" forgotten
check "a warm cable gets a lower rate, under traffic" under warms
check "ageing lanes are shed before they cause errors, under traffic" under ages
check "fabricctl eye draws an eye" eye
check "a revived NIC has the cables that the others have" revived
check "a line without lanes fails, and returns" dies_and_returns
check "lab down works" lab down
if [[ ${TORUS_BACKEND:-user} == user ]]; then
	check "a thin margin is reported before it is used up" thin
	check "lab down works again" lab down
fi
check "a link with fewer lanes is slower if NICs pace" paced
check "lab down works with pacing NICs" lab down
done_testing
