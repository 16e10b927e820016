#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packed labs: the NICs of a 3x3x3 in one process, cables in memory, and a manager for each NIC.
# Every lab command works on them or says why it does not; nothing is left behind. Then a 3x3
# whose nodes have a torus0: no traffic is lost through faults. First the plain build, then 3x2s
# with sanitizers.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
B_SAN=${B_SAN:-$TOP/build-san}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=pk$$
run=/run/torus/$lab

nic() { "$B/tests/netns/nictool" "$run/${1//,/.}/nic.sock" "${@:2}"; }

# shellcheck disable=SC2317
explain() {
	tail -n 5 "$run/torusemu.log"
	"$bin/fabricctl" status --lab "$lab"
	"$bin/fabricctl" lab status --name "$lab"
}

running() { is '[.state, .nodes.up, .links.up] | join(" ")' "running $nodes $links"; }
settled() { is .state degraded && ask verify; }
lab_is() { [[ $(lab status --json | jq -c "$1") == "$2" ]]; }
pack() { cut -d' ' -f1 "$run/torusemu.pid"; }
link_is() { [[ $(nic "$1" state "$2") == "$3 "* ]]; }
# Ports by number: +x is 0, -x the number of dimensions.
back() { echo "${shape//[^x]/}" | awk '{ print length($0) + 1 }'; }

# --- bring-up -----------------------------------------------------------------------

raise() { lab up "$shape" --packed "${patience[@]}"; }
revive() { lab revive --timeout $((60 * slow)) "$@"; }

up_right() {
	raise && until_true 20 running && is .links.total "$links" &&
		until_true 20 is '.problems | length' 0 && verified
}

# A packed lab has one process and one namespace, and a socket and a manager for each node.
one_of_each() {
	local pids
	pids=$(lab status --json | jq '[.nodes[].nic] | unique | length')
	[[ $pids == 1 && $(lab status --json | jq '[.nodes[].manager] | unique | length') == "$nodes" ]] ||
		return 1
	[[ $(pgrep -fc "torusemu.*$run/") == 1 ]] || return 1
	[[ $(ip netns list | grep -c "^$lab-") == 1 ]] || return 1
	[[ $(find "$run" -name nic.sock | wc -l) == "$nodes" ]] && lab_is .packed true
}

# Managers wait for NICs, so the process of all NICs goes before them; by the nice value of its
# session, too, where the kernel has autogroups.
nics_first() {
	[[ -z $(nice -n -20 true 2>&1) ]] || { say "this user may not raise priorities"; return 0; }
	[[ $(nice_of "$(pack)") == "-20 -20" ]] &&
		[[ $(nice_of "$(cut -d' ' -f1 "$run/${aside//,/.}/fabricd.pid")") == "-10 -10" ]]
}
nice_of() {
	local group=/proc/$1/autogroup nice
	nice=$(ps -o ni= -p "$1" | xargs)
	echo "$nice $([[ -e $group ]] && awk '{ print $3 }' "$group" || echo "$nice")"
}

each_answers() {
	local n all
	all=$(places)
	[[ $(wc -w <<<"$all") == "$nodes" ]] || { echo "nodes are: $all"; return 1; }
	for n in $all; do
		until_true 10 knows_itself "$n" && until_true 10 knows_its_links "$n" || return 1
	done
}
places() { lab hosts --json | jq -r '.[].node | map(tostring) | join(",")'; }
knows_itself() { [[ $(ask status --node "$1" --json | jq -c .own.node) == "[$1]" ]]; }
knows_its_links() { [[ $(ask links --node "$1" "$1" --json | jq length) == $((2 * links / nodes)) ]]; }

on_a_node() {
	[[ $(lab exec 1,"$rest" -- sh -c 'hostname; echo $TORUS_NODE' | xargs) == "n1-${rest//,/-} 1,$rest" ]] &&
		exits 7 '' lab exec 1,"$rest" -- sh -c 'exit 7' &&
		until_true 10 lab exec 1,"$rest" -- "$bin/fabricctl" status
}

# --- cables -------------------------------------------------------------------------

cut_and_mend() {
	lab cut 0,"$rest":+x && until_true 10 settled && until_true 10 is .links.faulty 1 &&
		until_true 10 link_is 0,"$rest" 0 faulty && until_true 10 link_is 1,"$rest" "$(back)" faulty &&
		exits 1 '+x' lab status || return 1
	lab mend 0,"$rest":+x && until_true 10 running && verified && until_true 10 lab status
}

# By its other end; and in a dimension of two nodes both cables exist.
other_end() {
	lab cut 1,"$rest":-x && until_true 10 link_is 0,"$rest" 0 faulty &&
		lab mend 0,"$rest":+x && until_true 10 running
}

silence() {
	lab silence 0,"$rest":+x && until_true 10 link_is 1,"$rest" "$(back)" faulty &&
		until_true 10 settled && lab silence 0,"$rest":+x off && until_true 10 running
}

# For longer than links may be silent ("patience"). The NICs and the cables stand still together, so
# no link is lost. The log names those that were lost in the test before.
stopped() {
	local pid before state
	pid=$(pack) before=$(silences)
	((before > 0)) || { echo "no link was ever silent in the log"; return 1; }
	kill -STOP "$pid" || return
	sleep $((2 * slow)).7
	state=$(awk '/^State/ { print $2 }' "/proc/$pid/status")
	kill -CONT "$pid" || return
	[[ $state == T ]] || { echo "process $pid was in state '$state'"; return 1; }
	until_true 10 running && verified && [[ $(silences) == "$before" ]]
}
silences() { grep -c '(reason: silence)' "$run/torusemu.log"; }

faults() {
	local before
	before=$(cable_errors) || return 1
	lab ber 0,"$rest":+x 1e-4 && lab latency 0,"$rest":+x 200us &&
		lab_is '[.nodes[].faults[] | [.latency_ns, .ber]] | unique' '[[200000,0.0001]]' || return 1
	until_true 10 noisy "$before" && until_true 20 running || return 1
	lab ber 0,"$rest":+x 0 && lab latency 0,"$rest":+x 0 && lab_is '[.nodes[].faults[]]' '[]'
}
# noisy ERRORS: whether the two ends of the cable count more errors than these
noisy() { (($(cable_errors) > $1)); }
cable_errors() { ask links --json | jq --argjson ends "[[0,$rest,\"+x\"],[1,$rest,\"-x\"]]" '
	map(select([.node[], .port] | IN($ends[])) | .crc_errors + .seq_errors) | if length == 2 then add else error("no such ends") end'; }

# of_x FILTER WANT: whether the links show this for 0,$rest:+x
of_x() { [[ $(x "$1") == "$2" ]]; }
x() { ask links 0,"$rest" --json | jq -r '.[] | select(.port == "+x") | '"$1"; }

retry() {
	lab retry 0,"$rest":+x hippi && lab cut 0,"$rest":+x &&
		until_true 10 link_is 0,"$rest" 0 faulty && lab mend 0,"$rest":+x &&
		until_true 10 running && until_true 10 of_x .retry hippi && lab retry 0,"$rest":+x auto
}

# Training starts from power-up, with the cable as it is now.
again() {
	lab cut 0,"$rest":+x && until_true 10 link_is 0,"$rest" 0 faulty &&
		lab mend 0,"$rest":+x && until_true 20 of_x .state up && until_true 20 running
}

lossy_line() {
	local all
	all=$(x .width)
	lab line 0,"$rest":+x --length 100 --dead 1 && again && until_true 10 of_x .width $((all - 1)) &&
		until_true 10 is '.degraded_links | length' 2 || return 1
	lab line 0,"$rest":+x --length 0 --dead none && again && until_true 10 of_x .width "$all" &&
		until_true 10 is '.degraded_links | length' 0
}

management() {
	local said
	rm -f "$tmp/events" # of the lab before
	nic 1,"$rest" events 1000 >"$tmp/events" &
	said=$!
	until_true 5 grep -q subscribed "$tmp/events" || return 1
	until_true 20 heard
	kill $said 2>/dev/null
	wait $said
	cat "$tmp/events"
	grep -qx "mgmt $(back) hello" "$tmp/events"
}
# Messages under way when a link fails are lost: they are sent again. Managers send some, too.
heard() { nic 0,"$rest" mgmt 0 hello && sleep 0.2 && grep -qx "mgmt $(back) hello" "$tmp/events"; }

# --- deaths -------------------------------------------------------------------------

manager_killed() {
	lab kill "$1" --manager && until_true 20 is .nodes.up $((nodes - 1)) && exits 1 dead lab status &&
		revive "$1" && until_true 20 running && verified
}

root_killed() {
	lab kill 0,"$rest" --manager && sleep 0.3 && revive 0,"$rest" &&
		until_true 20 running && verified
}

# The carrier remains: its neighbours only notice the silence, and the root may lose the node before.
nic_killed() {
	lab kill "$1" --nic && until_true 10 is .nodes.up $((nodes - 1)) &&
		until_true 10 silence_seen && until_true 10 settled || return 1
	revive "$1" && until_true 20 running && verified
}
# The reason of a link that is up is that of an earlier end.
silence_seen() { { nic 0,"$rest" state 0; nic 0,"$rest" state "$(back)"; } | grep -v '^up ' | grep silence; }

node_killed() {
	lab cut "$1":+x && lab kill "$1" && until_true 20 is .nodes.up $((nodes - 1)) &&
		until_true 20 settled && lab_is '[.nodes[] | select(.power | not)] | length' 1 || return 1
	revive "$1" && until_true 20 is '[.nodes.up, .links.up] | join(" ")' "$nodes $((links - 1))" || return 1
	lab mend "$1":+x && until_true 20 running && verified
}

# All NICs at once: they can be started again, and cut cables remain cut.
pack_killed() {
	local n
	lab cut 0,"$rest":+x && kill -9 "$(pack)" && until_true 5 exits 1 dead lab status || return 1
	for n in $(places); do
		lab revive --no-wait "$n" || return 1
	done
	until_true 30 is .links.up $((links - 1)) && until_true 10 settled && lab_is '[.nodes[].cut[]] | length' 2 &&
		lab mend 0,"$rest":+x && until_true 20 running && verified
}

# --- with torus0 ----------------------------------------------------------------------

tun_up() {
	lab up "$shape" --packed --tun "${patience[@]}" && until_true 20 running && [[ $(pgrep -fc "torusemu.*$run/") == 1 ]] &&
		[[ $(ip netns list | grep -c "^$lab-") == $((nodes + 1)) ]]
}

ping_all() {
	local all n
	all=$("$bin/fabricctl" lab hosts --name "$lab" --list | tr ',' ' ')
	for n in $all; do
		# shellcheck disable=SC2016
		lab exec "$n" -- sh -c 'for n in '"$all"'; do ping -q -c 1 -W 30 $n >/dev/null && echo answered || echo "-> $n: nothing"; done'
	done >"$tmp/pings"
	sort "$tmp/pings" | uniq -c
	[[ $(uniq "$tmp/pings") == answered && $(wc -l <"$tmp/pings") == $((nodes * nodes)) ]]
}

# under FLAGS COMMAND...: sends traffic from 0,0 to 1,1, and runs COMMAND while it flows
under() {
	local pid rc=0
	note_sent 0,0 || return 1
	# shellcheck disable=SC2086
	"$bin/fabricctl" lab traffic --name "$lab" -s 6 $1 0,0 1,1 >"$tmp/traffic" 2>&1 &
	pid=$!
	flows_from 0,0 && "${@:2}" || rc=1
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	return $rc
}

# The first cable on the path of that traffic.
way() {
	ask trace 0,0 1,1 --json | jq -r '.hops[0] | "\(.node | map(tostring) | join(",")):\(.port)"'
}

way_cut() {
	local link
	link=$(way)
	lab cut "$link" && until_true 10 settled && until_true 10 is .last_recovery.lost 0 || return 1
	lab mend "$link" && until_true 10 running && verified
}

way_silent() {
	local link
	link=$(way)
	lab silence "$link" && until_true 10 settled || return 1
	lab silence "$link" off && until_true 10 running && verified
}

errors() { ask links --json | jq "map(.crc_errors) | if length == $((2 * links)) then add else error(\"not all links\") end"; }
errors_above() { (($(errors) > $1)); }
way_noisy() {
	local link before
	link=$(way)
	before=$(errors) || return 1
	lab ber "$link" 1e-6 && until_true 4 errors_above $((before + 10)) && lab ber "$link" 0
}

# --- refusals -----------------------------------------------------------------------

refusals() {
	exits 2 '--backend' lab up 2x2 --packed --backend kernel &&
		exits 2 '--kernel-nodes' lab up 2x2 --packed --kernel-nodes n0-1 &&
		exits 2 'bogus' lab up 2x2 --packed --set bogus=1 &&
		exits 2 'silence' lab up 2x2 --packed --set silence=1ms &&
		exits 2 '--tun' lab up 2x2 --tun &&
		nothing_left
}

no_traffic() { exits 2 'packed' lab traffic 0,"$rest" 1,"$rest" && until_true 10 running; }
no_power() { exits 2 'packed' lab kill --power 1,"$rest" && until_true 10 running; }

traces() {
	ls -d "$run" /etc/netns/"$lab"* /run/netns/"$lab"* 2>/dev/null
	pgrep -af -- "$run/" | grep -v grep
}

nothing_left() {
	local left
	left=$(traces)
	[[ -z $left ]] || { echo "left behind: $left"; return 1; }
}

# A trace that was never there would be absent for no reason: so each kind must be there before.
down_clean() {
	local kind before
	before=$(traces)
	for kind in "^$run\$" "^/run/netns/$lab-" ' [^ ]*/fabricd '; do
		grep -q "$kind" <<<"$before" || { echo "before lab down there is no $kind: $before"; return 1; }
	done
	lab down && until_true 5 nothing_left
}

# "lab up" is killed at different times after its start; if the lab is up by then, the test tries
# again.
killed_up() {
	local up
	for _ in 1 2 3 4 5; do
		"$bin/fabricctl" lab up 8x4x4 --packed --name "$lab" &
		up=$!
		until_true 10 test -d "$run"
		sleep "$1"
		kill -9 "$up"
		wait "$up" || break
		lab down
	done
	until_true 5 exits 2 half-dead lab up "$shape" --packed && lab down && until_true 5 nothing_left
}

suite() {
	check "options that exclude --packed are refused" refusals
	check "the lab is up, and so are all links" up_right || return
	check "NICs share a process and a namespace, and each node has a manager" one_of_each
	check "NICs have priority before managers" nics_first
	check "each node answers for itself" each_answers
	check "a command runs on a node and returns its exit status" on_a_node
	check "a cut cable is faulty at both ends until it is mended" cut_and_mend
	check "a cable cut by one end can be mended by the other" other_end
	check "a silent cable is faulty until the silence ends" silence
	check "no link is lost while the process of NICs is stopped" stopped
	check "bit errors are counted, and lab status shows the faults" faults
	check "links use the retry protocol that is set" retry
	check "a cable with a dead lane is reported as degraded until it is repaired" lossy_line
	check "a management packet arrives at the other end" management
	check "a packed lab without torus0 refuses traffic" no_traffic
	check "a packed lab refuses to take a node's power" no_power
	check "a killed manager is reported as missing and joins again" manager_killed "$aside"
	check "the root's manager that is killed joins again" root_killed
	check "a crashed NIC is reported as missing and joins again" nic_killed 1,"$rest"
	check "a dead node is reported as missing, and its cut cable stays cut" node_killed "$aside"
	check "cut cables stay cut when all NICs crash and return" pack_killed
}

tun_suite() {
	check "torus0: the lab is up, with a namespace for each node and one for the NICs" tun_up || return
	check "torus0: all pairs ping each other by name" ping_all
	check "torus0: traffic stays whole: cut and mend" under "" way_cut
	check "torus0: traffic stays whole: silence" under "--rate 1000" way_silent
	check "torus0: traffic stays whole: bit errors" under "--rate 1000" way_noisy
	check "torus0: traffic stays whole: kill -9 of the root's manager" under "--rate 1000" root_killed
	check "torus0: TCP stays whole: a NIC crashes" under --tcp nic_killed "$aside"
	check "torus0: all pairs ping each other after the faults" ping_all
}

# --- sixty-four managers at rest --------------------------------------------------------

managers() { cut -d' ' -f1 "$run"/*/fabricd.pid; }

# Without sanitizers, whose shadow memory is resident too.
small() { # KIB
	local p rss all
	all=$(managers)
	[[ $(wc -w <<<"$all") == "$nodes" ]] || { echo "managers are: $all"; return 1; }
	for p in $all; do
		rss=$(awk '/^VmRSS/ {print $2}' "/proc/$p/status")
		((rss && rss < $1)) || { echo "$p: $rss KiB"; return 1; }
	done
}

# The largest memory of the root's manager while it answers the longest request, in KiB.
lean_answer() { # KIB
	local root peak
	root=$(cut -d' ' -f1 "$run/0.0.0/fabricd.pid")
	echo 5 >"/proc/$root/clear_refs" || return 1 # begins the peak again
	"$bin/fabricctl" links --json --lab "$lab" >"$tmp/all.links" || return 1
	peak=$(awk '/^VmHWM/ {print $2}' "/proc/$root/status")
	echo "peak $peak KiB, $(wc -c <"$tmp/all.links") bytes"
	jq -e "length == 6 * $nodes" "$tmp/all.links" && ((peak < $1))
}

wakeups() {
	local p
	for p in $(managers); do cat "/proc/$p/status"; done |
		awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'
}

# A manager sends its parent a keep-alive once a second: it wakes for that and for the answer,
# and the parent wakes for the question. Each may also look at the clock once more, and receives
# an Init now and then; that is less than twice as much.
at_rest() {
	local before began woke ms due
	before=$(wakeups) began=${EPOCHREALTIME/[.,]/}
	sleep 3
	woke=$(($(wakeups) - before)) ms=$(((${EPOCHREALTIME/[.,]/} - began) / 1000))
	due=$((3 * (nodes - 1) * (ms + 1000) / 1000))
	echo "$nodes managers woke $woke times in $ms ms; for keep-alives $due"
	((woke > 0 && woke < 2 * due))
}

bin=$B shape=3x3x3 nodes=27 links=81 rest=0,0 aside=2,1,2
suite
check "lab down leaves nothing" down_clean
check "a lab that is killed early while it starts can be removed" killed_up 0.02
check "a lab that is killed later while it starts can be removed" killed_up 0.15
check "a lab that discovers its shape comes up" lab up "$shape" --packed --auto-shape
check "a lab that discovered its shape leaves nothing" down_clean
shape=4x4x4 nodes=64 links=192
check "64 managers: the lab is up, and so are all links" up_right
check "64 managers: each has less than 6 MiB resident" small 6144
check "64 managers: without changes they wake for keep-alives only" at_rest
check "64 managers: links of all nodes take the root less than 16 MiB" lean_answer 16384
check "64 managers: lab down leaves nothing" down_clean
shape=3x3 nodes=9 links=18 rest=0 aside=2,0
tun_suite
check "torus0: lab down leaves nothing" down_clean

bin=$B_SAN tag='san: ' shape=3x2 nodes=6 links=12 rest=0 aside=2,1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$tmp/asan"
chmod 1777 "$tmp"
suite
check "sanitizers report nothing while the lab is up" no_reports
keep_logs
check "lab down leaves nothing" down_clean
aside=2,0
tun_suite
check "sanitizers report nothing while torus0s are up" no_reports
keep_logs
check "torus0: lab down leaves nothing" down_clean
check "sanitizers report nothing at the end" no_reports
done_testing
