#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# torusemu: a destination for which nothing can move does not stop the others. n1 sends to both.
#
#   ┌────────┐     ┌────────┐     ┌────────┐
#   │ n0   e─┼─────┼─w n1 e─┼─────┼─w   n2 │
#   └────────┘     └────────┘     └────────┘
#    10.0.0.0       10.1.0.0       10.2.0.0
#
# n0 is on hold; or its neighbour has no cable to it and can park nothing more; or it returns no
# credits (emu_withhold.c). n1 may hold so little that one flow fills it.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
tool=$B/tests/netns/nictool
id=tfair$$
helpers=$TOP/tests/vm/inside
declare -A pid

ns() { local n=$1; shift; ip netns exec "$id-$n" "$@"; }
nic() { local n=$1; shift; "$tool" "$tmp/n$n.nic" "$@"; }
cleanup() {
	local n p
	for n in 0 1 2; do
		for p in $(ip netns pids "$id-$n" 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
		ip netns del "$id-$n" 2>/dev/null
	done
}
explain() { tail -n 5 "$tmp"/*.log; }

up() { [[ $(nic "$1" state "$2") == up* ]]; }
more_than() { (($(nic "$1" "${@:2:$#-2}") > ${!#})); }
equals() { [[ $(nic "$1" "${@:2:$#-2}") == "${!#}" ]]; }

cable() {
	ip link add e mtu 65535 netns "$id-$1" type veth peer name w mtu 65535 netns "$id-$2" &&
		ip -n "$id-$1" link set e up && ip -n "$id-$2" link set w up
}
# start N PORT=DEVICE...; PROGRAM is another one than torusemu
start() {
	local n=$1
	shift
	# shellcheck disable=SC2068
	ip netns exec "$id-$n" "${program:-$B/torusemu}" --name "n$n" --ports 2 --socket "$tmp/n$n.nic" --foreground \
		--set silence=20s --set retry_time=20s --set park_bytes=64K --set hold_bytes=128K \
		${@/#/--port } 2>>"$tmp/n$n.log" &
	pid[$n]=$!
	disown $!	# its end by a signal is no news
	until_true 20 nic "$n" node lost >/dev/null 2>&1
}
line() {
	local n
	for n in 0 1 2; do ip netns add "$id-$n" && ip -n "$id-$n" link set lo up || return; done
	cable 0 1 && cable 1 2 || return
	program=$B/tests/netns/emu_withhold start 0 +x=e && start 1 +x=e -x=w && start 2 -x=w || return
	for n in 0 1 2; do until_true 20 nic "$n" place 3 "$n" || return; done
	until_true 20 up 0 0 && until_true 20 up 1 1 && until_true 20 up 1 0 && until_true 20 up 2 1
}
mend() {
	local session seq
	read -r session seq < <(nic "$3" received "$4")
	nic "$1" resolve "$2" "$session" "$seq" && nic "$1" replay "$2"
}

# receive N: a TCP receiver of its own
receive() {
	: >"$tmp/to$1"
	ns "$1" python3 "$helpers/tcp.py" receive "10.$1.0.0" >"$tmp/to$1" &
	receiver[$1]=$!
	until_true 60 grep -q listening "$tmp/to$1"
}
declare -A receiver
send() { ns 1 python3 "$helpers/tcp.py" send "10.$1.0.0" "$2" >"$tmp/from$1"; }
# whole N: whether N got what was sent
whole() { wait "${receiver[$1]}" && [[ $(tail -n 1 "$tmp/to$1") == $(cat "$tmp/from$1") ]]; }

# flow_begins: to n0, as long as there is no file "enough"
flow_begins() {
	rm -f "$tmp/enough"
	receive 0 || return
	send 0 "$tmp/enough" &
	sender=$!
	# Datagrams of the flood before may still come, and count as bytes, too.
	until_true 60 grep -q connected "$tmp/to0" || return
	until_true 60 more_than 0 node host_bytes_rx $(($(nic 0 node host_bytes_rx) + 2000000))
}
flow_ends() {
	: >"$tmp/enough"
	wait "$sender" && whole 0
}
# Megabytes of TCP reach n2 while not a byte reaches n0.
others_go_on() {
	local came
	came=$(nic 0 node host_bytes_rx)
	receive 2 && send 2 "$1" && whole 2 && equals 0 node host_bytes_rx "$came"
}
waits() { more_than 1 node host_waited "$1"; }
still() {
	local came
	came=$(nic 0 node host_bytes_rx)
	sleep 0.3
	equals 0 node host_bytes_rx "$came"
}
flood() {
	ns 1 python3 "$helpers/flood.py" 10.0.0.0 &
	flood=$!
}
flood_ends() { kill "$flood"; wait "$flood" 2>/dev/null; }

check "three nodes in a line come up" line

check "a flow to n0 begins" flow_begins
check "n0 is on hold" nic 1 hold 0
check "messages to n0 wait in front of the NIC" until_true 30 waits 0
check "TCP to n2 goes on" others_go_on 40
flood
check "if n1 sends as much as it can, all of it is dropped in the end" \
	until_true 30 more_than 1 node host_stuck 0
check "TCP to n2 goes on" others_go_on 40
flood_ends
check "the hold ends" nic 1 release
check "the flow goes on, and is whole" flow_ends

check "another flow to n0 begins" flow_begins
before=$(nic 1 node host_waited)
ip -n "$id-0" link set e down
check "messages to n0 wait when its cable is cut and parking is full" until_true 30 waits "$before"
check "TCP to n2 goes on" others_go_on 40
ip -n "$id-0" link set e up
check "the cable is mended" eval 'until_true 20 up 1 1 && until_true 20 up 0 0'
check "parked packets leave by the mended cable" eval 'mend 0 0 1 1 && mend 1 1 0 0'
check "the flow goes on, and is whole" flow_ends

check "another flow to n0 begins" flow_begins
before=$(nic 1 node host_waited)
kill -USR1 "${pid[0]}"
check "messages to n0 wait when n0 returns no credits" until_true 30 waits "$before"
check "n0 gets no more packets" until_true 20 still
check "TCP to n2 goes on" others_go_on 40
check "no packet to n2 is lost" equals 2 node lost 0
done_testing
