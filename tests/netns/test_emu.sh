#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torusemu without a manager: the test gives NICs their places and rows.
#
#   ┌────────┐     ┌────────┐     ┌────────┐     ┌────────┐
#   │ n0     │     │ n1     │     │ n2     │     │ n3     │
#   │ torus0 │     │ torus0 │     │ torus0 │     │ torus0 │
#   │  NIC e─┼─────┼─w NIC e┼─────┼─w NIC e┼─────┼─w NIC  │
#   └────────┘     └────────┘     └────────┘     └────────┘
#    10.0.0.0       10.1.0.0       10.2.0.0       10.3.0.0
#
# Shape 4, cut open between n3 and n0. e is port +x (0), w is port -x (1).

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
emu=$B/torusemu
tool=$B/tests/netns/nictool
id=temu$$
declare -A pid
no_tun=()

ns() { local n=$1; shift; say "n$n: $*"; ip netns exec "$id-$n" "$@"; }
nic() { local n=$1; shift; "$tool" "$tmp/n$n.nic" "$@"; }

cleanup() {
	local n p
	for n in 0 1 2 3; do
		for p in $(ip netns pids "$id-$n" 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
		ip netns del "$id-$n" 2>/dev/null
	done
}

# shellcheck disable=SC2317
explain() { tail -n 5 "$tmp"/*.log; }

up() { [[ $(nic "$1" state "$2") == up* ]]; }
listed() {
	TORUS_RUNDIR=$tmp "$B/fabricctl" device list --json |
		jq -r 'map("\(.name) \(.driver) \(.payload_max) \(.relay_packets)") | join(", ")'
}
# The port without a cable has no carrier.
ports_listed() {
	TORUS_RUNDIR=$tmp "$B/fabricctl" device list | tee "$tmp/list" | awk '{ print $2, $6 }' |
		diff - <(printf '%s\n' 'NAME PORTS' 'n0 1/2' 'n1 1/2') || { cat "$tmp/list"; return 1; }
	TORUS_RUNDIR=$tmp "$B/fabricctl" device list --ports | tee "$tmp/list" | sed -n '2,3s/[^ ]*n0.nic *//p' |
		tr -s ' ' | diff - <(printf '%s\n' '+x e yes up -' '-x - no down -') || { cat "$tmp/list"; return 1; }
}
# The NICs began one after the other, and go on.
uptimes() {
	local was now
	was=$(TORUS_RUNDIR=$tmp "$B/fabricctl" device list --json) && sleep 0.1 &&
		now=$(TORUS_RUNDIR=$tmp "$B/fabricctl" device list --json) &&
		jq -ne --argjson was "$was" --argjson now "$now" '
			all(range(2); $now[.].uptime - $was[.].uptime >= 100000000) and
			$was[0].uptime > $was[1].uptime and $was[1].uptime > 0' &&
		TORUS_RUNDIR=$tmp "$B/fabricctl" device list | grep -E "n0 .*  [0-9.]+ m?s "
}
state_is() { [[ $(nic "$1" state "$2") == "$3" ]]; }
more_than() { (($(nic "$1" "${@:2:$#-2}") > ${!#})); }
equals() { [[ $(nic "$1" "${@:2:$#-2}") == "${!#}" ]]; }

cable() {
	local a=$1 b=$(($1 + 1))
	ip link add e mtu 65535 netns "$id-$a" type veth peer name w mtu 65535 netns "$id-$b"
	ip -n "$id-$a" link set e up
	ip -n "$id-$b" link set w up
}

# start N PORT=DEVICE...
start() {
	local n=$1
	shift
	say "n$n: torusemu ${*/#/--port }"
	# shellcheck disable=SC2068
	ip netns exec "$id-$n" "$emu" --name "n$n" --ports 2 --socket "$tmp/n$n.nic" \
		--foreground "${patient[@]}" "${no_tun[@]}" --set relay_packets=5000 ${@/#/--port } 2>>"$tmp/n$n.log" &
	pid[$n]=$!
	until_true 20 "$tool" "$tmp/n$n.nic" node lost >/dev/null 2>&1 && return
	echo "not ok - NIC n$n starts"
	tail -n 5 "$tmp/n$n.log"
	exit 1
}

place() { until_true 20 nic "$1" place 4 "$1" 2>/dev/null; }
ping_ok() { answered ns "$1" ping -q -c 3 -i 0.05 -W 20 "${@:2}"; }

credits() { local vc; for vc in vcd0 vcd1 vca; do nic 0 port 0 "credits_$vc"; done; }
# takes_only VC TOS: whether messages with this type of service take buffers of that VC of n1, and
# of no other VC. n1 is stopped meanwhile, so that it gives none back.
takes_only() {
	local vc n=0 rc=0 before after
	until_true 5 unchanged || return
	mapfile -t before < <(credits)
	kill -STOP "${pid[1]}"
	ns 0 ping -q -c 3 -i 0.05 -W 0.1 -Q "$2" 10.1.0.0
	mapfile -t after < <(credits)
	kill -CONT "${pid[1]}"
	echo "credits: ${before[*]}, then ${after[*]}"
	for vc in vcd0 vcd1 vca; do
		if [[ $vc == "$1" ]]; then
			((after[n] < before[n])) || rc=1
		else
			((after[n] == before[n])) || rc=1
		fi
		n=$((n + 1))
	done
	return $rc
}
# Succeeds if all buffers of n1 are free again, which are as many for each VC.
unchanged() { [[ $(credits | sort -u | wc -l) == 1 ]]; }

# dropped N: how many messages did not fit into the queue of node N's tun device, as the kernel
# counts them
dropped() { ip -n "$id-$1" -s -j link show dev torus0 | jq '.[0].stats64.tx.dropped'; }

# overflow N COUNT: sends COUNT datagrams to 10.1.0.0 while torusemu of node N is stopped
# Return: how many of them, and of the host's own multicast, were dropped.
overflow() {
	local before
	before=$(dropped "$1")
	ip netns exec "$id-$1" python3 - "$2" "${pid[$1]}" <<-'PY'
		import os, signal, socket, sys
		count, pid = map(int, sys.argv[1:])
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		os.kill(pid, signal.SIGSTOP)
		for _ in range(count):
		    s.sendto(b"x", ("10.1.0.0", 9))
		os.kill(pid, signal.SIGCONT)
	PY
	echo $(($(dropped "$1") - before))
}

# The queue in front of a busy NIC holds 4096 messages, or as many as txqueuelen says.
queue_is() {
	local n few=16
	n=$(overflow 0 200)
	echo "$n of 200 dropped at first"
	((n == 0)) || return
	ip -n "$id-0" link set torus0 txqueuelen $few || return
	n=$(overflow 0 200)
	echo "$n of 200 dropped with room for $few"
	((n >= 200 - few && n <= 210 - few)) && ip -n "$id-0" link set torus0 txqueuelen 4096
}

# Datagrams of three seconds at 5,000 a second wait for the end of a hold, all of them in the NIC,
# none in the queue in front of it, and then all arrive.
held() {
	local count=15000 before receiver
	before=$(nic 0 node held)
	ip netns exec "$id-1" python3 - $count >"$tmp/arrived" <<-'PY' &
		import socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
		s.bind(("10.1.0.0", 7001))
		print("listening", flush=True)
		s.settimeout(20)
		seen = [int.from_bytes(s.recv(512)[:4], "little") for _ in range(int(sys.argv[1]))]
		print("in order" if seen == sorted(set(seen)) else "not in order")
	PY
	receiver=$!
	until_true 20 grep -q listening "$tmp/arrived" && nic 0 hold 1 || return
	ip netns exec "$id-0" python3 - $count <<-'PY'
		import socket, sys, time
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for i in range(int(sys.argv[1])):
		    s.sendto(i.to_bytes(4, "little") + bytes(508), ("10.1.0.0", 7001))
		    if i % 100 == 99:
		        time.sleep(0.002)
	PY
	until_true 10 more_than 0 node held $((before + count - 1)) || echo "held: $(nic 0 node held)"
	echo "torusemu: $(grep VmRSS "/proc/${pid[0]}/status")"
	equals 0 node held $((before + count)) && nic 0 release && wait $receiver &&
		grep -qx 'in order' "$tmp/arrived"
}

# copy FROM TO MEGABYTES: whether random bytes arrive unchanged over TCP
copy() {
	local to=10.$2.0.0 sums=$tmp/sums
	say "n$1 -> n$2: $3 MiB over TCP"
	: >"$sums"
	ip netns exec "$id-$2" python3 - "$to" >>"$sums" <<-'PY' &
		import hashlib, socket, sys
		s = socket.create_server((sys.argv[1], 7000))
		print("listening", flush=True)
		s.settimeout(120)
		c, _ = s.accept()
		h = hashlib.sha256()
		while d := c.recv(1 << 20):
		    h.update(d)
		print(h.hexdigest(), flush=True)
	PY
	local server=$!
	until_true 60 grep -q listening "$sums"
	ip netns exec "$id-$1" python3 - "$to" "$3" >>"$sums" <<-'PY' || { kill "$server"; return 1; }
		import hashlib, os, socket, sys
		c = socket.create_connection((sys.argv[1], 7000), 120)
		block, h = os.urandom(1 << 20), hashlib.sha256()
		for i in range(int(sys.argv[2])):
		    d = i.to_bytes(8, "little") + block[8:]
		    h.update(d)
		    c.sendall(d)
		c.close()
		print(h.hexdigest(), flush=True)
	PY
	wait "$server"
	[[ $(grep -v listening "$sums" | sort -u | wc -l) == 1 && $(wc -l <"$sums") == 3 ]]
}

# datagrams FROM ADDRESS: whether bursts of UDP from node FROM to node 1 arrive unchanged, each
# by itself and in order
datagrams() {
	local came=$tmp/came left=$tmp/left
	say "n$1 -> $2: bursts of UDP"
	: >"$came"
	ip netns exec "$id-1" python3 - "$2" >"$came" <<-'PY' &
		import hashlib, socket, sys
		s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
		s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)	# SO_RCVBUFFORCE
		s.settimeout(120)
		s.bind((sys.argv[1], 7000))
		print("listening", flush=True)
		h = hashlib.sha256()
		while True:
		    d, peer = s.recvfrom(65536)
		    if d in (b"burst", b"end"):
		        s.sendto(b"ok", peer)
		    if d == b"end":
		        break
		    h.update(len(d).to_bytes(2, "little") + d)
		print(h.hexdigest(), flush=True)
	PY
	local server=$!
	until_true 60 grep -q listening "$came"
	ip netns exec "$id-$1" python3 - "$2" >"$left" <<-'PY' || { kill "$server"; return 1; }
		import hashlib, os, random, socket, sys
		s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
		s.settimeout(120)
		random.seed(1)
		h = hashlib.sha256()
		def send(d):
		    s.sendto(d, (sys.argv[1], 7000))
		    h.update(len(d).to_bytes(2, "little") + d)
		for burst in range(200):
		    if s.family == socket.AF_INET:
		        s.setsockopt(socket.IPPROTO_IP, 10, random.choice([0, 2]))	# IP_MTU_DISCOVER
		    size = random.randrange(1, 2000)
		    for i in range(random.randrange(1, 150)):
		        send(os.urandom(size if random.randrange(20) else random.randrange(size + 1)))
		    send(b"burst")
		    s.recv(9)
		s.sendto(b"end", (sys.argv[1], 7000))
		print(h.hexdigest(), flush=True)
	PY
	wait "$server"
	[[ -s $left && $(tail -n 1 "$came") == $(<"$left") ]]
}

# Kernels that split merged datagrams again.
segments() { [[ $(printf '6.2\n%s\n' "$(uname -r)" | sort -V | head -n 1) == 6.2 ]]; }

# mend_by_hand A PORT B PORT: what a manager does when a link has come up again
mend_by_hand() {
	local session seq
	read -r session seq < <(nic "$3" received "$4")
	nic "$1" resolve "$2" "${5:-$session}" "${6:-$seq}" && nic "$1" replay "$2"
}

for n in 0 1 2 3; do
	ip netns add "$id-$n" || exit 2
	ip -n "$id-$n" link set lo up
done

# --- two nodes ---------------------------------------------------------------

cable 0
start 0 +x=e
start 1 -x=w
check "the link comes up" until_true 20 state_is 0 0 "up none"
check "the link comes up at the other end" until_true 20 state_is 1 1 "up none"
check "both NICs are listed" [ "$(listed)" = "n0 torusemu 4096 5000, n1 torusemu 4096 5000" ]
check "all ports are listed" ports_listed
check "NICs report how long they have been up" uptimes
place 0
place 1
check "the address contains the coordinates" grep -q 10.1.0.0/32 <(ns 1 ip -br addr show dev torus0)
check "ping is answered" ping_ok 0 10.1.0.0
check "ping over IPv6 is answered" ping_ok 0 fd74:6f72:1::
check "ping on VCD1 is answered" ping_ok 0 -Q 0x80 10.1.0.0
check "ping on VCA is answered" ping_ok 0 -Q 0x20 10.1.0.0
check "VCD0 carries packets that ask for no channel" takes_only vcd0 0
check "VCD1 carries packets that ask for it" takes_only vcd1 0x80
check "VCA carries packets that ask for it" takes_only vca 0x20
check "ping of 60000 bytes is answered" ping_ok 0 -s 60000 10.1.0.0
check "the queue in front of a busy NIC has a limit, which can be set" queue_is
check "TCP delivers what was sent" copy 0 1 100
# The timer may send it again if the other end had to wait for a processor.
check "no packet was retransmitted" equals 0 port 0 e_received 0
check "UDP delivers what was sent" datagrams 0 10.1.0.0
check "UDP over IPv6 delivers what was sent" datagrams 0 fd74:6f72:1::
check "three seconds of a flow wait for the end of a hold" held
if segments; then
	check "datagrams were merged for the host" more_than 1 node host_merged 100
else
	skip "datagrams were merged for the host" "Linux $(uname -r) has no USO: 6.2 has"
fi

nic 1 events 1 >"$tmp/events" &
until_true 20 grep -q subscribed "$tmp/events"
check "a management packet is sent" nic 0 mgmt 0 hello
check "the management packet arrives" until_true 20 grep -qx "mgmt 1 hello" "$tmp/events"

nic 0 fault 0 latency=30000000
check "latency is added" [ "$(ns 0 ping -c 2 -i 0.1 10.1.0.0 | awk -F/ '/^rtt/ { print ($4 >= 30) }')" = 1 ]
nic 0 fault 0 latency=0

nic 0 fault 0 ber=1000000000000 seed=7
nic 1 fault 1 ber=1000000000000 seed=8
check "TCP is intact at a bit error rate of 1e-6" copy 0 1 100
check "bit errors were detected" more_than 1 port 1 crc_errors 10
check "packets with errors were replayed" more_than 0 port 0 replayed_packets 10
check "no packet was lost" equals 1 node lost 0
nic 0 fault 0 ber=0
nic 1 fault 1 ber=0

# --- a link dies and returns -----------------------------------------------------

session_of() { nic "$1" received "$2" | cut -d' ' -f1; }

# stray ADDRESS: sends n1 frames without a packet from this Ethernet address
stray() {
	ip netns exec "$id-0" python3 - "$1" <<-'PY'
		import socket, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("e", 0))
		source = bytes.fromhex(sys.argv[1].replace(":", ""))
		for _ in range(10):
		    s.send(b"\xff" * 6 + source + b"\x88\xb5" + b"\xa5" * 128)
	PY
}
address_of() { ip -n "$id-$1" -j link show dev "$2" | jq -r '.[0].address'; }
unread() { echo $(($(nic 1 port 1 crc_errors) + $(nic 1 port 1 malformed))); }
# n1 reads frames in their order, so it has read these before those of the ping.
ignores_stranger() {
	local before
	before=$(unread)
	stray 02:00:00:00:00:01 && ping_ok 0 10.1.0.0 && [[ $(unread) == "$before" ]]
}
hears_neighbour() {
	local before
	before=$(unread)
	stray "$(address_of 0 e)" && ping_ok 0 10.1.0.0 && (($(unread) > before))
}
# sent_to N DEVICE: succeeds if all of 20 frames that come to this device are sent to its address
sent_to() {
	local reader
	ip netns exec "$id-$1" python3 - "$2" >"$tmp/frames" <<-'PY' &
		import socket, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind((sys.argv[1], 0x88b5))
		s.settimeout(20)
		print("listening", flush=True)
		print(*sorted({s.recv(65536)[:6].hex(":") for _ in range(20)}))
	PY
	reader=$!
	until_true 20 grep -q listening "$tmp/frames" && ping_ok 0 10.1.0.0 && wait $reader || return
	tail -n 1 "$tmp/frames"
	[[ $(tail -n 1 "$tmp/frames") == "$(address_of "$1" "$2")" ]]
}

check "a NIC addresses frames only to the other end of its cable" sent_to 1 w
check "the other end addresses frames only to that NIC" sent_to 0 e
check "frames of another station are ignored" ignores_stranger
check "frames from the address of the other end are processed" hears_neighbour
changes=$(nic 1 port 1 state_changes)
say "n0: ip link set e address 02:00:00:00:00:07"
ip -n "$id-0" link set e address 02:00:00:00:00:07
check "a link fails if its other end gets another address" \
	until_true 20 more_than 1 port 1 state_changes "$changes"
check "the link comes up again with the new address" until_true 20 up 1 1
until_true 20 up 0 0
mend_by_hand 0 0 1 1
mend_by_hand 1 1 0 0
check "ping to the new address is answered" ping_ok 0 10.1.0.0

nic 0 fault 0 silence=1
check "silence is detected" until_true 20 state_is 0 0 "faulty silence"
check "silence is detected at the other end" until_true 20 state_is 1 1 "faulty silence"
ns 0 ping -q -c 3 -i 0.05 -W 1 10.1.0.0 >/dev/null
check "packets are parked" until_true 10 more_than 0 node parked 2
parked_flows() { [[ $(nic 0 flows | xargs) =~ ^0\ 1\ 0\ [1-9][0-9]*\ more\ 0$ ]]; }
check "a NIC reports whose packets are parked" parked_flows
read -r session seq < <(nic 1 received 1)
nic 0 fault 0 silence=0
check "the link comes up again after silence" until_true 20 state_is 0 0 "up silence"
mend_by_hand 1 1 0 0
check "parked packets are replayed" mend_by_hand 0 0 1 1 "$session" "$seq"
check "all parked packets are replayed" until_true 10 more_than 0 node replayed 2
check "ping after replay is answered" ping_ok 0 10.1.0.0
check "no packet arrived twice" equals 1 node duplicates 0

say "n1: ip link set w down"
ip -n "$id-1" link set w down
check "carrier loss is detected" until_true 20 state_is 1 1 "faulty carrier"
check "carrier loss is detected at the other end" until_true 20 state_is 0 0 "faulty carrier"
ip -n "$id-1" link set w up
check "the link comes up again with its carrier" until_true 20 state_is 0 0 "up carrier"
until_true 20 state_is 1 1 "up carrier"
mend_by_hand 0 0 1 1
mend_by_hand 1 1 0 0
check "ping after mending is answered" ping_ok 0 10.1.0.0

say "n0: ip link del e"
ip -n "$id-0" link del e
check "deleting the device of a port loses its carrier" until_true 20 state_is 0 0 "faulty carrier"
cable 0
check "a new device of that name is bound to the port" until_true 20 state_is 0 0 "up carrier"
until_true 20 state_is 1 1 "up carrier"
mend_by_hand 0 0 1 1
mend_by_hand 1 1 0 0
check "ping over the new device is answered" ping_ok 0 10.1.0.0

# --- unreachable ----------------------------------------------------------------

nic 0 invalid 1
check "the host learns that a node is unreachable" \
	grep -q "Host Unreachable" <(ns 0 ping -c 2 -i 0.1 -W 20 10.1.0.0)
check "the host learns over IPv6 that a node is unreachable" \
	grep -q "Address unreachable" <(ns 0 ping -c 2 -i 0.1 -W 20 fd74:6f72:1::)
check "unreachable packets are counted" more_than 0 node unreachable 1
nic 0 place 4 1
check "a new place has a new address" grep -q 10.1.0.0/32 <(ns 0 ip -br addr show dev torus0)
check "the old address is gone" [ -z "$(ip -n "$id-0" -br addr show dev torus0 to 10.0.0.0)" ]
kill "${pid[0]}"
wait "${pid[0]}"
check "SIGTERM ends with status 0" [ $? = 0 ]
check "SIGTERM removes the socket" [ ! -e "$tmp/n0.nic" ]

# --- four nodes ---------------------------------------------------------------

cable 1
cable 2
start 0 +x=e
start 2 +x=e -x=w
start 3 -x=w
nic 1 attach 0 e
for n in 0 1 2; do until_true 20 up $n 0; until_true 20 up $((n + 1)) 1; done
for n in 0 1 2 3; do place $n; done
for l in "0 0 1 1" "1 1 0 0" "1 0 2 1" "2 1 1 0"; do
	# shellcheck disable=SC2086
	mend_by_hand $l
done
check "ping over three links is answered" ping_ok 0 10.3.0.0
check "ping back over three links is answered" ping_ok 3 10.0.0.0
check "TCP over three links delivers what was sent" copy 0 3 100
check "transit nodes count the packets they forwarded" more_than 1 node forwarded 25000
nic 1 fault 0 ber=1000000000000
check "TCP over three links, one with errors, delivers what was sent" copy 0 3 50
nic 1 fault 0 ber=0

say "n2: kill -9"
kill -9 "${pid[2]}"
wait "${pid[2]}" 2>/dev/null
both_are() { state_is 1 0 "$1" && state_is 3 1 "$1"; }
check "both neighbours notice that a NIC was killed" until_true 20 both_are "faulty silence"
start 2 +x=e -x=w
check "the killed NIC starts again on its old socket" until_true 20 state_is 2 1 "up none"
check "the links of the killed NIC come up again" until_true 20 both_are "up silence"

# --- what else torusemu.8 says -------------------------------------------------------

drops() { ns "$1" ip -j -s link show torus0 | jq '.[0].stats64.tx.dropped'; }

# queued LENGTH DATAGRAMS DROPPED: whether this many are dropped while the NIC gets no processor
# time. The kernel frees up to 16 places of such a queue at once.
queued() {
	local n rc
	ns 0 ip link set torus0 txqueuelen "$1" && n=$(drops 0) || return 1
	kill -STOP "${pid[0]}"
	ip netns exec "$id-0" python3 - "$2" <<-'PY'
		import socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.setsockopt(socket.SOL_SOCKET, 32, 1 << 26)	# SO_SNDBUFFORCE
		for i in range(int(sys.argv[1])):
		    s.sendto(b"x", ("10.1.0.0", 9))
	PY
	rc=$?
	kill -CONT "${pid[0]}"
	n=$(($(drops 0) - n))
	echo "dropped $n"
	((rc == 0 && n >= $3 && n <= $3 + ($3 ? 15 : 0)))
}

queue() {
	ns 0 ip -j link show torus0 | jq -e '.[0].txqlen == 4096' && queued 4096 4080 0 &&
		queued 4096 4196 100 && queued 50 150 100
}
check "4096 messages wait for a busy NIC, or as many as txqueuelen allows" queue

# The default identity: always the same for one name and machine, and different for others.
guid() { # MACHINE-ID NAME
	local p
	echo "$1" >"$tmp/machine-id"
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$1" /etc/machine-id && shift && exec "$@"' sh "$tmp/machine-id" \
		"$emu" --foreground --name "$2" --ports 2 --no-tun --socket "$tmp/guid.nic" 2>>"$tmp/guid.log" &
	p=$!
	until_true 20 "$tool" "$tmp/guid.nic" node lost >/dev/null || return 1
	TORUS_RUNDIR=$tmp "$B/fabricctl" device list --json |
		jq -r --arg n "$2" '.[] | select(.name == $n) | .guid'
	kill "$p" && wait "$p"
}

guids() {
	local a b c d
	[[ -e /etc/machine-id ]] || : >/etc/machine-id
	a=$(guid 0123456789abcdef0123456789abcdef one) && b=$(guid 0123456789abcdef0123456789abcdef one) &&
		c=$(guid 0123456789abcdef0123456789abcdee one) &&
		d=$(guid 0123456789abcdef0123456789abcdef two) || return 1
	echo "$a $b $c $d"
	[[ $a && $c && $d && $a == "$b" && $a != "$c" && $a != "$d" && $c != "$d" ]]
}
check "the default GUID follows from the machine id and the NIC's name" guids

# n2 without a host side: messages for it are dropped and counted, all others pass.
no_tun() {
	local drops
	kill "${pid[2]}" && wait "${pid[2]}"
	no_tun=(--no-tun)
	start 2 +x=e -x=w
	no_tun=()
	until_true 20 up 2 0 && until_true 20 up 2 1 && until_true 20 up 1 0 && until_true 20 up 3 1 &&
		place 2 && mend_by_hand 1 0 2 1 && mend_by_hand 2 1 1 0 && mend_by_hand 2 0 3 1 &&
		mend_by_hand 3 1 2 0 || return 1
	ns 2 ip link show torus0 2>/dev/null && return 1
	ping_ok 1 10.3.0.0 && drops=$(nic 2 node host_drops) || return 1
	! ns 1 ping -q -c 3 -i 0.05 -W 1 10.2.0.0 && more_than 2 node host_drops $((drops + 2))
}
check "a NIC without a host forwards, and counts packets for itself as drops" no_tun

# capable PID CAPABILITIES: whether the process has these, in hexadecimal, and can get no others
capable() {
	local want
	want=$(printf '%016x' "0x$2")
	[[ $(sed -nE 's/^(Cap(Prm|Eff)|NoNewPrivs):\t//p' "/proc/$1/status" | xargs) == "$want $want 1" ]] ||
		{ grep -E '^(Cap|NoNew)' "/proc/$1/status"; return 1; }
}
check "torusemu keeps CAP_NET_ADMIN and CAP_NET_RAW of root's capabilities" capable "${pid[3]}" 3000

# With its tun device in another namespace
visitor() {
	local p rc=0
	"$emu" --foreground --name v --ports 2 --netns "/run/netns/$id-3" --tun v0 --socket "$tmp/v.nic" 2>>"$tmp/v.log" &
	p=$!
	until_true 20 "$tool" "$tmp/v.nic" node lost && ns 3 ip link show v0 && capable "$p" 203000 || rc=1
	kill "$p" && wait "$p" && return $rc
}
check "torusemu with --netns also keeps CAP_SYS_ADMIN" visitor

# --- two writers of rows -----------------------------------------------------------

two_writers() {
	local other="another socket began to write rows meanwhile"
	nic 3 two | sed 's/: .*: /: /; s/ (Stale file handle)$//' >"$tmp/two"
	diff "$tmp/two" - <<-EOF
		first begins: done
		second puts: $other
		second begins: done
		first puts: $other
		second puts: done
		first commits: $other
		first begins: done
		first commits: done
		first commits: VERSION is 2; active is 2
	EOF
}
check "rows are accepted from the client that began last" two_writers

# --- two roots ---------------------------------------------------------------------

# The NIC obeys the later root, whatever the former one still orders.
two_roots() {
	local former="root 000000000000000a of epoch 5: the NIC obeys 000000000000000b of 6"
	nic 3 roots | sed -E 's/: [a-z ]+: /: /; s/ \(Stale file handle\)$//' >"$tmp/roots"
	diff "$tmp/roots" - <<-EOF
		5 of 0xa: done
		5 of 0xb: root 000000000000000b of epoch 5: the NIC obeys 000000000000000a of 5
		nobody begins: the NIC obeys root 000000000000000a of epoch 5; this names none
		first begins: done
		first commits: done
		rows of 5
		first begins: VERSION is 1; active is 2
		first begins: done
		6 of 0xb: done
		first commits: $former
		first begins: $former
		first commits: $former
		first replays: $former
		first releases: $former
		first places: $former
		later begins: done
		later commits: done
		later replays: done
		later releases: done
		later places: done
		nobody places: done
		obeys 0
		first again: done
	EOF
}
check "a NIC obeys the latest root only" two_roots

# --- bad input ---------------------------------------------------------------------

# refused TEXT OPTION...: torusemu does not start with these, and says why
refused() {
	exits 2 "$1" ip netns exec "$id-0" "$emu" --name x --ports 2 --socket "$tmp/x.nic" --tun x0 "${@:2}"
}
while IFS='|' read -r -u 3 bad why; do
	# shellcheck disable=SC2086
	check "options are refused: $bad" refused "$why" $bad
done 3<<'END'
--ports 3|an even number, 2 to 12
--ports 14|an even number, 2 to 12
--ports x|an even number, 2 to 12
--port +y=e|'+y' is not a port
--port +x|PORT=IFNAME
--port +x=e --port +x=w|port +x has a device already: e
--guid 0|1 to 16 hexadecimal digits, not 0
--guid 12z|1 to 16 hexadecimal digits
--set slots=0|'0' is out of range, must be 1 to 1024
--set slots=3|--set slots: 3 is out of range, must be 4 to 1024 with bubble=bloc
--set bubble=cbs --set slots=1|--set slots: 1 is out of range, must be 2 to 1024 with bubble=cbs
--set bubble=none|'none' is not bloc, cbs or mbs
--set dscp_vca=8,64|'8,64' is not none, or DSCPs from 0 to 63 such as 8,10-12
--set slots=|'' is not a number
--set nonsense=1|PARAM one of keepalive
--set keepalive=100|'100' is not a number with ns, us, ms, s or min
--set silence=1ms|must be longer than keepalive
--log-level loud|must be error, warning, info or debug
--nonsense|option '--nonsense'
extra|there is no argument 'extra'
END
check "a socket in use is refused" refused "n0.nic: another NIC listens there" --socket "$tmp/n0.nic"
check "a device that does not exist is refused" refused "nonsense: No such device" --port +x=nonsense
check "a device that is not Ethernet is refused" refused "lo: not an Ethernet device" --port +x=lo
chmod 711 "$tmp"
check "a client that is not root is refused" \
	[ "$(setpriv --reuid 65534 --clear-groups "$tool" "$tmp/n0.nic" node lost 2>&1 | grep -ci permission)" = 1 ]
check "a port out of range is refused" grep -q "must be 0 to 1" <(nic 0 state 5 2>&1)
check "only the owner may use the socket" [ "$(stat -c %a "$tmp/n0.nic")" = 600 ]

done_testing
