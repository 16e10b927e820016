#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The judge of "fabricctl lab traffic" on paths that damage records: each fault raises the right
# count and exit status, and a clean path none. Instead of NICs, badpath.py joins the nodes of a
# bare lab of two.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=tr$$
path=

# begin_path FAULT...: the file of the path before says "ready", too, and the shell in the background
# empties it late on a busy machine, so it is removed first
begin_path() {
	rm -f "$tmp/path"
	"$TOP/tests/netns/badpath.py" "$lab-0" 10.0.0.0 "$lab-1" 10.1.0.0 "$@" >"$tmp/path" 2>&1 &
	path=$!
	until_true 20 grep -qx ready "$tmp/path" || { cat "$tmp/path"; end_path; return 1; }
}

# shellcheck disable=SC2317
end_path() {
	[[ -n $path ]] || return 0
	kill "$path" && wait "$path"
	path=
}

# shellcheck disable=SC2317
cleanup() { end_path 2>/dev/null; "$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; }

# judged STATUS PROTOCOL COUNTS FAULT...: whether the verdict on a path with these faults is
# right; COUNTS are the lost, duplicated, reordered and corrupt records
judged() {
	local want=$1 protocol=$2 counts=$3 rc=0 got clean=true
	shift 3
	begin_path "$@" || return 1
	lab traffic "--$protocol" --json "${flags[@]}" -s 0.3 0 1 >"$tmp/verdict" || rc=$?
	end_path
	cat "$tmp/verdict"
	[[ $rc == "$want" ]] || { echo "exit status $rc, not $want"; return 1; }
	got=$(jq -r '.flows | map(.lost, .duplicates, .reordered, .corrupt, .clean) | join(" ")' "$tmp/verdict")
	((want == 0)) || clean=false
	[[ $got == "$counts $clean" ]] || { echo "counts $got"; return 1; }
	jq -e ".flows | map($sent and .error == null) == [true]" "$tmp/verdict"
}

# killed PROTOCOL: the sender is killed early, after records that all arrived
killed() {
	local pid children rc=0
	begin_path || return 1
	"$bin/fabricctl" lab traffic --name "$lab" "--$1" --json --rate 50 -s 60 0 1 \
		>"$tmp/verdict" 2>"$tmp/warning" &
	pid=$!
	until_true 20 sends "$pid" || { kill "$pid"; cat "$tmp/warning"; end_path; return 1; }
	# The receiver's process is made first, then the sender's.
	kill -KILL "${children[1]}"
	wait "$pid" || rc=$?
	end_path
	cat "$tmp/verdict" "$tmp/warning"
	[[ $rc == 1 ]] && grep -q "$1: the sender ended early: Killed" "$tmp/warning" &&
		jq -e '.flows | map(.clean == false and .error != null) == [true]' "$tmp/verdict"
}
# sends PID: whether it has both processes; sets $children
sends() { mapfile -t children < <(pgrep -P "$1" | sort -n); ((${#children[@]} == 2)); }

flags=() sent='.sent > 150'
check "two nodes without NICs come up" lab up 2 --bare || exit 1
check "UDP: traffic over a clean path is judged clean" judged 0 udp "0 0 0 0"
check "UDP: a lost first record is counted" judged 1 udp "1 0 0 0" lose:0
check "UDP: a duplicated record is counted" judged 1 udp "0 1 0 0" double:100
check "UDP: two swapped records count as one reordered" judged 1 udp "0 0 1 0" swap:100
check "UDP: an altered record is counted" judged 1 udp "0 0 0 1" alter:100
check "UDP: several errors of each kind are counted" judged 1 udp "2 2 1 2" lose:20 lose:40 double:60 double:61 swap:80 \
	alter:100 alter:101
check "UDP: a path that loses many answers to the end is clean" judged 0 udp "0 0 0 0" done:20
check "TCP: traffic over a clean path is judged clean" judged 0 tcp "0 0 0 0"
check "TCP: an altered record is counted" judged 1 tcp "0 0 0 1" tcp:100
flags=(--dscp 8)
check "VCA: two swapped records are allowed" judged 0 udp "0 0 1 0" swap:100
check "VCA: lost, duplicated and altered records are counted" judged 1 udp "1 1 0 1" lose:100 double:120 alter:140
flags=(--rate 50) sent='.sent > 0 and .sent <= 15' # in 0.3 s
check "UDP: no more records a second are sent than asked for" judged 0 udp "0 0 0 0"
check "TCP: no more records a second are sent than asked for" judged 0 tcp "0 0 0 0"
check "UDP: a sender that is killed makes the flow unclean" killed udp
check "TCP: a sender that is killed makes the flow unclean" killed tcp
check "the lab ends" lab down
done_testing
