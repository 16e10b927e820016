#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each of the retry protocols in turn, on all cables of a ring of three real NICs, under bit
# errors: UDP, which shows each loss, and TCP, over one link and over two, and while one is cut.
#
# With TORUS_BACKEND=kernel or mixed, on a machine that has the driver: with such NICs.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=rt$$
cables=(0:+x 1:+x 2:+x)

# shellcheck disable=SC2317
explain() { "$B/fabricctl" links --lab "$lab"; "$B/fabricctl" counters --lab "$lab"; }

running() { is .state running; }
# each FILTER: what links shows for both ends of all cables
each() { ask links --json | jq -c "[.[] | $1]"; }
speak() { [[ $(each '[.retry, .state]' | jq -c unique) == "[[\"$1\",\"up\"]]" ]]; }
recovered() { is "(.last_recovery.version // 0) > $1 and (.state == \"running\" or .state == \"degraded\")" true; }

# A cable is asked to use a protocol, and shows it when its link comes up. One that is cut and mended
# before its NICs look goes on as before.
speaks() {
	local link
	for link in "${cables[@]}"; do
		lab retry "$link" "$1" && lab cut "$link" && until_true 20 is .links.up 2 && lab mend "$link" ||
			return 1
		until_true 20 running || return 1
	done
	until_true 20 speak "$1" && until_true 20 running && verified
}

# The same by the manager, as on NICs without a lab: each end is asked, and the link begins anew.
asked_to() {
	local n
	for n in 0 1 2; do
		ctl link retry --lab "$lab" "$n:+x" "$1" && ctl link retry --lab "$lab" "$(((n + 1) % 3)):-x" "$1" &&
			ctl link down --lab "$lab" "$n:+x" && until_true 20 is .links.up 2 &&
			ctl link up --lab "$lab" "$n:+x" && until_true 20 running || return 1
	done
	until_true 20 speak "$1" && verified
}

# rose FILTER BEFORE: whether the value has grown at some end of each cable
rose() {
	local now
	now=$(each "$1")
	# Ends come node by node, +x and -x.
	jq -en --argjson a "$2" --argjson b "$now" '[$a, $b] | transpose | map(.[1] > .[0])
		| length == 6 and (.[0] or .[3]) and (.[2] or .[5]) and (.[4] or .[1])' >/dev/null ||
		{ echo "$1: $2, then $now"; return 1; }
}

then_recovers() {
	local v
	v=$(version)
	"$@" && until_true 20 recovered "$v" && is .last_recovery.lost 0
}

forwarded() { ask counters --json | jq 'map(.forwarded) | add'; }

unreachable() { ask counters --json | jq 'map(.unreachable) | add'; }

# traffic NAME OPTION...: from 0 to 1, with its counts in $tmp/NAME; judge_flows looks at them
traffic() { "$bin/fabricctl" lab traffic --json --name "$lab" "${@:2}" 0 1 >"$tmp/$1"; }

# judge_flows N: 0 if all messages arrived, once and in order; 2 if UDP lost some, but no more than N,
# and no flow has any other fault; else 1
judge_flows() {
	local verdict
	jq -c '.flows[] | [.protocol, .sent, .lost, .duplicates, .reordered, .corrupt, .error]' \
		"$tmp/cut" "$tmp/rerouted"
	verdict=$(jq -s --argjson n "$1" '[.[].flows[]] |
		if map(.protocol) != ["tcp", "udp", "udp"] then 1 elif all(.clean) then 0
		elif all(.duplicates == 0 and .reordered == 0 and .corrupt == 0 and .error == null and
			(.clean or .protocol == "udp")) and (map(.lost) | add) <= $n then 2
		else 1 end' "$tmp/cut" "$tmp/rerouted") || verdict=1
	return "$verdict"
}

# begun PID COUNT: whether node 0 has sent this many messages, or the traffic has ended
begun() { has_sent 0 "$2" || ! kill -0 "$1" 2>/dev/null; }

# without_errors: lets no cable make bit errors any more
without_errors() {
	local link
	for link in "${cables[@]}"; do lab ber "$link" 0 || return 1; done
}

# attempt SECONDS: over one cable, across its end, and over the two others: errors and replays are
# counted at each, and all messages arrive. Return: as judge_flows, with as many as came back as
# unreachable; 3 if the traffic ended before it was seen to flow
attempt() {
	local crc replayed before none link n pid rc=0
	crc=$(each .crc_errors) replayed=$(each .replayed_packets) before=$(forwarded) none=$(unreachable)
	for link in "${cables[@]}"; do lab ber "$link" 1e-6 || return 1; done
	traffic cut -s "$1" &
	pid=$!
	n=$(sent 0) && until_true 20 begun "$pid" $((n + 50)) || rc=1
	if ((!rc)) && ! kill -0 "$pid" 2>/dev/null; then
		without_errors && return 3
		return 1
	fi
	((!rc)) && then_recovers lab cut 0:+x || rc=1
	wait "$pid"
	traffic rerouted --udp -s 1
	then_recovers lab mend 0:+x && all_came_once || rc=1
	rose .crc_errors "$crc" && rose .replayed_packets "$replayed" && (($(forwarded) > before + 200)) ||
		rc=1
	without_errors && until_true 20 running && ((!rc)) || return 1
	judge_flows $(($(unreachable) - none))
}

# While one cable is cut, errors may end the session of another one, on a slow machine for so long
# that two nodes have no way to each other. Packets that are sent then come back as unreachable. Only
# an attempt whose datagrams are missing for that reason, and in which all else was right, is repeated,
# as is one whose traffic was over before this script, on a busy machine, could look for it.
errors() {
	local seconds rc
	for seconds in 2 8 32; do
		rc=0
		attempt "$seconds" || rc=$?
		case $rc in
		2) echo "there was no way for a while: once more" ;;
		3) echo "traffic of $seconds s was over too early: longer" ;;
		*) return "$rc" ;;
		esac
	done
	return 1
}

# The packets that acknowledge and refuse are counted at the end that sends and the end that receives.
counted() {
	ask links --json | jq -e 'all(.[]; .acks_sent > 0 and .acks_received > 0) and
		([.[].naks_sent] | add) > 0 and ([.[].naks_received] | add) > 0 and
		([.[].replay_timeouts] | add) <= ([.[].retries] | add)'
}

up() { lab up 3 --set retry=acknak "${patience[@]}" && until_true 20 running; }

[[ ${TORUS_BACKEND:-user} == user ]] || tag="$TORUS_BACKEND: "
check "three nodes are up" up || exit 1
check "acknak: all links use it from the beginning" speak acknak
check "acknak: all packets arrive, once and in order, through bit errors and a cut" errors
check "acknak: ACK and NAK packets are counted" counted
check "hippi: all links use it when their ends are asked to" asked_to hippi
check "hippi: all packets arrive, once and in order, through bit errors and a cut" errors
check "angara: all links use it" speaks angara
check "angara: all packets arrive, once and in order, through bit errors and a cut" errors
check "the lab ends" lab down
done_testing
