#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Labs that fail, and labs of odd shapes: in every case "lab up" refuses what it cannot use and
# changes nothing, and "lab down" leaves nothing behind and harms no other lab.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
lab=odd$$
run=/run/torus/$lab

ctl() { say "fabricctl $*"; "$B/fabricctl" "$@"; }
lab() { local verb=$1; shift; ctl lab "$verb" --name "$lab" "$@"; }

# shellcheck disable=SC2317
cleanup() {
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	[[ -n ${bystander-} ]] && kill "$bystander" 2>/dev/null
}

# A lab that a failed test has left would disturb the next.
# shellcheck disable=SC2317
explain() { "$B/fabricctl" lab down --name "$lab"; }

# All traces of this lab.
remains() {
	ls -d "$run" /etc/netns/"$lab"-* /run/netns/"$lab"-* 2>/dev/null
	pgrep -f -a "/run/torus/$lab/"
}

nothing_left() {
	local left
	left=$(remains)
	[[ -z $left ]] || { echo "left behind: $left"; return 1; }
}

odd_shape() {
	local nodes=$2
	lab up "$1" "${patience[@]}" && until_true 20 running "$nodes" &&
		until_true 20 all_walked $((nodes * (nodes - 1))) && lab down && nothing_left
}
running() { [[ $(ctl status --lab "$lab" --json | jq -c '[.state, .nodes.up]') == "[\"running\",$1]" ]]; }
all_walked() { [[ $(ctl verify --lab "$lab" --json | jq -c '[.ok, .pairs]') == "[true,$1]" ]]; }

# A half-dead lab, in whatever way it became so: recognised, refused, removed.
half_dead() {
	until_true 10 refused_untouched || return 1
	lab cut 0,0:+x
	(($? == 1 || $? == 2)) || return 1
	lab down && nothing_left
}

# Prints the state of this lab in "lab list".
state() { ctl lab list --json | jq --arg lab "$lab" '.[] | select(.name == $lab) | .state'; }

# A refused "lab up" changes nothing. Processes that the lab began before may take another moment.
refused_untouched() {
	local before
	before=$(remains | sort)
	exits 2 'half-dead' lab up 2x2 || return 1
	[[ $(remains | sort) == "$before" ]] || { echo "lab up changed something"; return 1; }
}

# signalled SIGNAL MS SHAPE: sends SIGNAL to "lab up" MS after its start; its exit status is in
# $ended. If the lab is up by then, it tries again.
signalled() {
	local up
	for _ in 1 2 3 4 5; do
		"$B/fabricctl" lab up "$3" --name "$lab" >"$tmp/said" 2>&1 &
		up=$!
		until_true 10 test -d "$run"
		sleep "$(printf '0.%03d' "$2")"
		kill "-$1" "$up"
		ended=0
		wait "$up" || ended=$?
		cat "$tmp/said"
		((ended == 0)) || return 0
		lab down
	done
	return 1
}

killed_up() { signalled KILL "$1" 2x2x2x2x2x2 && [[ $ended == 137 ]] && half_dead; }

interrupted_up() {
	# A job of a script ignores SIGINT, but TERM is handled alike.
	signalled TERM 100 4x4x4 && [[ $ended == 2 ]] && grep interrupted "$tmp/said" && nothing_left
}

rebooted() {
	local n p
	lab up 2x2 "${patience[@]}" || return 1
	for n in 0.0 1.0 0.1 1.1; do
		for p in fabricd torusemu; do
			kill -9 "$(cut -d' ' -f1 "$run/$n/$p.pid")"
		done
	done
	for n in 0.0 1.0 0.1 1.1 service; do
		ip netns del "$lab-$n"
	done
	rm -r "$run"
	[[ -n $(remains) ]] || { echo "nothing is left, nothing to test"; return 1; }
	half_dead
}

damaged() {
	lab up 2x2 "${patience[@]}" || return 1
	echo '{"name":' >"$run/lab.json"
	exits 1 damaged lab status && [[ $(state) == '"damaged"' ]] || return 1
	half_dead
}

# A pid file that names a foreign process, once with its start time and once without, is no
# reason to kill that process; a process that runs in the lab ends with it.
bystanders() {
	local inside
	sleep 300 &
	bystander=$!
	lab up 2x2 "${patience[@]}" || return 1
	echo "$bystander 1" >"$run/1.0/fabricd.pid"
	echo "$bystander" >"$run/0.1/fabricd.pid"
	echo "1 1" >"$run/1.1/fabricd.pid"
	ip netns exec "$lab-0.0" sleep 301 &
	inside=$!
	exits 1 dead lab status || return 1
	lab down && nothing_left || return 1
	kill -0 "$bystander" || { echo "killed a bystander"; return 1; }
	wait "$inside"
	[[ $? -gt 128 ]] || { echo "a process in the lab went on"; return 1; }
	kill "$bystander"
	bystander=
}

from_within() {
	lab up 2x2 "${patience[@]}" || return 1
	exits 2 'lives in lab' lab exec 0,0 -- "$B/fabricctl" lab down --name "$lab" || return 1
	until_true 20 ctl status --lab "$lab" && lab down && nothing_left
}

bad_nic() {
	exits 2 'bogus' lab up 2x2 --set bogus=1 && nothing_left || return 1
	exits 2 'fabricctl: --set slots: 1 is out of range, must be 2 to 1024 with bubble=cbs' \
		lab up 2x2 --set bubble=cbs --set slots=1 && nothing_left || return 1
	exits 1 "unknown key 'nonsense'" lab up 2x2 --config <(echo 'nonsense = 1') && nothing_left
}

# With managers that never answer: how long "lab up" waits, and what it leaves.
never_runs() {
	local silent=$tmp/silent
	mkdir -p "$silent" && cp "$B/fabricctl" "$B/torusemu" "$silent" || return 1
	printf '#!/bin/sh\nexec sleep 600\n' >"$silent/fabricd" && chmod +x "$silent/fabricd" || return 1
	exits 6 "after 2 s the root's manager does not answer" \
		"$silent/fabricctl" lab up 2x1 --name "$lab" --timeout 2 && nothing_left || return 1
	exits 6 'is kept, with its logs in /run/torus/' \
		"$silent/fabricctl" lab up 2x1 --name "$lab" --timeout 1 --keep || return 1
	[[ -e $run/1.0/fabricd.log && $(state) == '"half-dead"' ]] && lab down && nothing_left || return 1
	"$silent/fabricctl" lab up 2x1 --name "$lab" --no-wait && [[ $(state) == '"up"' ]] && lab down &&
		nothing_left
}

two_labs() {
	lab up 2x2 "${patience[@]}" && [[ $(state) == '"up"' ]] &&
		[[ $(stat -c %a "$run/key") == 600 ]] && lab hosts --json | jq -e '.[1] == {node: [1,0],
		name: "n1-0", address: "10.1.0.0", address6: "fd74:6f72:1::", service: "172.30.0.2"}' || return 1
	exits 2 'up already' lab up 2x2 "${patience[@]}" || return 1
	"$B/fabricctl" lab up 3 --name "$lab-3" || return 1
	exits 2 'name one' env -u TORUS_LAB "$B/fabricctl" lab down || return 1
	"$B/fabricctl" lab down --name "$lab-3" && until_true 20 ctl status --lab "$lab" && lab down && nothing_left
}

# Another lab may need what a lab that is removed shares with it.
shared_stays() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'mount -t tmpfs tmpfs /run && "$0" lab up 1 --name "$1" &&
		"$0" lab down --name "$1" && ls -d /run/torus /etc/netns' "$B/fabricctl" "$lab"
}

cables() {
	lab up 3x2 "${patience[@]}" || return 1
	lab cut 1,0:+x && lab kill 1,0 && lab revive --timeout $((60 * slow)) 1,0 || return 1
	[[ $(lab status --json | jq -c '[.nodes[] | select(.cut != []) | [.node, .cut]]') == \
		'[[[1,0],["+x"]],[[2,0],["-x"]]]' ]] || { lab status; return 1; }
	operstate 1.0 px+ DOWN && operstate 2.0 px- DOWN || return 1
	lab ber 0,0:+y 1e-7 && lab latency 0,0:+y 10us && lab silence 0,0:-y on &&
		lab vb 0,0:-y 0.25 || return 1
	[[ $(lab status --json | jq -c '.nodes[3].faults | sort_by(.port) | map([.port, .latency_ns, .silence, .vb])') == \
		'[["+y",0,true,0.25],["-y",10000,false,0]]' ]] || { lab status; return 1; }
	lab mend 1,0:+x && until_true 5 operstate 1.0 px+ UP && until_true 5 operstate 2.0 px- UP &&
		lab down && nothing_left
}
# operstate NODE PORT WANT: the flags have UP also if there is no carrier
operstate() { [[ $(ip -n "$lab-$1" -j link show "$2" | jq -r '.[].operstate') == "$3" ]]; }

# A program that ends at once is too quick for MPICH on a busy machine: mpiexec then writes to a proxy
# that has ended, and fails.
mpi_starts() {
	lab up 2x2 "${patience[@]}" || return 1
	[[ $(lab exec 0,0 -- mpirun --host n0-0,n1-0,n0-1,n1-1 hostname 2>/dev/null | sort | xargs) == \
		"n0-0 n0-1 n1-0 n1-1" ]] || return 1
	[[ $(lab exec 0,0 -- mpiexec.mpich -hosts n0-0,n1-0,n0-1,n1-1 sh -c 'hostname; sleep 1' 2>/dev/null | sort | xargs) == \
		"n0-0 n0-1 n1-0 n1-1" ]] || return 1
	exits 7 '' lab exec 1,1 -- sh -c 'exit 7' || return 1
	exits 127 'no-such-program' lab exec 1,1 -- no-such-program || return 1
	[[ $(lab agent n1-0 echo '$(hostname)' two words) == "n1-0 two words" ]]
}

fabric() { "$B/fabricctl" "$1" --lab "$lab" --json | jq "$2"; }
sent() { fabric links 'map(.tx_bytes) | add'; }
sent_more() { (($(sent) > $1)); }
recovered() { (($(fabric status '.last_recovery.version // 0') > $1)) && lab_rests; }
lab_rests() { [[ $(fabric status .state) == @('"running"'|'"degraded"') ]]; }

then_recovers() {
	local v
	v=$(fabric status .table_version)
	"$@" && until_true 20 recovered "$v"
}

# whole COMPILER LAUNCHER...: blocks go around the ring of all nodes while cables are cut. All
# must arrive unchanged, through the NICs. On a busy machine they go around for longer.
whole() {
	local seconds
	"$1" -O2 -o "$tmp/ring" "$TOP/tools/demo_mpi.c" || return 1
	for seconds in 4 16 60; do
		early=
		ring_of "$seconds" "${@:2}" && return 0
		[[ $early ]] || return 1
	done
	return 1
}

ring_of() { # SECONDS LAUNCHER...
	local before ring ranks rounds rc=0
	before=$(sent)
	"$B/fabricctl" lab exec --name "$lab" 0,0 -- "${@:2}" n0-0,n1-0,n0-1,n1-1 "$tmp/ring" "$1" \
		>"$tmp/mpi" 2>"$tmp/mpi.err" &
	ring=$!
	until_true 20 sent_more $((before + (1 << 20))) || rc=1
	then_recovers lab cut 0,0:+x && then_recovers lab cut 1,1:-y || rc=1
	kill -0 "$ring" && [[ ! -s $tmp/mpi ]] || { echo "it was over before the second cut"; early=1 rc=1; }
	then_recovers lab mend 0,0:+x && then_recovers lab mend 1,1:-y || rc=1
	until_true $((20 + $1)) test -s "$tmp/mpi"
	ends "$ring" || rc=1
	cat "$tmp/mpi" "$tmp/mpi.err"
	read -r ranks _ rounds _ <"$tmp/mpi"
	grep -q '^4 ranks, [1-9][0-9]* rounds, 0 words wrong' "$tmp/mpi" || return 1
	# A block is 4096 words of 8 bytes.
	echo "sent $(($(sent) - before)) bytes"
	sent_more $((before + rounds * ranks * 4096 * 8)) && return $rc
}

open_mpi_whole() {
	ends() { wait "$1"; }
	whole mpicc.openmpi mpirun --host
}

# MPI_Finalize of MPICH 4.0 with UCX 1.13, the versions of Debian 12, often does not return, also
# over a plain Ethernet (svc0). So only what the ranks have printed together before it counts.
mpich_whole() {
	ends() {
		kill "$1" 2>/dev/null
		wait "$1"
		true
	}
	whole mpicc.mpich mpiexec.mpich -hosts
}

for shape in '1 1' '2 2' '5 5' '1x1 1' '2x2 4' '3x1x2 6' '2x1x2x1x2x1 8'; do
	read -r sizes nodes <<<"$shape"
	check "a lab of shape $sizes works" odd_shape "$sizes" "$nodes"
done
for ms in 20 100 300 600; do
	check "a lab up that is killed after $ms ms can be removed" killed_up "$ms"
done
check "a lab up that is interrupted reports it and leaves nothing" interrupted_up
check "after a reboot the lab can be removed" rebooted
check "a damaged lab.json is refused and can be removed" damaged
check "lab down ends processes in the lab, and no others" bystanders
check "lab down works from inside the lab" from_within
check "a NIC or manager that does not start is reported" bad_nic
check "a lab that never runs obeys --timeout, --keep and --no-wait" never_runs
check "two labs do not disturb each other" two_labs
check "files that labs share remain when one lab is removed" shared_stays
check "cut cables and faults outlive a revived node" cables
check "mpirun starts on all nodes and passes on exit statuses" mpi_starts
check "Open MPI: all blocks are right while cables are cut" open_mpi_whole
check "MPICH: all blocks are right while cables are cut" mpich_whole
check "MPI: lab down leaves nothing" eval 'lab down && nothing_left'
done_testing
