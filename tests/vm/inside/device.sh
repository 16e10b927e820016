#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel as an administrator uses them: made, attached, listed and removed with
# fabricctl; fabricd finds them when they appear, notices when they disappear, and gives them
# their addresses. Two nodes, a ring of two, each end of a cable in a namespace.

TOP=${TOP:-$(cd "$(dirname "$0")/../../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
tag="device: "
pids=()

at() { local ns=$1; shift; say "$ns: $*"; ip netns exec "$ns" "$@"; }
dev() { local ns=$1; shift; at "$ns" "$B/fabricctl" device "$@"; }
ask() { TORUS_CONTROL=$tmp/$1.control "$B/fabricctl" "${@:2}"; }

# shellcheck disable=SC2317
cleanup() {
	((${#pids[@]})) && kill "${pids[@]}" 2>/dev/null
	wait
	ip netns del dev0 2>/dev/null
	ip netns del dev1 2>/dev/null
}

# listed NS FILTER WANT: whether the list of devices has this
listed() {
	local got
	got=$(ip netns exec "$1" "$B/fabricctl" device list --json | jq -r "$2")
	[[ $got == "$3" ]] || { echo "'$2' is '$got', not '$3'"; return 1; }
}

network() {
	ip netns add dev0 && ip netns add dev1 || return 1
	for c in a b; do
		ip link add "c$c" netns dev0 mtu 65535 type veth peer name "c$c" netns dev1 &&
			ip -n dev1 link set "c$c" mtu 65535 &&
			ip -n dev0 link set "c$c" up && ip -n dev1 link set "c$c" up || return 1
	done
	ip link add svc netns dev0 type veth peer name svc netns dev1 &&
		ip -n dev0 addr add 172.31.0.1/24 dev svc && ip -n dev1 addr add 172.31.0.2/24 dev svc &&
		ip -n dev0 link set svc up && ip -n dev1 link set svc up
}

# --- by hand --------------------------------------------------------------------

made() {
	dev dev0 add torus0 --ports 2 --guid 00c0ffee --nic-name left --bootstrap "${patient[@]}" &&
		dev dev1 add torus0 --ports 2 --guid 00c0fff0 --set silence=3s --set slots=8 \
			--set park_bytes=1M || return 1
	listed dev0 '.[] | "\(.device) \(.name) \(.guid) \(.bootstrap) \(.ports | length) \(.node)"' \
		'genl:torus0 left 0000000000c0ffee true 2 null' &&
		listed dev1 '.[] | "\(.name) \(.bootstrap) \(.driver)"' 'torus0 false torus'
}

carries() {
	dev dev0 add torus8 --ports 2 --set payload_max=8192 --set relay_packets=99 &&
		listed dev0 '.[] | select(.interface == "torus8") |
			"\(.payload_max) \(.relay_packets)"' '8192 99'
}
reason_is() {
	listed "$1" ".[] | select(.interface == \"$2\") | .ports[] | select(.lower == \"ca\") |
		\"\\(.state) \\(.reason)\"" "$3"
}
differ() {
	dev dev0 attach torus8:+x ca && dev dev1 attach torus0:-x ca &&
		until_true 20 reason_is dev0 torus8 'init mismatch' &&
		until_true 20 reason_is dev1 torus0 'init mismatch' &&
		dev dev1 detach torus0:-x && dev dev0 del torus8
}

# A namespace only shows its own NICs.
apart() {
	listed dev0 length 1 && exits 2 "'right'" dev dev0 attach right:+x ca &&
		[[ $("$B/fabricctl" device list --json | jq length) == 0 ]]
}

refused() {
	exits 2 torus0 dev dev0 add torus0 &&
		exits 2 '+y' dev dev0 attach torus0:+y ca &&
		exits 2 nosuch dev dev0 attach torus0:+x nosuch &&
		exits 2 nosuch dev dev0 del nosuch &&
		exits 2 "'ca'" dev dev0 del ca &&
		exits 4 'sudo' ip netns exec dev0 setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$tmp/fabricctl" device attach torus0:+x ca &&
		listed dev0 '[.[].ports[].lower] | unique | join(",")' ''
}

# Attribute @2, enum torus_ifla, of torus0 in namespace @1 as the driver shows it; u64.
attribute() {
	at "$1" python3 - "$2" <<-'END'
		import socket, struct, sys
		s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
		s.send(struct.pack("=IHHII BBHiII HH8s", 44, 18, 1, 0, 0, 0, 0, 0, 0, 0, 0, 11, 3, b"torus0"))
		def attrs(b):
		    while len(b) >= 4:
		        n, t = struct.unpack_from("=HH", b)
		        yield t & 0x3fff, b[4:n]
		        b = b[(n + 3) & ~3:]
		info = dict(attrs(dict(attrs(s.recv(65536)[32:]))[18]))
		print(int.from_bytes(dict(attrs(info[2]))[int(sys.argv[1])], "little"))
	END
}

# Parameters reach the driver, which shows them; unknown ones are not sent.
parameters() {
	local d=dev1
	exits 2 keepalive dev $d add torus9 --set silence=50ms &&
		exits 2 "'2h'" dev $d add torus9 --set silence=2h &&
		exits 2 ack_delay dev $d add torus9 --set ack_delay=60ms &&
		exits 2 '4 to 1024 with bubble=bloc' dev $d add torus9 --set slots=2 &&
		[[ $(attribute $d 8) == 3000000000 && $(attribute $d 7) == 100000000 &&
			$(attribute $d 18) == 8 && $(attribute $d 20) == 1048576 ]]
}

# By each name that a NIC has: that of its interface, its own, and its index.
plugged() {
	local index
	index=$(ip -n dev0 -j link show torus0 | jq '.[0].ifindex')
	dev dev0 attach torus0:+x ca && dev dev0 attach left:-x cb && dev dev0 detach left:-x &&
		dev dev0 attach "$index:-x" cb &&
		dev dev1 attach genl:torus0:-x ca && dev dev1 attach torus0:+x cb &&
		until_true 10 listed dev0 '[.[].ports[].state] | join(",")' up,up &&
		until_true 10 listed dev1 '[.[].ports[].state] | join(",")' up,up
}

# --- the manager -------------------------------------------------------------------

manager() {
	local ns=$1 address=$2
	cat >"$tmp/$ns.conf" <<-CONF
		fabric = device
		name = $ns
		shape = 2
		device = ${3-auto}
		service_address = $address:7117
		key_file = $tmp/key
		control = $tmp/$ns.control
		log_level = debug
	CONF
	ip netns exec "$ns" "$B/fabricd" --config "$tmp/$ns.conf" >>"$tmp/$ns.log" 2>&1 &
	pids+=($!)
}

state_is() { [[ $(ask "$1" status --json 2>/dev/null | jq -r "$2" 2>/dev/null) == "$3" ]]; }
# A manager without a NIC reports this.
misses() { ask "$1" status 2>&1 | grep -q -- "$2"; }

both_run() {
	manager dev0 172.31.0.1
	manager dev1 172.31.0.2 genl:torus0
	until_true 20 state_is dev0 '"\(.state) \(.nodes.up)"' 'running 2' &&
		answered at dev0 ping -q -c 2 -W 30 10.1.0.0 && answered at dev1 ping -q -c 2 -W 30 fd74:6f72:: &&
		listed dev1 '.[] | "\(.node[0]) \(.shape[0])"' '1 2'
}

# Far less than the 5 s after which a manager looks for sockets by itself.
nic_goes_and_comes() {
	dev dev1 del torus0 && until_true 10 misses dev1 'no kernel NIC' &&
		until_true 20 state_is dev0 .nodes.up 1 || { ask dev1 status; return 1; }
	sleep 6	# it now looks for itself only every 5 s
	dev dev1 add torus0 --ports 2 --guid 00c0fff0 "${patient[@]}" && dev dev1 attach torus0:-x ca &&
		dev dev1 attach torus0:+x cb || return 1
	until_true 20 state_is dev0 '"\(.state) \(.nodes.up)"' 'running 2' &&
		answered at dev0 ping -q -c 2 -W 30 10.1.0.0 &&
		grep -q 'torus0: add' "$tmp/dev1.log" || { tail -n 30 "$tmp/dev1.log"; return 1; }
}

# A NIC that moves to another namespace counts as removed.
nic_moves() {
	dev dev1 detach torus0:+x && ip netns add dev2 &&
		ip -n dev1 link set torus0 netns dev2 && until_true 10 misses dev1 'no kernel NIC' &&
		listed dev1 length 0 && listed dev2 '.[].name' torus0 || { ip netns del dev2; return 1; }
	ip netns del dev2
	dev dev1 add torus0 --ports 2 --guid 00c0fff0 "${patient[@]}" && dev dev1 attach torus0:-x ca &&
		dev dev1 attach torus0:+x cb &&
		until_true 20 state_is dev0 '"\(.state) \(.nodes.up)"' 'running 2'
}

manager_restarts() {
	kill -9 "${pids[0]}"
	wait "${pids[0]}" 2>/dev/null
	rm -f "$tmp/dev0.control"
	ip -n dev0 addr flush dev torus0
	manager dev0 172.31.0.1
	until_true 20 state_is dev0 '"\(.state) \(.nodes.up)"' 'running 2' &&
		answered at dev0 ping -q -c 2 -W 30 10.1.0.0 && answered at dev0 ping -q -c 2 -W 30 fd74:6f72:1::
}

# The status reports it: a second NIC is ignored; with two at the start the manager waits.
two_nics() {
	dev dev0 add torus7 --ports 2 && sleep 1 && until_true 10 state_is dev0 .state running || return 1
	kill "${pids[-1]}" && wait "${pids[-1]}"
	manager dev0 172.31.0.1
	until_true 10 misses dev0 '2 NICs' && dev dev0 del torus7 &&
		until_true 20 state_is dev0 '"\(.state) \(.nodes.up)"' 'running 2'
}

# up_says STATUS TEXT: "device up" of a NIC by its file in dev1
up_says() { exits "$1" "$2" ip netns exec dev1 "$B/fabricctl" device up torus5 --config "$tmp/torus5.conf"; }

# Read again: a name is changed while the NIC runs, a parameter is named, and all else is done.
read_again() {
	printf 'ports = 2\nguid = c0ffee05\n' >"$tmp/torus5.conf" && up_says 0 '' && up_says 0 '' &&
	printf 'name = five\nsilence = 3s\n' >>"$tmp/torus5.conf" &&
	up_says 3 'its file 3000000000 ns: this is set only when the NIC is made' &&
	listed dev1 'map(.name) | index("five") != null' true && up_says 3 'has silence' &&
	dev dev1 del torus5 && up_says 0 '' && up_says 0 '' && dev dev1 del torus5
}

cp "$B/fabricctl" "$tmp" && chmod 755 "$tmp" "$tmp/fabricctl"
head -c 32 /dev/urandom | base64 >"$tmp/key" && chmod 600 "$tmp/key"
check "a network is made" network
check "fabricctl device add makes a NIC with the requested properties" made
check "fabricctl device list shows payload_max and relay_packets" carries
check "ends with different parameters report the difference" differ
check "each namespace has its own NICs" apart
check "wrong parameters are refused by name" refused
check "parameters reach the driver, which shows them" parameters
check "a device can be bound by any of its names" plugged
check "managers find the NICs and give them addresses" both_run
check "a manager notices a deleted and a new NIC by uevents" nic_goes_and_comes
check "a NIC can move to another namespace" nic_moves
check "a restarted manager restores flushed addresses" manager_restarts
check "a manager reports two NICs" two_nics
check "a changed file of a NIC is read again" read_again
done_testing
