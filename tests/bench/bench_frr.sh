#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what cut cables and a dead node do to a UDP flow, under FRR (ospfd with BFD, and kernel
# forwarding) and under ours (NICs in user space by default), in one run. Both run on a 4x4 torus
# with a namespace for each node and a veth pair for each cable.
#
#	bench_frr.sh [--rates LIST] [--rounds N] [--backend user|kernel] [--shape 4x4|4x4x4]
#		[--cases LIST]
#
# A flow of datagrams of 512 bytes from 0,0 to 2,2 (or 0,0,0 to 2,2,2), at each rate
# (20000,100000 a second), in these cases:
#
#	way	three cables on the path are cut, one after the other, none of the sender's own
#	own	three of the sender's four cables are cut, one after the other
#	dead	a node on the path loses its power: all its interfaces go down at one instant,
#		that to the service network too, and then its processes are killed
#	both	as dead, and 0.2 s later a cable is cut, of the path at that time
#
# With several rounds, the last line of a case has the median and the worst silence.
#
# The columns: datagrams lost (sent and never received), sends that failed, datagrams
# reordered and doubled, the longest gap in arrivals ("silence"), the rate that the sender
# reached (it falls behind if it has to wait), and how many of the lost datagrams the queues
# of the sender's own devices dropped; ours are those of torus0, because its NIC repeats what a
# cable drops. Sender and receiver are the same for both (udp_flow).
# If the receiver's socket overflows, the run ends with an error.
#
# FRR: hello 1 s, dead 4 s, BFD every 50 ms, SPF after 0 to 100 ms, one path, LSAs not delayed.
# All processes of both run at real-time priority (SCHED_FIFO), before other work of the
# machine. Linux stops such processes for 50 ms in each second in which they would take a
# whole processor: a gap of 50 ms and more says that the rate was too high for the machine.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
given=("$@")
rates=20000,100000 rounds=1 backend=user shape=4x4 cases=way,own,dead
while (($#)); do
	case $1 in
	--rates | --rounds | --backend | --shape | --cases) (($# > 1)) || usage_error "$1 needs a value" ;;&
	--rates) rates=$2 ;;
	--rounds) rounds=$2 ;;
	--backend) backend=$2 ;;
	--shape) shape=$2 ;;
	--cases) cases=$2 ;;
	-*) usage_error "unknown option '$1'" ;;
	*) usage_error "'$1' is one argument too many" ;;
	esac
	shift 2
done
check_number --rounds "$rounds" 1 9999
[[ $rates ]] || usage_error "--rates '': must be numbers from 1 to 1000000, with commas"
for rate in ${rates//,/ }; do check_number --rates "$rate" 1 1000000; done
[[ $backend == user || $backend == kernel ]] ||
	usage_error "--backend '$backend': must be user or kernel"
[[ $shape == 4x4 || $shape == 4x4x4 ]] || usage_error "--shape '$shape': must be 4x4 or 4x4x4"
for case in ${cases//,/ }; do
	[[ $case =~ ^(way|own|dead|both)$ ]] ||
		usage_error "--cases '$cases': must be way, own, dead or both, with commas"
done
[[ $cases ]] || usage_error "--cases '': must be way, own, dead or both, with commas"
[[ ${AT_ONCE-} ]] || AT_ONCE=1 exec chrt -f 1 bash "$0" ${given[@]+"${given[@]}"}
# shellcheck source=tests/bench/peers.sh
. "$TOP/tests/bench/peers.sh"
need_peers bench_frr
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"

size=4 z_size=1 seconds=8 datagram=512
daemons=/usr/lib/frr
prefix=bfrr
id=$prefix$$
lab=bf$$
dir=$(mktemp -d)
chmod 755 "$dir"

die() { echo "bench_frr: $*" >&2; exit 1; }

# clear ID: removes the namespaces of a run and kills the processes in them
clear() {
	local ns p
	for ns in $(ip netns list | awk -v id="$1-" 'index($1, id) == 1 { print $1 }'); do
		for p in $(ip netns pids "$ns" 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
		ip netns del "$ns" 2>/dev/null
	done
}

# Removes what killed runs have left behind. The process id in a name says whose it was.
clear_remains() {
	local run
	for run in /run/torus/bf*; do
		[[ ! $run =~ /bf([0-9]+)$ || -e /proc/${BASH_REMATCH[1]} ]] ||
			"$B/fabricctl" lab down --name "${run##*/}" >/dev/null 2>&1
	done
	for run in $(ip netns list | sed -n "s/^\(${prefix}[0-9]*\)-.*/\1/p" | sort -u); do
		[[ -e /proc/${run#"$prefix"} ]] || clear "$run"
	done
}

# shellcheck disable=SC2317 # by the trap
cleanup() {
	local p
	for p in $(jobs -p); do kill "$p" 2>/dev/null; done
	clear "$id"
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

until_true() {
	local end=$((SECONDS + $1))
	until "${@:2}" >/dev/null 2>&1; do
		((SECONDS < end)) || die "still not: ${*:2}"
		sleep 0.1
	done
}

# --- FRR -------------------------------------------------------------------------------

# A node is X Y Z; Z is 0 in 4x4.
every_node() {
	local x y z
	for ((z = 0; z < z_size; z++)); do
		for ((y = 0; y < size; y++)); do
			for ((x = 0; x < size; x++)); do echo "$x $y $z"; done
		done
	done
}

# step X Y Z PORT: the node at the other end of the port's cable
step() {
	case $4 in
	x+) echo "$((($1 + 1) % size)) $2 $3" ;;
	x-) echo "$((($1 + size - 1) % size)) $2 $3" ;;
	y+) echo "$1 $((($2 + 1) % size)) $3" ;;
	y-) echo "$1 $((($2 + size - 1) % size)) $3" ;;
	z+) echo "$1 $2 $((($3 + 1) % size))" ;;
	z-) echo "$1 $2 $((($3 + size - 1) % size))" ;;
	esac
}

frr_netns() { echo "$id-$1-$2-$3"; }
frr_address() { echo "10.$((99 + $3)).$1.$2"; }

# The cable ends of a node are its devices x+, x-, y+, y-, z+ and z-; all have the node's address.
# The two ends of a cable have different indices, as in our lab: the kernel reports the carrier of a
# device that has its peer's index at most once a second, as that of a physical device.
# shellcheck disable=SC2046,SC2086 # a node is three words
frr_cables() {
	local node port index
	every_node >"$dir/nodes"
	while read -r node; do
		ip netns add "$(frr_netns $node)" || die "no namespace"
	done <"$dir/nodes"
	while read -r node; do
		index=100
		for port in "${ports[@]}"; do
			[[ $port == *- ]] || ip link add "$port" netns "$(frr_netns $node)" index "$index" \
				type veth peer name "${port%+}-" index $((index + 1)) \
				netns "$(frr_netns $(step $node "$port"))"
			index=$((index + 1))
		done
	done <"$dir/nodes"
}

frr_config() {
	local port
	cat <<-END
		bfd
		 profile default
		  transmit-interval 50
		  receive-interval 50
	END
	for port in "${ports[@]}"; do
		cat <<-END
			interface $port
			 ip ospf network point-to-point
			 ip ospf area 0
			 ip ospf bfd
			 ip ospf bfd profile default
			 ip ospf hello-interval 1
			 ip ospf dead-interval 4
		END
	done
	cat <<-END
		interface lo
		 ip ospf area 0
		router ospf
		 ospf router-id $1
		 timers throttle spf 0 10 100
		 timers throttle lsa all 0
		 timers lsa min-arrival 0
		 maximum-paths 1
	END
}

frr_node() {
	local ns address place d port
	ns=$(frr_netns "$@") address=$(frr_address "$@") place=$dir/$ns
	ip netns exec "$ns" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
		net.ipv4.conf.default.rp_filter=0
	for port in "${ports[@]}"; do
		ip netns exec "$ns" sysctl -qw "net.ipv4.conf.$port.rp_filter=0"
		ip -n "$ns" addr add "$address/32" dev "$port"
		ip -n "$ns" link set "$port" up
	done
	ip -n "$ns" addr add "$address/32" dev lo
	ip -n "$ns" link set lo up
	mkdir -p "$place"
	frr_config "$address" >"$place/frr.conf"
	: >"$place/zebra.conf"
	chown -R frr:frr "$place"
	for d in zebra bfdd ospfd; do
		[[ $d == zebra ]] && port=zebra.conf || port=frr.conf
		ip netns exec "$ns" "$daemons/$d" -d -N "$ns" -f "$place/$port" -i "$place/$d.pid" \
			--vty_socket "$place" -z "$place/zserv" --log "file:$place/$d.log" \
			>"$place/$d.out" 2>&1 || die "$d: $(head -n 3 "$place/$d.out")"
	done
}

# Succeeds if each node has routes to all others and BFD sessions with its neighbours.
# shellcheck disable=SC2086
frr_ready() {
	local node ns
	while read -r node; do
		ns=$(frr_netns $node)
		(($(ip -n "$ns" route show proto ospf | grep -c '^10\.') == size * size * z_size - 1)) ||
			return 1
		(($(vtysh --vty_socket "$dir/$ns" -d bfdd -c 'show bfd peers brief' </dev/null |
			grep -c ' up$\| up ') == ${#ports[@]})) || return 1
	done <"$dir/nodes"
}

# shellcheck disable=SC2086
frr_up() {
	local node
	frr_cables
	while read -r node; do frr_node $node </dev/null; done <"$dir/nodes"
	until_true 240 frr_ready
}

frr_down() { clear "$id"; rm -rf "${dir:?}"/"$id"-*; }

# The path by the kernels' routes: a line "X Y Z PORT" for each hop
# shellcheck disable=SC2086
frr_way() {
	local node=$from_node port to hops=0
	to=$(frr_address $to_node)
	while [[ $node != "$to_node" ]]; do
		((hops++ < 16)) || return 1
		port=$(ip -n "$(frr_netns $node)" route get "$to" | sed -n 's/.* dev \([xyz][+-]\) .*/\1/p')
		[[ $port ]] || return 1
		echo "$node $port"
		node=$(step $node "$port")
	done
}

# --- ours ------------------------------------------------------------------------------

# our_name X Y Z SEPARATOR
our_name() { if ((z_size > 1)); then echo "$1$4$2$4$3"; else echo "$1$4$2"; fi; }
our_netns() { echo "$lab-$(our_name "$@" .)"; }

our_address() {
	"$B/fabricctl" lab hosts --name "$lab" --json |
		jq -r --argjson at "[$(our_name "$@" ,)]" '.[] | select(.node == $at) | .address'
}

our_up() {
	"$B/fabricctl" lab up "$shape" --name "$lab" --backend "$backend" >/dev/null || die "no lab"
	until_true 20 "$B/fabricctl" verify --lab "$lab"
}

our_down() { "$B/fabricctl" lab down --name "$lab" >/dev/null || die "lab down"; }

# shellcheck disable=SC2086
our_way() {
	"$B/fabricctl" trace --lab "$lab" "$(our_name $from_node ,)" "$(our_name $to_node ,)" --json |
		jq -r '.hops[] | select(.port) |
			"\(.node[0]) \(.node[1]) \(.node[2] // 0) p\(.port[1:2])\(.port[0:1])"'
}

# --- the faults, for both ----------------------------------------------------------------
# WHOSE is frr or our.

# cut WHOSE X Y Z PORT: the port goes down, and its neighbour loses the carrier
cut() { ip -n "$("$1_netns" "$2" "$3" "$4")" link set "$5" down || die "$1: no cable $2,$3,$4 $5"; }

# hop WHOSE N: hop N of the present path, counted from 0
hop() { "$1_way" | sed -n "$(($2 + 1))p"; }

# three_cuts WHOSE N: three times, cuts the cable of hop N of the path at that time
three_cuts() {
	local i at
	for i in 1 2 3; do
		sleep 2
		at=$(hop "$1" "$2")
		[[ $at ]] || die "$1: no way at cut $i"
		# shellcheck disable=SC2086
		cut "$1" $at
	done
}

happens_way() { three_cuts "$1" 1; }
happens_own() { three_cuts "$1" 0; }

# The node two hops from the sender, halfway to the receiver
happens_dead() {
	local x y z ns p
	sleep 3
	read -r x y z _ <<<"$(hop "$1" 2)"
	[[ $x ]] || die "$1: no way"
	ns=$("$1_netns" "$x" "$y" "$z")
	ip -n "$ns" -o link show | sed -n 's/^[0-9]*: \([^@:]*\)[@:].*/\1/p' | grep -v '^lo$' |
		sed 's/.*/link set & down/' >"$dir/batch"
	ip -n "$ns" -batch "$dir/batch" || die "$1: cannot take the power away"
	for p in $(ip netns pids "$ns"); do kill -9 "$p"; done
}

happens_both() {
	local at
	happens_dead "$1"
	sleep 0.2
	at=$(hop "$1" 1)
	[[ $at ]] || die "$1: no way after the node died"
	# shellcheck disable=SC2086
	cut "$1" $at
}

# flow WHOSE CASE RATE: a fresh fabric, a flow, and what happens
flow() {
	local whose=$1 what=$2 rate=$3 from to address sender
	"${whose}_up"
	# shellcheck disable=SC2086
	from=$("${whose}_netns" $from_node) to=$("${whose}_netns" $to_node) address=$("${whose}_address" $to_node)
	until_true 10 ip netns exec "$from" ping -q -c 1 -W 1 "$address"
	"$B/tests/bench/udp_flow" "$from" "$to" "$address" $datagram "$rate" $seconds 3 >"$dir/flow" &
	sender=$!
	sleep 0.5
	"happens_$what" "$whose"
	wait $sender || die "no flow"
	if [[ $whose == our ]]; then queue_drops "$from" torus0; else queue_drops "$from"; fi >"$dir/queue"
	report "$whose" "$what" "$rate"
	"${whose}_down"
}

report() {
	local lost failed reordered doubled silence sent overflowed why queue
	queue=$(<"$dir/queue")
	IFS=$'\t' read -r lost failed reordered doubled silence sent overflowed why < <(
		jq -r --argjson t $seconds '[.sent - .received, .failed, .reordered, .doubled,
			.silence_ms, (.sent / $t | round), .overflowed, .error] | @tsv' "$dir/flow")
	[[ $lost$failed$overflowed =~ ^[0-9-]+$ ]] || die "no flow"
	((overflowed == 0)) || die "the receiver's socket overflowed"
	echo "$silence" >>"$dir/silence-$1-$2-$3"
	row "$3" "$2" "$1" "$lost" "$failed" "$reordered" "$doubled" "$silence ms" "$sent" \
		"$queue" "$why"
	sample "$3 $2 $1 lost" datagrams "$lost"
	sample "$3 $2 $1 lost in the sender's queue" datagrams "$queue"
	sample "$3 $2 $1 failed" sends "$failed"
	sample "$3 $2 $1 reordered" datagrams "$reordered"
	sample "$3 $2 $1 silence" ms "$silence"
	sample "$3 $2 $1 sent" 1/s "$sent"
}

row() {
	printf '%-8s %-5s %-5s %8s %8s %8s %8s %11s %9s %8s   %s\n' "$@"
}

case $shape in
4x4) ports=(x+ x- y+ y-) from_node='0 0 0' to_node='2 2 0' ;;
4x4x4) ports=(x+ x- y+ y- z+ z-) z_size=4 from_node='0 0 0' to_node='2 2 2' ;;
*) die "--shape '$shape': must be 4x4 or 4x4x4" ;;
esac
[[ ,$cases, =~ ^(,(way|own|dead|both))+,$ ]] || die "--cases '$cases': must be way, own, dead or both"
clear_remains
printf 'a UDP flow on %s, FRR %s beside ours (NICs: %s); %s s, datagrams of %s bytes\n' "$shape" \
	"$("$daemons/zebra" --version | sed -n '1s/.* version //p')" "$backend" $seconds $datagram
row rate case who lost failed reorder doubled silence sent/s queue ''
for rate in ${rates//,/ }; do
	for what in ${cases//,/ }; do
		for ((round = 0; round < rounds; round++)); do
			for whose in frr our; do flow $whose "$what" "$rate"; done
		done
		((rounds == 1)) || for whose in frr our; do
			sort -n "$dir/silence-$whose-$what-$rate" | awk -v n="$rate $what $whose" '{ a[NR] = $1 }
				END { printf "%s: silence, median %.1f ms, worst %.1f ms\n", n, a[int((NR + 1) / 2)], a[NR] }'
		done
	done
done
