#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what a node without power, a lost root and a root that hands over do to flows, in a lab
# of 4x4x4 nodes with NICs in user space.
#
#	bench_takeover.sh [--rounds N] [--each] [CASE...]	5 rounds of all cases
#
#	quiet	nothing happens: what the machine alone does to a flow
#	dead	a node on the way of a TCP flow and of 20,000 datagrams a second loses its power
#	root	the root loses its power, and 0 to 2 s later a cable is cut elsewhere, on the way
#		of one of four flows of 5,000 datagrams a second
#	hung	the root's manager is stopped (SIGSTOP), and 0 to 2 s later a cable is cut as above;
#		5 s after it was stopped it goes on (SIGCONT)
#	move	"fabricctl root move" to the next candidate, under 20,000 datagrams a second
#
# A round of root or hung in which this machine was so busy that the cable was cut more than 4 s
# after the root was lost is played again, for the flows end then, unless it lost datagrams; the
# number of these is printed.
#
# Datagrams have 512 bytes. The silence is the longest gap in the arrivals of a flow, and of four
# flows the longest: after it all flows move again. "lost" is datagrams sent and never received,
# of all rounds; for dead, those that exceed last_recovery.lost, the number of packets that the
# manager counts as lost in the dead node (the TCP flow's among them). Below "lost" stands where:
# "in the fabric" is packets that the senders' NICs have sent and the receivers' have not delivered;
# the rest is the two hosts' own. A datagram that no socket was open for cannot be among them: the
# receiver is there before the first is sent, and waits for the last. The flows of root and hung
# run in the plane z = 2 and the candidates are in the plane z = 0: no packet of these flows is in
# the node that dies, so each lost one was lost by the recovery. --each prints each round, too.
#
# All processes run at real-time priority (SCHED_FIFO), before other work of the machine, but Linux
# stops such processes for 50 ms in each second in which they would take a whole processor. The
# case quiet shows this. FRR has no root; bench_frr measures "dead" beside it.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
rounds=5 each='' cases=() given=("$@")
while (($#)); do
	case $1 in
	--rounds)
		(($# > 1)) || usage_error "--rounds needs a value"
		check_number --rounds "$2" 1 9999
		rounds=$2
		shift
		;;
	--each) each=1 ;;
	quiet | dead | root | hung | move) cases+=("$1") ;;
	-*) usage_error "unknown option '$1'" ;;
	*) usage_error "case '$1': must be quiet, dead, root, hung or move" ;;
	esac
	shift
done
((${#cases[@]})) || cases=(quiet dead root hung move)
[[ ${AT_ONCE-} ]] || AT_ONCE=1 exec chrt -f 1 bash "$0" ${given[@]+"${given[@]}"}
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"

lab=bt$$
run=/run/torus/$lab
tmp=$(mktemp -d)
datagram=512
patience=10	# seconds until a datagram on its way counts as lost
ways=('0,0,2 2,1,2' '1,2,2 3,3,2' '2,2,2 0,3,2' '3,1,2 1,0,2')
flows=()

# shellcheck disable=SC2317 # by the trap
cleanup() {
	local p
	for p in $(jobs -p); do kill "$p" 2>/dev/null; done
	[[ -z ${hung-} ]] || kill -CONT "$hung" 2>/dev/null
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

die() { echo "bench_takeover: $*" >&2; exit 1; }
lab() { "$B/fabricctl" lab "$1" --name "$lab" "${@:2}" >"$tmp/lab" 2>&1 || die "$*: $(cat "$tmp/lab")"; }
# By node 3,3,3, which is no candidate and never dies
status() { "$TOP/tests/netns/ask" "$run/3.3.3/control" status | jq -r ".data | $1"; }
netns() { echo "$lab-${1//,/.}"; }
address() { jq -r --arg at "$1" '.[] | select(.node == ($at | split(",") | map(tonumber))) | .address' "$tmp/hosts"; }
root() { status '.root.node | map(tostring) | join(",")'; }
manager() { cut -d' ' -f1 "$run/${1//,/.}/fabricd.pid"; }
# until_true SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1))
	until "${@:2}" >/dev/null 2>&1; do
		((SECONDS < end)) || die "still not: ${*:2}; $(status -c)"
		sleep 0.05
	done
}
runs() { [[ $(status '.state == "running" and .root.reachable and .nodes.up == 64 and .links.up == 192') == true ]]; }
led_by_other() { [[ $(status .root.reachable) == true && $(root) != "$1" ]]; }
at_rest() { (($(status 'if .state == "recovering" then 0 else .last_recovery.version // 0 end') > $1)); }
# hop FROM TO N: "NODE PORT" of a hop of the present path, counted from 0
hop() {
	"$B/fabricctl" trace --lab "$lab" "$1" "$2" --json |
		jq -r ".hops[$3] | \"\(.node | map(tostring) | join(\",\")) \(.port)\""
}
# Median, 99th percentile (nearest rank) and worst of the numbers on standard input.
spread() {
	sort -n | awk '{ a[NR] = $1 }
		END { if (NR) printf "%.1f %.1f %.1f\n", a[int((NR + 1) / 2)], a[int((99 * NR + 99) / 100)], a[NR] }'
}

# --- flows -----------------------------------------------------------------------------

# begin SECONDS RATE WAY...: one flow of datagrams for each "FROM TO"
begin() {
	local seconds=$1 rate=$2 from to i=0
	shift 2
	flows=() flow_ways=("$@")
	dropped_before=$(drops) inside_before=$(inside)
	for way; do
		read -r from to <<<"$way"
		"$B/tests/bench/udp_flow" "$(netns "$from")" "$(netns "$to")" "$(address "$to")" \
			$datagram "$rate" "$seconds" $patience >"$tmp/flow$i" &
		flows+=($!)
		i=$((i + 1))
	done
}

# Datagrams that the queues in front of the senders' NICs dropped
drops() {
	local way sum=0
	for way in "${flow_ways[@]}"; do
		sum=$((sum + $(queue_drops "$(netns "${way% *}")" torus0)))
	done
	echo $sum
}

# Packets that the senders' NICs have sent and the receivers' NICs have not delivered
inside() {
	"$B/fabricctl" counters --lab "$lab" --node 3,3,3 --json >"$tmp/counters"
	jq --arg ways "${flow_ways[*]}" '(map({ (.node | map(tostring) | join(",")): . }) | add) as $nic |
		$ways / " " | [range(0; length; 2) as $i | $nic[.[$i]].injected -
			$nic[.[$i + 1]].delivered + $nic[.[$i + 1]].host_drops] | add' "$tmp/counters"
}

# ended: waits for the flows. Sets lost, and of these dropped (before the NIC), within (in the
# fabric) and overflowed (at the receiver's socket), reordered, doubled, failed (sends), and silence,
# the longest of all flows.
ended() {
	local p files=()
	for p in "${flows[@]}"; do wait "$p" || die "no flow"; done
	for p in "${!flow_ways[@]}"; do files+=("$tmp/flow$p"); done
	dropped=$(($(drops) - dropped_before)) within=$(($(inside) - inside_before))
	read -r lost overflowed reordered doubled failed silence missing < <(jq -r -s '
		"\(map(.sent - .received) | add) \(map(.overflowed) | add) \(map(.reordered) | add)" +
		" \(map(.doubled) | add) \(map(.failed) | add) \(map(.silence_ms) | max)" +
		" \(map(.missing) | tojson)"' "${files[@]}")
}

# keep CASE DETAIL: puts a round's figures to those of the case
keep() {
	local figure
	for figure in silence lost dropped within overflowed reordered doubled failed; do
		echo "${!figure}" >>"$tmp/$1.$figure"
	done
	[[ $each ]] || return 0
	printf '  %-6s silence %7.1f ms, lost %d' "$1" "$silence" "$lost"
	((lost == 0)) || printf ' (before the NIC %d, in the fabric %d, socket %d: %s)' \
		"$dropped" "$within" "$overflowed" "$missing"
	printf ', reordered %d, doubled %d, not sent %d   %s\n' "$reordered" "$doubled" "$failed" "$2"
}
sum() { awk '{ n += $1 } END { print n }' "$tmp/$1"; }

# row TEXT VALUE WANTED
row() {
	printf '%-62s %16s   %s\n' "$@"
	sample_text "$1" "$2"
}

# table CASE TEXT MEDIAN-WANTED P99-WANTED WORST-WANTED
table() {
	local median most worst
	read -r median most worst < <(spread <"$tmp/$1.silence")
	row "$2: silence, median of $rounds" "$median ms" "$3"
	row "$2: silence, 99th percentile" "$most ms" "$4"
	row "$2: silence, worst" "$worst ms" "$5"
	row "$2: datagrams lost" "$(sum "$1.lost")" 0
	row "  in the fabric" "$(sum "$1.within")" 0
	row "  in the queue in front of the sender's NIC" "$(sum "$1.dropped")" -
	row "  at the receiver's socket, which was full" "$(sum "$1.overflowed")" -
	row "$2: reordered" "$(sum "$1.reordered")" 0
	row "$2: doubled" "$(sum "$1.doubled")" 0
	row "$2: not sent" "$(sum "$1.failed")" 0
}

# --- cases -----------------------------------------------------------------------------

case_quiet() {
	begin 3 20000 '0,0,2 2,2,2'
	ended
	keep quiet ''
}
table_quiet() { table quiet 'nothing happens' - - -; }

case_dead() {
	local victim v tcp died
	read -r victim _ <<<"$(hop 0,0,2 2,2,2 2)"
	v=$(status .table_version)
	begin 4 20000 '0,0,2 2,2,2'	# reads counters, while there is no TCP
	"$B/fabricctl" lab traffic --name "$lab" --tcp -s 5 --rate 2000 --json 0,0,2 2,2,2 >"$tmp/tcp" &
	tcp=$!
	sleep 1.5
	lab kill --power "$victim"
	until_true 20 at_rest "$v"
	died=$(status .last_recovery.lost)
	line=$(status '.last_recovery | "\(.duration_ms) ms, lost \(.lost) (\(.cause)) \(.timeline)"')
	wait $tcp || die "TCP was not whole: $(cat "$tmp/tcp")"
	ended
	echo "$lost $died" >>"$tmp/dead.inside"
	lost=$((lost > died ? lost - died : 0)) within=$((within > died ? within - died : 0))
	jq '.flows[0].longest_gap_ms' "$tmp/tcp" >>"$tmp/dead.tcp"
	keep dead "$victim: $line; TCP $(tail -n 1 "$tmp/dead.tcp")"
	lab revive "$victim"
	until_true 20 runs
}
table_dead() {
	local median most worst
	table dead 'a node on the way dies' '< 60 ms' - '< 200 ms, of 50'
	row "  datagrams that died, packets counted as lost in that node" \
		"$(awk '{ a += $1; b += $2 } END { printf "%d, %d", a, b }' "$tmp/dead.inside")" -
	read -r median most worst < <(spread <"$tmp/dead.tcp")
	row "  pauses of TCP: median, worst" "$median, $worst ms" "-"
}

# root_lost HOW: ends the root, cuts a cable after some time, and waits for the flows. Returns 1 if
# the cut came too late and nothing was lost
root_lost() {
	local old pid at node port later
	old=$(root) pid=$(manager "$old") later=$((RANDOM % 2000))
	read -r node port <<<"$(hop 0,0,2 2,1,2 1)"
	begin 9 5000 "${ways[@]}"
	sleep 1
	at=${EPOCHREALTIME/[.,]/}
	if [[ $1 == hung ]]; then hung=$pid && kill -STOP "$pid"; else lab kill --power "$old"; fi
	sleep "$(printf '%d.%03d' $((later / 1000)) $((later % 1000)))"
	lab cut "$node:$port"
	cut=${EPOCHREALTIME/[.,]/}
	until_true 20 led_by_other "$old"
	[[ $1 == hung ]] || sleep 1
	later=$(((cut - at) / 1000))
	line="cut after $later ms; root $old, then $(status '"\(.root.name) \(.root.why), \(.root.since)"')"
	line+=" $(awk -v a="$(status .root.since)" -v b="$at" 'BEGIN { printf "%.0f", a * 1e3 - b / 1e3 }') ms later"
	if [[ $1 == hung ]]; then
		while ((${EPOCHREALTIME/[.,]/} - at < 5000000)); do sleep 0.01; done
	fi
	line+="; $(status '.last_recovery | "\(.duration_ms) ms \(.cause) \(.timeline)"')"
	if [[ $1 == hung ]]; then
		kill -CONT "$pid"
		hung=
	fi
	ended
	((later > 4000 && lost == 0)) || keep "$1" "$line"
	lab mend "$node:$port"
	[[ $1 == hung ]] || lab revive "$old"
	until_true 20 runs
	[[ $(root) != "$old" ]] || die "$old is root again"
	((later <= 4000 || lost > 0))
}
case_root() { root_lost root; }
table_root() { table root 'the root dies, then a cut' '< 1000 ms' '< 3000 ms, of 100' -; }
case_hung() { root_lost hung; }
table_hung() { table hung 'the root hangs, then a cut, then it goes on' - - '< 3000 ms'; }

case_move() {
	local to
	# shellcheck disable=SC2016 # jq's variable
	to=$(status '.root.node as $r | [.root.candidates[] | select(.node != $r)] |
		.['$((RANDOM % 7))'].node | map(tostring) | join(",")')
	begin 3 20000 '0,0,2 2,2,2'
	sleep 1
	"$B/fabricctl" root move --lab "$lab" "$to" >/dev/null || die "root move $to"
	ended
	keep move "to $to"
	until_true 10 runs
	[[ $(root) == "$to" ]] || die "$to is not root"
}
table_move() { table move 'root move' - - '< 20 ms'; }

"$B/fabricctl" lab up 4x4x4 --name "$lab" >/dev/null || die "no lab"
until_true 20 runs
"$B/fabricctl" lab hosts --name "$lab" --json >"$tmp/hosts"
printf '%-62s %16s   %s\n' "4x4x4, datagrams of $datagram bytes, load $(cut -d' ' -f1 /proc/loadavg)" ours wanted
for name in "${cases[@]}"; do
	for ((round = 0, late = 0; round < rounds; round++)); do
		until "case_$name"; do
			((++late <= rounds)) || die "$name: this machine is too busy"
		done
	done
	"table_$name"
	((late == 0)) || row "  rounds that were played again" "$late" -
done
