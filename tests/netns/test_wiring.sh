#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Wrong cables and configurations, which real managers must find and report. Each test builds a
# fabric of nine nodes, a torus of 3x3 except for its error; node i is at i % 3, i / 3, and node
# 0 is the root.
#
#	6 - 7 - 8 - (6)		Cables run from a port + to a port -. Every line
#	|   |   |		closes. The service network is a bridge.
#	3 - 4 - 5 - (3)
#	|   |   |
#	0 - 1 - 2 - (0)

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
id=tw$$
work=$tmp/work
mkdir "$work"
nodes=(0 1 2 3 4 5 6 7 8)
declare -A end nic manager config

ns() { ip netns exec "$id-$1" "${@:2}"; }

stop_all() {
	local p
	for p in "${manager[@]}" "${nic[@]}"; do
		kill -9 "$p" 2>/dev/null && wait "$p" 2>/dev/null
	done
	nic=() manager=()
}

cleanup() {
	local n
	stop_all
	for n in "${nodes[@]}" sw; do
		ip netns del "$id-$n" 2>/dev/null
	done
	rm -rf "${work:?}"/*
}
explain() {
	ctl 0 status
	grep -hE 'error|warning' "$work"/*.fabricd | tail -n 20
}

ctl() { # NODE COMMAND...
	timeout 60 "$B/fabricctl" "$2" --control "$work/$1.control" "${@:3}"
}

# is NODE FILTER COMMAND...: whether jq's FILTER is true for the output of fabricctl. -s, because
# jq 1.6 succeeds without any input.
is() {
	local node=$1 filter=$2
	shift 2
	ctl "$node" "$@" --json 2>/dev/null | jq -es ".[0] | ($filter)" >/dev/null
}

state() { is "$1" ".state == \"$2\"" status; }
# problem NODE KIND PATTERN: whether it is in the status and in the log
problem() {
	ctl "$1" status --json 2>/dev/null | jq -es --arg kind "$2" --arg text "$3" \
		'.[0].problems | any(.kind == $kind and (.text | test($text)))' >/dev/null &&
		grep -qE "$3" "$work/$1.fabricd"
}
problems() { is "$1" "[.problems[] | select(.kind == \"$3\")] | length == $2" status; }

# --- building -------------------------------------------------------------------

# The 18 cables of a torus, as end[+PORT of NODE]=NODE and port.
right_cables() {
	local n x y
	end=()
	for n in "${nodes[@]}"; do
		x=$((n % 3)) y=$((n / 3))
		end[$n:+x]=$(((x + 1) % 3 + 3 * y)):-x
		end[$n:+y]=$((x + 3 * ((y + 1) % 3))):-y
	done
	config=()
}

device() { # NODE:PORT
	local port=${1#*:}
	port=${port/+/p}
	echo "${port/-/m}"
}

cable() { # END END
	say "cable $1 = $2"
	ip link add "$(device "$1")" mtu 65535 netns "$id-${1%%:*}" type veth \
		peer name "$(device "$2")" mtu 65535 netns "$id-${2%%:*}"
	ip -n "$id-${1%%:*}" link set "$(device "$1")" up
	ip -n "$id-${2%%:*}" link set "$(device "$2")" up
}

network() {
	local n from
	ip netns add "$id-sw"
	ip -n "$id-sw" link add br0 up type bridge
	for n in "${nodes[@]}"; do
		ip netns add "$id-$n"
		ip -n "$id-$n" link set lo up
		ip link add svc0 netns "$id-$n" type veth peer name "s$n" netns "$id-sw"
		ip -n "$id-sw" link set "s$n" master br0 up
		ip -n "$id-$n" addr add "172.29.0.1$n/24" dev svc0
		ip -n "$id-$n" link set svc0 up
	done
	for from in "${!end[@]}"; do
		cable "$from" "${end[$from]}"
	done
}

start_nic() { # NODE [OPTION...]
	local n=$1 p ports=()
	for p in +x +y -x -y; do
		ip -n "$id-$n" link show "$(device ":$p")" >/dev/null 2>&1 &&
			ports+=(--port "$p=$(device ":$p")")
	done
	ip netns exec "$id-$n" "$B/torusemu" --foreground --name "n$n" --ports 4 \
		--socket "$work/$n.nic" --guid "00000000000000a$n" "${ports[@]}" "${patient[@]}" "${@:2}" \
		>>"$work/$n.torusemu" 2>&1 &
	nic[$n]=$!
	until_true 20 test -S "$work/$n.nic"
}

# start_manager NODE: starts a manager with the usual configuration and the lines of config[NODE]
start_manager() {
	local n=$1
	{
		printf 'fabric = wires\nname = n%s\nkey_file = %s\n' "$n" "$work/key"
		printf 'device = unix:%s\ncontrol = %s\n' "$work/$n.nic" "$work/$n.control"
		printf 'service_address = 172.29.0.1%s:7117\nshape = auto\n' "$n"
	} >"$work/$n.conf"
	local line
	while IFS= read -r line; do
		[[ $line ]] || continue
		sed -i "/^${line%% *} =/d" "$work/$n.conf"
		echo "$line" >>"$work/$n.conf"
	done <<<"${config[$n]-}"
	ip netns exec "$id-$n" "$B/fabricd" --config "$work/$n.conf" >>"$work/$n.fabricd" 2>&1 &
	manager[$n]=$!
}

lay_out() {
	network
	(umask 077 && echo "the key of all these nodes" >"$work/key")
}

# Roots begin when all others are there: without a node that comes late the rest might also close
# to a shape.
start_managers() { # ROOTS
	local n rest=()
	for n in "${nodes[@]}"; do
		[[ $1 == *" $n "* ]] || rest+=("$n")
	done
	for n in "${rest[@]}"; do
		start_manager "$n"
	done
	for n in "${rest[@]}"; do
		until_true 20 state "$n" bootstrapping || return
	done
	for n in $1; do
		[[ $n == none || ${manager[$n]-} ]] || start_manager "$n"
	done
}

# raise [ROOT...]: starts everything, with these nodes marked as roots (0)
raise() {
	local n roots=" ${*-0} "
	lay_out
	for n in "${nodes[@]}"; do
		if [[ $roots == *" $n "* ]]; then
			start_nic "$n" --bootstrap
		else
			start_nic "$n"
		fi || return 1
	done
	start_managers "$roots"
}

# all_reach NODE...: whether they reach each other, by the rows in the NICs and by ping
all_reach() {
	local a b
	for a in "$@"; do
		for b in "$@"; do
			((a < b)) || continue
			ns "$a" ping -q -c 1 -W 20 "10.$((b % 3)).$((b / 3)).0" >/dev/null || {
				echo "# $a does not reach $b"
				return 1
			}
		done
	done
}

# The same with the addresses that the fabric has assigned, whatever they are.
all_up_reached() {
	local to up
	up=$(ctl 0 nodes --json | jq -r '.[] | select(.state == "up") | .address')
	[[ $(wc -w <<<"$up") == 9 ]] || { echo "up are: $up"; return 1; }
	for to in $up; do
		ns 0 ping -q -c 1 -W 20 "$to" >/dev/null || { echo "# 0 does not reach $to"; return 1; }
	done
}

# The command reads rows node by node, so these may belong to two tables.
verified() { until_true 20 ctl 0 verify; }

everybody_up() { is 0 '.nodes.up == 9' status; }

# --- the tests --------------------------------------------------------------------

right() {
	raise && until_true 10 is 0 '.state == "running" and .shape == [3,3] and .problems == []' status &&
	all_reach "${nodes[@]}" && verified
}

# plug 0 up|down: plugs or unplugs all cables of that node at once
plug() {
	printf "link set %s $2\\n" p{x,y} m{x,y} | ip -n "$id-$1" -batch -
}

# The root is up long before the others: the nodes that it finds alone are no shape.
root_early() {
	local n
	lay_out && plug 0 down
	start_nic 0 --bootstrap && start_manager 0
	until_true 20 state 0 bootstrapping && sleep 1 && state 0 bootstrapping || return 1
	for n in 1 2 3 4 5 6 7 8; do
		start_nic "$n" || return 1
	done
	start_managers ' 0 ' && plug 0 up
	until_true 10 is 0 '.state == "running" and .shape == [3,3]' status &&
	all_reach "${nodes[@]}"
}

# Two nodes are up long before the others and settle on 2x1; the shape grows by the others, and
# nobody's address changes.
part_early() {
	local n
	lay_out
	start_nic 0 --bootstrap && start_nic 1 && start_manager 0 && start_manager 1
	until_true 10 is 0 '.state == "running" and .shape == [2,1]' status || return 1
	for n in 2 3 4 5 6 7 8; do
		start_nic "$n" && start_manager "$n"
	done
	until_true 60 is 0 '.state == "running" and .shape == [3,3]' status &&
	all_reach "${nodes[@]}" && verified
}

# knows NODE X,Y CONFIRMED AGREE: it knows where it is, whether a root has confirmed that, and at
# how many ports the neighbours agree
knows() {
	is "$1" ".own.wave | .position == [$2] and .confirmed == $3 and
		(.neighbours | length == 4 and ([.[] | select(.agrees)] | length) == $4)" status
}

# raise_deaf: starts everything without a service network
raise_deaf() {
	local n
	config[0]='shape = 3x3'
	lay_out
	ip -n "$id-sw" link set br0 down
	start_nic 0 --bootstrap
	for n in 1 2 3 4 5 6 7 8; do
		start_nic "$n" || return 1
	done
	start_managers ' 0 '
}

# Without a service network each node knows its coordinates and its neighbours, by Inits alone.
# Once there is one, the root confirms them.
no_service() {
	local n
	raise_deaf || return 1
	for n in 1 2 3 4 5 6 7 8; do
		until_true 20 knows "$n" "$((n % 3)),$((n / 3))" false 4 || return 1
		is "$n" '.own.node == null and .shape == [] and .table_version == 0' status || return 1
	done
	is 0 '.own.wave | .position == [0,0] and (.neighbours | length == 4)' status || return 1
	ctl 4 status >"$tmp/status"
	grep -q '^place  *1,1, unconfirmed' "$tmp/status" || return 1
	grep -q ' +x: n5 (2,1)$' "$tmp/status" || return 1
	ctl 4 nodes >"$tmp/nodes"
	[ $? = 1 ] && grep -q '^preliminary, .* n4 knows' "$tmp/nodes" &&
	grep -q '^1,1  *n4  *this node  *unconfirmed' "$tmp/nodes" &&
	grep -q '^2,1  *n5  *+x  *unconfirmed  *[0-9a-f]\{16\}$' "$tmp/nodes" || return 1
	ctl 4 links >"$tmp/links"
	grep -q '^1,1:+x  *2,1:-x  *n5  *up  *2,1:-x  *[0-9a-f]\{16\}  *-$' "$tmp/links" || return 1
	ip -n "$id-sw" link set br0 up
	until_true 60 is 0 '.state == "running" and .problems == []' status || return 1
	for n in "${nodes[@]}"; do
		until_true 10 is "$n" ".own.node == [$((n % 3)),$((n / 3))] and .own.wave.confirmed" status ||
			return 1
	done
	ctl 4 status >"$tmp/status"
	! grep -q '^place' "$tmp/status" && all_reach "${nodes[@]}"
}

# Each node at a wrong cable finds it itself, and names both ends and the one that was expected.
no_service_swapped() {
	end[3:+x]=7:-x
	end[6:+x]=4:-x
	raise_deaf || return 1
	until_true 20 problem 3 wave '0,1:\+x .*cabled to 1,2:-x .*expected 1,1:-x' &&
	until_true 20 problem 7 wave '1,2:-x .*cabled to 0,1:\+x .*expected 0,2:\+x' &&
	until_true 20 problem 6 wave '0,2:\+x .*cabled to 1,1:-x .*expected 1,2:-x' &&
	until_true 20 problem 4 wave '1,1:-x .*cabled to 0,2:\+x .*expected 0,1:\+x' &&
	until_true 5 knows 3 0,1 false 3 && knows 8 2,2 false 4 && problems 8 0 wave &&
	{ ctl 3 status >"$tmp/status"; grep -q 'n7 (1,2), contradicts$' "$tmp/status"; } &&
	{ ctl 3 links >"$tmp/links"
	  grep -q '^0,1:+x  *1,2:-x  *n7  *up  *1,1:-x  *[0-9a-f]*  *leads to the wrong node$' "$tmp/links"; } &&
	{ ctl 3 nodes >"$tmp/nodes"; grep -q '^1,2  *n7  *+x  *unconfirmed, contradicts ' "$tmp/nodes"; }
}

# 0,1:+x and 0,2:+x exchange their far ends, and get them back: no restart is needed.
swapped() {
	local n
	end[3:+x]=7:-x
	end[6:+x]=4:-x
	raise && until_true 10 problem 0 wiring '0,1:\+x .*cabled to 1,2:-x .*expected 1,1:-x' &&
	until_true 5 problem 0 wiring '0,2:\+x .*cabled to 1,1:-x .*expected 1,2:-x' &&
	until_true 10 problems 0 2 wiring && until_true 10 everybody_up &&
	until_true 5 is 0 '.state == "degraded" and .shape == [3,3] and .links.wrong == 2 and .links.excluded == 0' status &&
	all_reach "${nodes[@]}" && verified || return 1
	for n in 3 6; do
		ip -n "$id-$n" link del "$(device :+x)"
	done
	cable 3:+x 4:-x
	cable 6:+x 7:-x
	until_true 15 is 0 '.state == "running" and .problems == []' status &&
	all_reach "${nodes[@]}" && verified
}

# 1,1:+x leads to 1,1:-x.
to_itself() {
	end[4:+x]=4:-x
	unset 'end[3:+x]'
	raise && until_true 10 problem 0 wiring '1,1:\+x .*n4.* is cabled to 1,1:-x .*itself' &&
	until_true 5 problems 0 1 wiring &&
	until_true 5 everybody_up && until_true 5 is 0 '.state == "degraded" and .shape == [3,3]' status &&
	all_reach "${nodes[@]}" && verified
}

# A cable whose end belongs to -x is plugged in at -y, and the other way round.
not_opposite() {
	end[3:+x]=4:-y
	end[1:+y]=4:-x
	raise && until_true 10 problem 0 wiring '0,1:\+x .*cabled to 1,1:-y .*expected 1,1:-x' &&
	until_true 5 problem 0 wiring '1,0:\+y .*cabled to 1,1:-x .*expected 1,1:-y' &&
	until_true 5 everybody_up && until_true 5 is 0 '.state == "degraded" and .shape == [3,3]' status &&
	all_reach "${nodes[@]}" && verified
}

# Each root keeps the nodes that it reached first, possibly only itself; the cables between the
# two parts are not used.
# Both begin as roots. One gives way to the other, and the admin is told of both.
two_roots() {
	local n
	raise 0 8
	for n in 0 8; do
		until_true 40 is "$n" '.state == "degraded" and .nodes.up == 9 and
			any(.problems[].text; test("two NICs have the bootstrap flag, of .n[08]. and .n[08].:"))' status || return
	done
	until_true 20 ctl 0 verify && all_up_reached
}

no_root() {
	raise none && until_true 40 problem 4 root 'named a root' && until_true 5 state 4 bootstrapping &&
	until_true 5 problem 0 root 'named a root' &&
	! ctl 4 nodes >/dev/null 2>&1
}

wrong_shape() {
	config[0]='shape = 3x4'
	raise && until_true 10 is 0 '.state == "degraded" and .nodes.up == 9 and (.problems | length > 0)' status &&
	grep -qE 'expected' "$work/0.fabricd" && all_up_reached
}

name_twice() {
	config[5]='name = n4'
	raise && until_true 10 problem 0 refused "name 'n4' of .*172.29.0.1[45].* in use by .*172.29.0.1[45]" &&
	until_true 10 is 0 '.nodes.up == 8' status && until_true 5 state 0 degraded &&
	all_reach 0 1 2 3 6 7 8
}

stranger() { # LINE NODE KIND PATTERN: node 4 has this line; the other eight run, and NODE tells why
	config[4]=$1
	raise && until_true 10 problem "$2" "$3" "$4" && until_true 10 is 0 '.nodes.up == 8' status &&
	until_true 5 state 0 degraded && all_reach 0 1 2 3 5 6 7 8
}

# A node is unplugged whose NIC is in no table: the problem that it caused is over.
stranger_leaves() { # KIND: of the problem that its neighbours know
	is 1 'any(.[]; .port == "+y" and (.peer | .node == null and .port == "-y"))' links 1,0 &&
	plug 4 down && until_true 15 problems 1 0 "$1" && until_true 5 problems 0 0 wiring
}

wrong_fabric() {
	stranger 'fabric = elsewhere' 0 wiring 'NIC 00000000000000a4:.*another fabric' &&
	until_true 5 problem 1 fabric "port [+]y leads to node 'n4' of fabric 'elsewhere'" &&
	stranger_leaves fabric
}

wrong_key() {
	(umask 077 && echo "a key of another fabric" >"$work.key")
	# Its neighbours believe nothing that it says, and it believes nothing of them; the root is told.
	# The first event may come when there is no shape yet, so that ports have numbers only, and no
	# way to the root; the next one comes 10 s later.
	stranger "key_file = $work.key" 1 seal 'port (\+y|1)( of node [0-9,]+)?: .*without the seal of this fabric' &&
		until_true 5 problem 4 seal 'port .*without the seal' && state 4 bootstrapping &&
		is 1 '.seal.refused > 0 and .seal.late < 100' status && is 0 '.seal.refused == 0' status &&
		until_true 20 is 0 'any(.[]; .kind == "seal" and .node == [1,0])' events &&
		stranger_leaves seal
	local rc=$?
	rm -f "$work.key"
	return "$rc"
}

run_one() { # NAME FUNCTION ARGUMENT...
	[[ -z ${ONLY-} || $ONLY == "$2" ]] || return 0
	cleanup
	right_cables
	check "$@"
}

run_one "a torus of 3x3 is found" right
run_one "and if the root is there first" root_early
run_one "and if a part of it is there first" part_early
run_one "without a service network all know their places, and with it they are confirmed" no_service
run_one "without a service network swapped cables are named by their nodes" no_service_swapped
run_one "two swapped cables are named, all nodes reached, mended" swapped
run_one "a cable from a node to itself" to_itself
run_one "a cable between ports that are not opposite" not_opposite
run_one "two roots" two_roots
run_one "no root" no_root
run_one "a shape that is not that of the cables" wrong_shape
run_one "a node's name twice" name_twice
run_one "wrong key" wrong_key
run_one "wrong fabric" wrong_fabric
done_testing
