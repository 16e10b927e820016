#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whole labs of real processes, built and used with fabricctl as an administrator would:
# bring-up, traffic under every fault that a lab can make, wrong arguments, and what is left
# behind. First a 4x4 with the plain build, then a 3x2 with sanitizers, whose processes must end
# without a report.
#
# With TORUS_BACKEND=kernel or mixed, on a machine that has the driver: one 3x2 with such NICs, without
# the tests that do not depend on them. With mixed only those of cables and of nodes that end.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
B_SAN=${B_SAN:-$TOP/build-san}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=tl$$

running() { is .state running; }
# newer VERSION: succeeds if the fabric has recovered at a later version
newer() { (($(ask status --json | jq '.last_recovery.version // 0') > $1)); }

# Prints what the NICs counted beside their traffic, and the last log lines of the managers.
# shellcheck disable=SC2317
explain() {
	"$bin/fabricctl" counters --lab "$lab" --json |
		jq -c '.[] | {node, injected, delivered, parked, replayed, unreachable, returned, held, host_drops}'
	tail -n 20 /run/torus/"$lab"/*/fabricd.log
}

# --- bring-up -----------------------------------------------------------------

raise() { lab up "$shape" "${patience[@]}"; }
revive() { lab revive --timeout $((60 * slow)) "$1"; }

whole() {
	is '[.state, (.shape | map(tostring) | join("x")), .nodes.up, .links.up, .links.total,
		(.problems | length), .parked_packets] | join(" ")' \
		"running $shape $nodes $links $links 0 0"
}
up_right() { raise && until_true 20 whole; }
neighbours_fit() {
	local limit=/proc/sys/net/ipv4/neigh/default/gc_thresh
	(($(<${limit}3) >= 4096 && $(<${limit}2) >= 2048))
}

# Each end of each cable is where its coordinates and port say, and shows the other end as its
# peer.
coordinates_right() {
	# shellcheck disable=SC2016 # jq's variables
	ask links --json | jq -e --arg shape "$shape" --argjson ends $((2 * links)) '
		($shape | split("x") | map(tonumber)) as $size
		| (map({key: "\(.node)\(.port)", value: (.peer | {node, port})}) | from_entries) as $peer
		| length == $ends and all(.[]; . as $l
			| ("xyzabc" | index($l.port[1:])) as $d
			| (if $l.port[:1] == "+" then 1 else $size[$d] - 1 end) as $step
			| .peer.node == ($l.node | .[$d] |= (. + $step) % $size[$d])
			and .peer.port == {"+": "-", "-": "+"}[$l.port[:1]] + $l.port[1:]
			and $peer["\(.peer.node)\(.peer.port)"] == {node, port})'
}

# No end of a cable has the index of the other end: the kernel would report its carrier late.
indices_differ() {
	local node index peer ends=0
	for node in $(names); do
		while read -r index peer; do
			((index != peer)) || { say "$node: an end has the index of its peer, $peer"; return 1; }
			ends=$((ends + 1))
		done < <("$bin/fabricctl" lab exec --name "$lab" "$node" -- ip -j link show type veth |
			jq -r '.[] | select(.ifname | test("^p.[+-]$")) | "\(.ifindex) \(.link_index)"')
	done
	((ends == 2 * links))
}

names() { "$bin/fabricctl" lab hosts --name "$lab" --list | tr ',' ' '; }

ping_from() {
	local from=$1 all=$2
	# shellcheck disable=SC2016
	"$bin/fabricctl" lab exec --name "$lab" "$from" -- sh -c \
		'for n in '"$all"'; do ping -q -c 1 -W 30 $n >/dev/null && echo answered || echo "'"$from"' -> $n: nothing"; done'
}

ping_all() {
	local all n
	all=$(names)
	for n in $all; do
		ping_from "$n" "$all" &
	done >"$tmp/pings" 2>&1
	wait
	sort "$tmp/pings" | uniq -c
	[[ $(uniq "$tmp/pings") == answered && $(wc -l <"$tmp/pings") == $((nodes * nodes)) ]]
}

# --- faults under traffic --------------------------------------------------------

# Some records a second leave the processors to the rest of the run. Without a rate, as when a
# cable is cut and mended, as many are under way as the window allows.
some='--rate 1000'

# under SECONDS FLAGS COMMAND...: sends traffic from 0,0 to $far, and runs COMMAND while it
# flows. Beside ordered UDP there is adaptive UDP, which may arrive in any order.
under() {
	local seconds=$1 flags=$2 pid adaptive='' rc=0
	shift 2
	note_sent 0,0 || return 1
	# shellcheck disable=SC2086
	"$bin/fabricctl" lab traffic --name "$lab" -s "$seconds" $flags 0,0 "$far" >"$tmp/traffic" 2>&1 &
	pid=$!
	if [[ $flags != *--tcp* ]]; then
		# shellcheck disable=SC2086
		"$bin/fabricctl" lab traffic --name "$lab" -s "$seconds" $flags --udp --dscp 8 0,0 "$far" \
			>"$tmp/adaptive" 2>&1 &
		adaptive=$!
	fi
	flows_from 0,0 && "$@" || rc=1
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	if [[ $adaptive ]]; then
		wait "$adaptive" || rc=1
		cat "$tmp/adaptive"
	fi
	return $rc
}

# The first cable on the path of that traffic.
way() {
	ask trace 0,0 "$far" --json |
		jq -r '.hops[0] | "\(.node | map(tostring) | join(",")):\(.port)"'
}

other_way() {
	local now
	now=$(way) && [[ $now =~ ^[0-9,]+:[+-][a-z]$ && $now != "$1" ]] || { echo "by '$now', before by $1"; return 1; }
}

cut_and_mend() {
	local link v
	link=$(way)
	v=$(version)
	lab cut "$link" && until_true 10 newer "$v" &&
		until_true 10 is .state degraded && verified && is .last_recovery.lost 0 &&
		until_true 10 is .parked_packets 0 && until_true 10 other_way "$link" || return 1
	v=$(version)
	lab mend "$link" && until_true 10 newer "$v" && until_true 10 running && verified
}

silence() {
	local link v rc=0
	link=$(way)
	v=$(version)
	lab silence "$link" && until_true 10 newer "$v" && verified || rc=1
	lab silence "$link" off && until_true 10 running && verified || rc=1
	return $rc
}

two_cuts() {
	local v rc=0
	v=$(version)
	lab cut 0,0:+x && lab cut 0,0:+y && until_true 10 newer "$v" && verified || rc=1
	lab mend 0,0:+x && lab mend 0,0:+y && until_true 10 running && verified || rc=1
	return $rc
}

# count COUNTER...: the sum of these over all ends of cables; fails if an end does not have one
count() {
	local IFS=,
	ask links --json | jq "[.[] | ${*/#/.}] |
		if length == $((2 * links * $#)) and all(type == \"number\") then add else error(\"not all ends count $*\") end"
}
noisy() { (($(count crc_errors) > $1)); }

noise() {
	local link before rc=0
	link=$(way)
	before=$(count crc_errors) && lab ber "$link" 1e-6 || return 1
	under 4 "$some" until_true 10 noisy "$before" || rc=1
	lab ber "$link" 0 || rc=1
	until_true 10 is '.links.faulty' 0 || rc=1
	return $rc
}

# The copies before packets are dropped, and no error is seen. On a busy machine a guest sends
# few packets in these seconds.
marked() {
	local n
	n=$(count vb_drops) && ((n > $1 + 10)) || { echo "copies: '$n', before $1"; return 1; }
}
cut_through() {
	local link copies before rc=0
	link=$(way)
	copies=$(count vb_drops) && before=$(count e_sent crc_errors) && lab vb "$link" 0.1 || return 1
	under 4 "$some" until_true 10 marked "$copies" || rc=1
	lab vb "$link" 0 || rc=1
	[[ $(count e_sent crc_errors) == "$before" ]] || { echo "errors were seen"; rc=1; }
	return $rc
}

manager_killed() {
	local node=$1
	lab kill "$node" --manager && sleep 1 && revive "$node" && until_true 20 running && verified
}

# One manager is killed; that of the receiving node is asked to end.
managers_away() {
	local run=/run/torus/$lab/${far/,/.} pid
	pid=$(cut -d' ' -f1 "$run/fabricd.pid")
	say "kill -TERM $pid"
	kill -TERM "$pid" && until_true 10 eval "! kill -0 $pid" && [[ ! -e $run/control ]] || return 1
	grep -q stopping "$run/fabricd.log" || { echo "it did not end by itself"; return 1; }
	lab kill "$1" --manager && sleep 1 && revive "$far" && revive "$1" && until_true 20 running && verified
}

node_killed() {
	local node=$1
	lab kill "$node" && until_true 20 is .nodes.up $((nodes - 1)) &&
		until_true 20 is .state degraded && verified || return 1
	revive "$node" && until_true 30 running && is .nodes.up "$nodes" && verified
}

# A host without power closes no connection: the root finds the loss by the host's cables.
host_vanishes() {
	local node=$1
	lab kill "$node" --power && until_true 20 is .nodes.up $((nodes - 1)) &&
		until_true 20 is .state degraded && verified && is .last_recovery.lost 0 || return 1
	revive "$node" && until_true 30 running && is .nodes.up "$nodes" && verified
}

# Traffic that it sends ends soon, instead of waiting for it, and none begins.
source_vanishes() {
	local node=$1 pid rc=0
	note_sent "$node" || return 1
	timeout $((40 + 60 * slow)) "$bin/fabricctl" lab traffic --name "$lab" -s 40 $some "$node" 0,0 >"$tmp/source" 2>&1 &
	pid=$!
	flows_from "$node" || { kill "$pid"; return 1; }
	lab kill "$node" --power
	wait "$pid" || rc=$?
	cat "$tmp/source"
	[[ $rc == 1 ]] && grep -q "node $node has no NIC" "$tmp/source" &&
		exits 1 "node $node has no NIC" lab traffic 0,0 "$node" || return 1
	revive "$node" && until_true 30 running && verified
}

nic_killed() {
	local node=$1
	lab kill "$node" --nic && until_true 20 is .nodes.up $((nodes - 1)) && revive "$node" &&
		until_true 30 running && verified
}

exclude_include() {
	local link
	link=$(way)
	ask exclude "$link" && until_true 10 is .links.excluded 1 && verified &&
		until_true 10 other_way "$link" || return 1
	ask include "$link" && until_true 10 running && is .links.excluded 0
}

is_port() {
	ask links "$1" --json | jq -e --arg port "$2" --arg state "$3" \
		'.[] | select(.port == $port) | .state == $state'
}

# The NIC keeps a port down when its manager restarts.
port_down_up() {
	local link
	link=$(way)
	ctl link down --lab "$lab" "$link" && until_true 10 is .links.faulty 1 &&
		is_port "${link%:*}" "${link#*:}" down && verified && until_true 10 other_way "$link" || return 1
	lab kill "${link%:*}" --manager && revive "${link%:*}" && is_port "${link%:*}" "${link#*:}" down &&
		ctl link up --lab "$lab" "$link" && until_true 10 running &&
		until_true 10 is_port "${link%:*}" "${link#*:}" up
}

# --- bad input --------------------------------------------------------------------

refusals() {
	exits 2 "$lab" lab up 2x2 &&
		exits 2 '0x4' ctl lab up --name "$lab"x 0x4 &&
		exits 2 '4x' ctl lab up --name "$lab"x 4x &&
		exits 2 '5000' ctl lab up --name "$lab"x 5000 &&
		exits 2 '2x2x2x2x2x2x2' ctl lab up --name "$lab"x 2x2x2x2x2x2x2 &&
		exits 2 'a/b' ctl lab up --name a/b 2x2 &&
		exits 2 'nonsense' ctl lab nonsense &&
		exits 2 '9,9' lab exec 9,9 -- true &&
		exits 2 '0,0:+q' lab cut 0,0:+q &&
		exits 2 "'9,0'" lab cut 9,0:+x &&
		exits 2 'lots' lab ber 0,0:+x lots &&
		exits 2 "'2'" lab ber 0,0:+x 2 &&
		exits 2 '9,9' ask trace 0,0 9,9 &&
		exits 2 '0,0:*' ask exclude '0,0:*' &&
		exits 2 '+q' ctl link down --lab "$lab" 0,0:+q &&
		until_true 10 running && [[ ! -e /run/torus/"$lab"x ]]
}

no_root() {
	exits 4 root setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$copy" lab up --name "$lab"y 2x2 && [[ ! -e /run/torus/"$lab"y ]]
}

exec_status() {
	lab exec 0,0 -- true && exits 7 '' lab exec 0,0 -- sh -c 'exit 7' &&
		exits 127 no-such-command lab exec 0,0 -- no-such-command
}

# All users of the node may ask; only root may change.
privileges() {
	local control nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	control=$(lab exec 0,0 -- printenv TORUS_CONTROL) || return 1
	until_true 10 lab exec 0,0 -- "${nobody[@]}" "$copy" status --control "$control" &&
		exits 4 'only root' lab exec 0,0 -- "${nobody[@]}" "$copy" exclude --control "$control" 0,0:+x &&
		exits 4 'only root' lab exec 0,0 -- "${nobody[@]}" "$copy" link down --control "$control" 0,0:+x &&
		is .links.excluded 0
}

# --- what is left ------------------------------------------------------------------

# All traces of labs, seen from outside: names of this lab, and the links and bridges of the
# host's own network.
traces() {
	ip netns list | awk '{ print "netns", $1 }' | grep -F "$lab"
	find /etc/netns /run/torus /run/netns -maxdepth 1 -name "$lab*" 2>/dev/null
	pgrep -af -- "/run/torus/$lab" | grep -v grep
	ip -o link | awk '{ print "link", $2 }' | grep -F "$lab"
	mount | grep -F "$lab"
}

nothing_left() {
	local left
	left=$(traces)
	[[ -z $left ]] || { echo "$left"; return 1; }
}

# A trace that was never there would be absent for no reason: so each kind must be there before.
down_clean() {
	local kind before
	before=$(traces)
	for kind in "^netns $lab-" "^/run/torus/$lab\$" ' [^ ]*/torusemu ' ' [^ ]*/fabricd '; do
		[[ $kind == */torusemu* && ${TORUS_BACKEND:-user} == kernel ]] || grep -q "$kind" <<<"$before" ||
			{ echo "before lab down there is no $kind: $before"; return 1; }
	done
	lab down && until_true 5 nothing_left
}

half_dead() {
	local pid
	raise || return 1
	for pid in $(ip netns pids "$lab-1.0"); do kill -9 "$pid"; done
	ip netns del "$lab-0.1"
	rm -rf "/run/torus/$lab/0.0"
	exits 2 "$lab" lab up "$shape" && down_clean && raise && until_true 10 running && down_clean
}

# ------------------------------------------------------------------------------------

# Checks of fabricctl and of managers alone run with one kind of NIC only.
suite() {
	local backend=${TORUS_BACKEND:-user}
	check "the lab is up, has addresses and all links" up_right
	check "coordinates and cables agree" until_true 10 coordinates_right
	check "the ends of a cable have different indices" indices_differ
	check "all pairs ping each other by name" ping_all
	check "verify finds no error" verified
	if [[ $backend == user ]]; then
		check "a command on a node returns its exit status" exec_status
		check "errors name the wrong argument, and nothing is changed" refusals
		check "all users may query, only root may change" privileges
	fi
	[[ $backend == mixed ]] || check "the host has room for the neighbours of all nodes" neighbours_fit
	check "traffic stays whole: cut and mend" under 6 "" cut_and_mend
	check "traffic stays whole: silence" under 6 "$some" silence
	check "traffic stays whole: bit errors" noise
	if [[ $backend != mixed ]]; then
		check "traffic stays whole: copies marked bad" cut_through
		check "traffic stays whole: a port is taken down and up" under 6 "$some" port_down_up
		check "traffic stays whole: two cuts at once" under 6 "$some" two_cuts
		check "traffic stays whole: kill -9 of the root's manager" under 6 "$some" manager_killed 0,0
	fi
	if [[ $backend == user ]]; then
		check "traffic stays whole: exclude and include" under 5 "$some" exclude_include
		check "traffic stays whole: SIGTERM of a manager, kill -9 of another" under 6 "$some" \
			managers_away "$aside"
		check "traffic ends when its source has no power" source_vanishes "$aside"
	fi
	check "traffic stays whole: the host of a node vanishes" under 6 "$some" host_vanishes "$aside"
	check "receivers count no lost and no duplicate packets" all_came_once
	check "TCP stays whole: a node dies and returns" under 8 --tcp node_killed "$aside"
	[[ $backend == mixed ]] || check "TCP stays whole: kill -9 of a NIC" under 8 "--tcp $some" nic_killed "$aside"
	check "all pairs ping each other after the faults" ping_all
}

copy=$tmp/fabricctl
cp "$B"/{fabricctl,torusemu,fabricd} "$tmp" && chmod 755 "$tmp"/fabric* "$tmp/torusemu"

if [[ ${TORUS_BACKEND:-user} == user ]]; then
	bin=$B tag='' shape=4x4 nodes=16 links=32 far=2,1 aside=3,3
else
	bin=$B tag="$TORUS_BACKEND: " shape=3x2 nodes=6 links=12 far=1,1 aside=2,1
fi
[[ ${TORUS_BACKEND:-user} != user ]] || check "without root lab up is refused" no_root
suite
check "lab down leaves nothing" down_clean
[[ ${TORUS_BACKEND:-user} == mixed ]] || check "a half-dead lab is refused, cleared and raised again" half_dead
[[ ${TORUS_BACKEND:-user} == user ]] || done_testing

bin=$B_SAN tag='san: ' shape=3x2 nodes=6 links=12 far=1,1 aside=2,1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$tmp/asan"
chmod 1777 "$tmp"
suite
check "sanitizers report nothing while the lab is up" no_reports
keep_logs
check "lab down leaves nothing" down_clean
check "sanitizers report nothing at the end" no_reports
done_testing
