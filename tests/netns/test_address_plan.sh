#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# A lab with other prefixes than 10.0.0.0/8 and fd74:6f72::/32: addresses, routes and answers are of
# these. The root reads a new prefix from its configuration under traffic: all interfaces get new
# addresses in one recovery, and flows by addresses that stay lose nothing. A restart and a takeover
# change nothing, and bad prefixes are refused. A route that another interface has stays. A node that
# gets a service address in the plan does not take the plan.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=plan$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

at() { ip netns exec "$lab-$1" "${@:2}"; }
pid_of() { cut -d' ' -f1 "$run/$1/fabricd.pid"; }
plan_is() { is '"\(.address4) \(.address6)"' "$1 $2"; }
# addresses NODE IPV4 IPV6: these and no others are those of its interface
addresses() {
	[[ $(at "$1" ip -br addr show torus0 | awk '{ print $3, $4, $5 }') == "$2/32 $3/128 " ]]
}
# routes NODE NET4 NET6: these and no others lead to the torus
routes() {
	[[ $(at "$1" ip route show dev torus0 | awk '{ print $1 }') == "$2" ]] &&
		[[ $(at "$1" ip -6 route show dev torus0 | awk '$1 ~ "/" { print $1 }') == "$3" ]]
}
pings() { at "$1" ping -q -c 2 -i 0.1 -W 5 "$2"; }

first() {
	addresses 2.1 192.168.2.1 fd00:1:2:3:2:1:: && routes 2.1 192.168.0.0/16 fd00:1:2:3::/64 &&
		pings 2.1 192.168.1.0 && pings 2.1 fd00:1:2:3:0:1::
}
answers() {
	plan_is 192.168.0.0/16 fd00:1:2:3::/64 &&
		ask status | grep -x "addresses of 192.168.0.0/16 and fd00:1:2:3::/64" &&
		[[ $(ask nodes --json | jq -r '.[] | select(.name == "n2-1").address') == 192.168.2.1 ]] &&
		[[ $(ask coord --json | jq -r .address) == 192.168.0.0 ]] &&
		ask nodes 192.168.2.1 | grep n2-1 && ask nodes fd00:1:2:3:2:1:: | grep n2-1 &&
		lab hosts | grep -P '^192.168.2.1\tn2-1$' &&
		at 0.0 getent hosts n2-1
}
# set_plan NODE ADDRESS4 ADDRESS6: in the configuration of its manager
set_plan() {
	sed -i "s|^address4 = .*|address4 = $2|; s|^address6 = .*|address6 = $3|" "$run/$1/fabricd.conf"
}
reload() { set_plan "$1" "$2" "$3" && kill -HUP "$(pid_of "$1")"; }

# The IPv6 prefix changes while UDP and TCP flow by IPv4 addresses: one recovery, nothing lost.
under_traffic() {
	local pid version rc=1
	version=$(version) && note_sent 0,0 || return 1
	"$bin/fabricctl" lab traffic --name "$lab" 0,0 2,1 --seconds 3 --json >"$tmp/traffic" &
	pid=$!
	flows_from 0,0 && reload 0.0 192.168.0.0/16 fd00:9::/48 &&
		until_true 10 plan_is 192.168.0.0/16 fd00:9::/48 && until_true 10 all_have fd00:9 && rc=0
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	jq -e '.flows | map([.protocol, .clean]) == [["tcp", true], ["udp", true]]' "$tmp/traffic" && all_came_once || rc=1
	[[ $(version) == $((version + 1)) ]] || { say "version $version became $(version)"; rc=1; }
	return $rc
}
# The IPv6 address as ip(8) prints it.
short() { python3 -c 'import ipaddress, sys; print(ipaddress.ip_address(sys.argv[1]))' "$1"; }
all_have() {
	local n
	for n in 0.0 1.0 2.0 0.1 1.1 2.1; do addresses "$n" "192.168.$n" "$(short "$1:0:${n/./:}::")" || return 1; done
}
second() {
	routes 2.1 192.168.0.0/16 fd00:9::/48 && pings 2.1 fd00:9:0:0:1:: &&
		! at 2.1 ping -q -c 1 -W 1 fd00:1:2:3:0:1::
}

# The root's configuration changes, and its manager starts again: the fabric stays as it is.
restarted() {
	set_plan 0.0 198.18.0.0/15 fd00:9::/48
	lab kill --manager 0,0 && lab revive 0,0 && until_true 20 is .nodes.up 6 && all_have fd00:9 && plan_is 192.168.0.0/16 fd00:9::/48 &&
		until_true 10 problem "'systemctl reload fabricd' there changes them"
}
problem() { ask status --json | jq -e --arg t "$1" '.problems[] | select(.kind == "plan" and (.text | contains($t)))'; }
no_problem() { ask status --json | jq -e '[.problems[] | select(.kind == "plan")] == []'; }

taken_over() {
	lab kill --power 0,0 && until_true 20 led_by_other && until_true 10 seen_plan &&
		lab revive 0,0 && until_true 20 is .nodes.up 6 && until_true 20 all_have fd00:9 &&
		pings 0.0 192.168.2.1
}
seen() { "$TOP/tests/netns/ask" "$run/2.1/control" status | jq -r "$1"; }
led_by_other() { [[ $(seen '.data.root.reachable') == true && $(seen '.data.root.node | map(tostring) | join(",")') != 0,0 ]]; }
seen_plan() { [[ $(seen '.data.address4') == 192.168.0.0/16 ]]; }

root_dir() { ask status --json | jq -r '.root.node | map(tostring) | join(".")'; }
problem_with() { ask status --json | jq -e --arg t "$1" '.problems[] | select(.text | contains($t))'; }
no_config_problem() { ask status --json | jq -e '[.problems[] | select(.kind == "config")] == []'; }
# refused PREFIX TEXT: the manager of the root says TEXT about it in its log and in the status of the
# fabric, and makes no table
refused() {
	local n version
	n=$(root_dir)
	version=$(version)
	reload "$n" "$1" fd00:9::/48
	until_true 10 grep -F -- "$2" "$run/$n/fabricd.log" && [[ $(version) == "$version" ]] &&
		until_true 10 problem_with "$2"
}
# A file with an error is a problem that names file and line, with the next step, until it is read.
unread() {
	local n
	n=$(root_dir)
	problem_with "$run/$n/fabricd.conf:" | jq -e '.kind == "config"' &&
		{ ask status || [[ $? == 1 ]]; } >"$tmp/status" &&
		grep -F "events --kind config --lab $lab" "$tmp/status" | grep "systemctl reload fabricd" &&
		ask events --level error --kind config | grep -F "$run/$n/fabricd.conf:"
}
read_again() {
	until_true 10 no_config_problem && ask events --kind config | grep "over: .*fabricd.conf"
}
accepted() {
	reload "$(root_dir)" 198.18.0.0/17 fd00:9::/48
	until_true 10 plan_is 198.18.0.0/17 fd00:9::/48 && until_true 10 addresses 2.1 198.18.0.5 fd00:9:0:2:1:: &&
		pings 2.1 198.18.0.1 && until_true 10 no_problem
}
# A network of another interface of a node becomes the plan: its route stays, and an error names it.
other_network() {
	at 2.1 ip link add other0 type veth peer name other1 &&
		at 2.1 ip addr add 198.51.100.99/24 dev other0 && at 2.1 ip link set other0 up ||
		return 1
	reload "$(root_dir)" 198.51.100.0/24 fd00:9::/48
	until_true 10 plan_is 198.51.100.0/24 fd00:9::/48 &&
		until_true 10 grep -F "198.51.100.0/24 is already a route of interface other0" -r "$run" --include="*.log" &&
		at 2.1 ip route show 198.51.100.0/24 | grep "dev other0" &&
		! at 2.1 ip route show 198.51.100.0/24 | grep "dev torus0" &&
		until_true 10 routes 1.1 198.51.100.0/24 fd00:9::/48 || return 1
	at 2.1 ip link del other0
	reload "$(root_dir)" 198.18.0.0/17 fd00:9::/48
	until_true 10 addresses 2.1 198.18.0.5 fd00:9:0:2:1:: && until_true 10 routes 2.1 198.18.0.0/17 fd00:9::/48
}


# own_address_add IP [PEER]: with the protocol number of the manager, which ip(8) cannot set
own_address_add() {
	at 2.1 python3 - "$@" <<'EOF'
import ipaddress, socket, struct, sys
ip = ipaddress.ip_address(sys.argv[1])
def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
body = struct.pack("=BBBBI", 2 if ip.version == 4 else 10, ip.max_prefixlen, 2, 0, socket.if_nametoindex("torus0"))
body += attr(2, ip.packed) + attr(11, b"\x75")
body += b"".join(attr(1, ipaddress.ip_address(peer).packed) for peer in sys.argv[2:])
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.send(struct.pack("=IHHII", 16 + len(body), 20, 0x605, 1, 0) + body)
sys.exit(-struct.unpack_from("=i", s.recv(4096), 16)[0])
EOF
}
# Addresses and routes of a manager that died while it changed the prefixes go with the next change;
# those that an admin has added stay.
leftovers() {
	local n

	for n in 1 2 3 4 5; do
		at 2.1 ip route add 192.0.$((2 + n)).0/24 dev torus0 proto 117 && own_address_add 192.0.$((2 + n)).9 &&
			own_address_add 192.0.$((2 + n)).10 203.0.113.$n || return 1
	done
	at 2.1 ip route add 192.0.2.0/24 dev torus0 proto 117 && own_address_add 192.0.2.9 &&
		at 2.1 ip route add fd00:99::/48 dev torus0 proto 117 && own_address_add fd00:99::9 &&
		own_address_add fd00:99::10 fd00:99::11 &&
		at 2.1 ip route add fd00:99::/48 dev torus0 proto static metric 100 &&
		at 2.1 ip route add 203.0.113.0/24 dev torus0 proto static && at 2.1 ip addr add 203.0.113.9/32 dev torus0 ||
		return 1
	reload "$(root_dir)" 198.19.0.0/17 fd00:9::/48
	until_true 10 plan_is 198.19.0.0/17 fd00:9::/48 && until_true 10 routes 2.1 $'198.19.0.0/17\n203.0.113.0/24' $'fd00:9::/48\nfd00:99::/48' &&
		at 2.1 ip -6 route show fd00:99::/48 | grep static &&
		[[ $(at 2.1 ip -br addr show torus0 | awk '{ $1 = $2 = ""; print }') == "  203.0.113.9/32 198.19.0.5/32 fd00:9:0:2:1::/128" ]] ||
		{ at 2.1 ip -br addr show torus0; at 2.1 ip route show dev torus0; at 2.1 ip -6 route show dev torus0; return 1; }
	at 2.1 ip route del fd00:99::/48 dev torus0 && at 2.1 ip route del 203.0.113.0/24 dev torus0 && at 2.1 ip addr del 203.0.113.9/32 dev torus0
	reload "$(root_dir)" 198.18.0.0/17 fd00:9::/48
	until_true 10 routes 2.1 198.18.0.0/17 fd00:9::/48
}

# While all managers are down a node gets a service address that is in the plan, and a NIC without a
# place. The others reach it, because their routes to that address are longer than the plan's.
own_address() {
	local n conf=$run/1.1/fabricd.conf pids=() pid
	for n in 0.0 1.0 2.0 0.1 1.1 2.1; do
		pid=$(pid_of "$n")
		kill "$pid" && pids+=("$pid")
		[[ $n == 1.1 ]] || at "$n" ip route add 198.18.90.1/32 dev svc0 || return 1
	done
	for pid in "${pids[@]}"; do until_true 10 gone "$pid" || return 1; done
	lab kill 1,1 && at 1.1 ip addr add 198.18.90.1/32 dev svc0 &&
		sed -i 's|^service_address = .*|service_address = 198.18.90.1:7117|
			s|^address4 = .*|address4 = 10.0.0.0/8|' "$conf" || return 1
	lab revive --no-wait 1,1 && until_true 10 grep -F "service 198.18.90.1:7117" "$run/1.1/fabricd.log" || return 1
	for n in 1,0 2,0 0,1 2,1 0,0; do lab revive --no-wait "$n" || return 1; done
	until_true 20 grep -E "(this node|'n1-1') has the service address 198.18.90.1:7117" "$run/1.1/fabricd.log" &&
		until_true 20 problem_of refused "'n1-1' has the service address 198.18.90.1:7117" &&
		at 1.1 ip link show torus0 && ! at 1.1 ip route show dev torus0 | grep 198.18 && pings 2.1 198.18.0.1
}
gone() { ! kill -0 "$1" 2>/dev/null; }
problem_of() { ask status --json | jq -e --arg k "$1" --arg t "$2" '.problems[] | select(.kind == $k and (.text | contains($t)))'; }

cat >"$tmp/conf" <<'EOF'
address4 = 192.168.0.0/16
address6 = fd00:1:2:3::/64
EOF
check "a lab with other prefixes comes up" lab up 3x2 --config "$tmp/conf" || exit 1
check "addresses and routes are of these prefixes" first
check "fabricctl shows and accepts addresses of the plan" answers
check "the IPv6 prefix changes under traffic by IPv4" under_traffic
check "addresses of the former plan are gone" second
check "a restart of the root changes nothing" restarted
check "a takeover changes no address" taken_over
check "a prefix that is too small is refused" refused 192.168.7.0/30 \
	"too few addresses for shape 3x2: must be prefixes of at most /29"
check "a prefix with bits after its length is refused" refused 192.168.7.1/24 "address4 is '192.168.7.1/24', must be "
check "a refused configuration file is reported as a problem" unread
check "a prefix of multicast addresses is refused" refused 224.1.0.0/16 "address4 is '224.1.0.0/16', must be "
check "a prefix that contains the service network is refused" refused 172.30.0.0/16 "but 172.30.0.0/16 and fd00:9::/48 are the torus itself"
check "a valid prefix changes all addresses" accepted
check "a valid configuration file ends the problem" read_again
check "a plan replaces no route of another interface" other_network
check "addresses and routes that a dead manager left are deleted" leftovers
check "a node refuses a plan that contains its own service address" own_address
check "the lab ends" lab down
done_testing
