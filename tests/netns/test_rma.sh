#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Remote memory between processes of two nodes, by torusemu (with sanitizers) and libtorus. The
# test gives the NICs their places and rows, cuts the cable, and mends it.
#
#   ┌────────┐     ┌────────┐
#   │ n0     │     │ n1     │
#   │  NIC e─┼─────┼─w NIC  │
#   └────────┘     └────────┘
#
# Shape 4, cut open. Owners of memory are on n1, other processes on n0.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
emu=${B_SAN:-$B}/torusemu
[[ $emu == /* ]] || emu=$TOP/$emu
tool=$B/tests/netns/nictool
id=trma$$
declare -A pid

nic() { local n=$1; shift; "$tool" "$tmp/n$n.nic" "$@"; }
# rma N COMMAND...: remote memory at node N
rma() { local n=$1; shift; timeout 120 "$B/tests/netns/rmatool" "unix:$tmp/n$n.rma" "$@"; }

cleanup() {
	local n p
	for n in 0 1; do
		for p in $(ip netns pids "$id-$n" 2>/dev/null); do kill -9 "$p" 2>/dev/null; done
		ip netns del "$id-$n" 2>/dev/null
	done
	disown_region
}

# shellcheck disable=SC2317
explain() { tail -n 25 "$tmp"/*.log; cat "$tmp/said" 2>/dev/null; }

is_up() { [[ $(nic "$1" state "$2") == up* ]]; }
state_is() { [[ $(nic "$1" state "$2") == "$3" ]]; }

# start N PORT=DEVICE
start() {
	ip netns exec "$id-$1" "$emu" --name "n$1" --ports 2 --socket "$tmp/n$1.nic" --rma "$tmp/n$1.rma" \
		--no-tun --foreground --port "$2" 2>>"$tmp/n$1.log" &
	pid[$1]=$!
	until_true 20 "$tool" "$tmp/n$1.nic" node lost >/dev/null 2>&1
}

# Ends the owner at n1, if there is one.
disown_region() {
	[[ -n $owner ]] || return 0
	kill "$owner" 2>/dev/null
	wait "$owner" 2>/dev/null
	owner=
}

# own: starts an owner at n1 in place of the one before, whose region far then names
owner=
far=()
own() {
	disown_region
	rm -f "$tmp/far"
	"$B/tests/netns/rmatool" "unix:$tmp/n1.rma" own >"$tmp/far" &
	owner=$!
	until_true 20 [ -s "$tmp/far" ] && read -ra far <"$tmp/far"
}

# says TEXT COMMAND...: the command says this, among others
says() {
	local text=$1
	shift
	"$@" >"$tmp/said" 2>&1
	grep -F "$text" "$tmp/said"
}

stream() { says "$1 rounds are right" rma 0 stream "${far[@]}" "$1"; }

mend_by_hand() {
	local session seq
	read -r session seq < <(nic "$3" received "$4")
	nic "$1" resolve "$2" "$session" "$seq" && nic "$1" replay "$2"
}

# Cuts the cable and mends it, three times.
cut_cable() {
	local i
	for i in 1 2 3; do
		say "cut $i"
		sleep 0.1
		ip -n "$id-0" link set e down && until_true 20 state_is 0 0 "faulty carrier" || return
		ip -n "$id-0" link set e up && until_true 20 is_up 0 0 && until_true 20 is_up 1 1 || return
		mend_by_hand 0 0 1 1 && mend_by_hand 1 1 0 0 || return
	done
	sleep 0.1
}

issued_more() { (($(nic 0 node rma_issued) > $1)); }

# The cable is cut while a stream of operations runs, which then goes on where it was.
cut_stream() {
	local job before
	own || return
	before=$(nic 0 node rma_issued)
	"$B/tests/netns/rmatool" "unix:$tmp/n0.rma" stream "${far[@]}" 1000000000 >"$tmp/said" 2>&1 &
	job=$!
	until_true 20 issued_more "$before" && cut_cable || return
	kill $job
	wait $job
	grep -x "[0-9]* rounds are right" "$tmp/said" && echo "parked: $(nic 0 node parked)" && (($(nic 0 node parked) > 0))
}

# listen: starts a receiver of messages at n1, in place of an owner
listen() {
	disown_region
	rm -f "$tmp/heard"
	"$B/tests/netns/rmatool" "unix:$tmp/n1.rma" receive >"$tmp/heard" &
	owner=$!
	until_true 20 [ -s "$tmp/heard" ] && read -ra far <"$tmp/heard"
}

# heard N: the receiver has received N messages in order, and ends
heard() {
	wait "$owner" || return
	owner=
	cat "$tmp/heard"
	grep -x "$1 messages are right" "$tmp/heard"
}

# Messages arrive in order; at first, the receiver is not ready, so some are refused and sent again.
messages() {
	listen && rma 0 send "${far[@]}" 2000 >"$tmp/said" && heard 2000 && cat "$tmp/said" &&
		grep -x "2000 messages are sent, refused: [1-9][0-9]*" "$tmp/said"
}

# ... and so they do while the cable is cut, none twice.
cut_messages() {
	local job before
	listen || return
	before=$(nic 0 node rma_issued)
	"$B/tests/netns/rmatool" "unix:$tmp/n0.rma" send "${far[@]}" 1000000000 >"$tmp/said" 2>&1 &
	job=$!
	until_true 20 issued_more "$before" && cut_cable || return
	kill $job
	wait $job && cat "$tmp/said" && heard "$(sed -n 's/ messages are sent.*//p' "$tmp/said")"
}

# Errors of messages, each with its value and what is allowed.
wrong_messages() {
	rma 0 messages >"$tmp/said" 2>&1
	diff "$tmp/said" - <<-'END'
		long message: refused: message: bytes must be at most 4048
		not ready: refused: the receiver is not ready: it has posted no memory
		key of a context: refused: wrong key
		no context: refused: there is no such context
		little memory: refused: longer than the posted memory: bytes must be at most 8
		used memory: Device or resource busy: open requests of this context use region 0
		cancelled: refused: cancelled
		receives: Resource temporarily unavailable: 64 receives are posted or not taken: the limit is 64
	END
}

# A region has the address that its owner has chosen, and windows lead to it.
addressed() {
	disown_region
	rm -f "$tmp/far"
	"$B/tests/netns/rmatool" "unix:$tmp/n1.rma" at >"$tmp/far" &
	owner=$!
	until_true 20 grep -q '^[0-9]' "$tmp/far" && read -ra far < <(tail -n 1 "$tmp/far") || return
	diff <(head -n -1 "$tmp/far") - <<-'END' || return
		misaligned: Invalid argument: address 0x123400000004: must be a multiple of 8
		beyond the end: Numerical result out of range: address 0xfffffffffff8: the region must end at 0x1000000000000 at the latest
		no access: Invalid argument: a region with an address must allow some access
		overlap: File exists: address 0x1234000ffff8: region 1 has 0x123400000000 to 0x1234000fffff
	END
	rma 0 window "${far[@]}" >"$tmp/said" 2>&1
	"$B/fabricctl" windows --rma "unix:$tmp/n1.rma" --json | jq -e '. == [{user: 0, address: 20014547599360,
		bytes: 1048576, region: 1, access: ["read", "write", "amo"]}]' || return
	"$B/fabricctl" windows --rma "unix:$tmp/n1.rma" |
		grep -E '^ *0 +0x123400000000 +0x1234000fffff +1(\.0)? MiB +1 +read,write,amo$' || return
	"$B/fabricctl" regions --rma "unix:$tmp/n1.rma" | grep -E '^ *1 .* 0x123400000000 ' || return
	diff "$tmp/said" - <<-'END'
		passes the end: refused: beyond the end of the region: bytes from there to its end: 4
		no address: refused: there is no such region
	END
}

# Other users have other addresses, and those of a process end with it.
unaddressed() {
	chmod 755 "$tmp" && cp "$B/tests/netns/rmatool" "$tmp/rmatool" && rma 0 window "${far[@]}" &&
		says "request 1 to node 1: refused: there is no such region" setpriv --reuid=1234 \
			--clear-groups "$tmp/rmatool" "unix:$tmp/n0.rma" window "${far[@]}" || return
	disown_region
	says "request 1 to node 1: refused: there is no such region" rma 0 window "${far[@]}"
}

# The program of the manual, compiled as printed. $1: what it says
manual() {
	local libs
	sed -n '/^\.EX/,/^\.EE/p' "$TOP/lib/libtorus-rma.3" | sed '/^\.E[XE]/d; s/\\e/\\/g; s/\\-/-/g' >"$tmp/hello.c"
	read -ra libs < <(pkg-config --libs libnl-genl-3.0 jansson)
	gcc -Wall -Wextra -Werror -I"$TOP/include" -o "$tmp/hello" "$tmp/hello.c" "$B/libtorus.a" "${libs[@]}" || return
	TORUS_RMA=unix:$tmp/n1.rma "$tmp/hello" >"$tmp/heard" &
	local hello=$! heard
	until_true 20 [ -s "$tmp/heard" ] && read -ra heard <"$tmp/heard" && TORUS_RMA=unix:$tmp/n0.rma timeout 20 "$tmp/hello" "${heard[@]}" hello || return
	wait $hello
	cat "$tmp/heard"
	[[ $(tail -n 1 "$tmp/heard") == "$1" ]]
}

# Errors, each with its value and what is allowed.
wrong() {
	rma 0 wrong >"$tmp/said" 2>&1
	diff "$tmp/said" - <<-'END'
		no region: refused: there is no such region
		key: refused: wrong key
		node: refused: node: must be at most 3
		bounds: refused: beyond the end of the region: bytes from there to its end: 7
		address: refused: offset: its end must be at most 281474976710656
		align: refused: misaligned: must be a multiple of 8
		cancel: refused: no full/empty operation or receive with this cookie is open
		local: Bad address: 16 bytes are not in a region of this context
		no bytes: Invalid argument: a region of 0 bytes: must be 1 or more
		half a word: Invalid argument: full/empty bits: the region must be made with them, and have whole words of 8 bytes
		access: Invalid argument: access 0x10: must be within the mask 0xf
		no bits: Invalid argument: full/empty bits: the region must be made with them, and have whole words of 8 bytes
		access: refused: no right to do this: must be within the mask 1
		bits: refused: no right to do this: must be within the mask 1
		closed: refused: the region was closed
	END
}

# begin_wait: starts $job at n0, which waits for a word of n1, and goes on once the NIC has its request
begin_wait() {
	local before
	before=$(nic 0 node rma_issued)
	rma 0 wait "${far[@]}" >"$tmp/said" 2>&1 &
	job=$!
	until_true 20 issued_more "$before"
}

# A process that is killed takes its region with it, also if others wait for a word of it.
killed() {
	local job
	own && begin_wait || return
	kill -9 "$owner"
	wait "$job"
	grep -x "wait: refused: the region was closed" "$tmp/said" &&
		says "refused: the region was closed" rma 0 refused "${far[@]}"
}

# waiters N: starts N processes at n0 that wait for a word of n1, and kills them
waiters() {
	timeout 60 bash -c 'for ((i = 0; i < $1; i++)); do "$2" "unix:$3" wait ${@:4} & done
		sleep 0.5; kill -9 $(jobs -p); wait' - "$1" "$B/tests/netns/rmatool" "$tmp/n0.rma" "${far[@]}" 2>/dev/null
}

# Processes that wait, and are killed, leave nothing behind: there is room for others.
many_killed() { own && waiters 40 && waiters 40 && until_true 20 stream 100; }

descriptors() { ls "/proc/$1/fd" | wc -l; }
has_descriptors() { (($(descriptors "$1") == $2)); }

# lowest_free N: the lowest descriptor that process N has not in use
lowest_free() {
	local fd=0
	while [[ -e /proc/$1/fd/$fd ]]; do fd=$((fd + 1)); done
	echo $fd
}

# A process whose descriptors are all in use tells each client; later it goes on.
without_descriptors() {
	local limit i before
	limit=$(ulimit -Hn)
	before=$(grep -c "refused a client: all file descriptors are in use" "$tmp/n0.log")
	prlimit --pid "${pid[0]}" --nofile="$(lowest_free "${pid[0]}"):$limit" || return
	for i in 1 2 3; do
		says "open: all file descriptors of the NIC's process are in use" rma 0 own &&
			! nic 0 node lost 2>/dev/null || return
	done
	prlimit --pid "${pid[0]}" --nofile="$limit:$limit" && own && stream 10 &&
		(($(grep -c "refused a client: all file descriptors are in use" "$tmp/n0.log") == before + 3))
}

# Processes that break all rules harm themselves alone: those of others go on.
hostile() {
	local i job jobs=() before
	before=$(descriptors "${pid[0]}")
	own || return
	"$B/tests/netns/rmatool" "unix:$tmp/n0.rma" stream "${far[@]}" 1000000000 >"$tmp/said" 2>&1 &
	job=$!
	for i in 0 1; do
		timeout 100 "$B/tests/netns/rmahostile" "$tmp/n$i.rma" "$1" $((SEED + i)) &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do wait "$i" || return; done
	kill $job
	wait $job
	grep -x "[1-9][0-9]* rounds are right" "$tmp/said" && until_true 20 has_descriptors "${pid[0]}" "$before"
}
SEED=${SEED:-1}

# All owners have ended, not only the last one.
no_owner_left() { disown_region && ! pgrep -f "unix:$tmp/n1.rma own"; }

# Nothing is leaked, if torusemu has sanitizers.
orderly() {
	kill "${pid[0]}" "${pid[1]}" && wait "${pid[0]}" && wait "${pid[1]}" && [[ ! -e $tmp/n0.rma ]]
}

# A process that waits learns that its NIC has got another place.
moved() {
	local job
	begin_wait && nic 0 place 5 2 || return
	wait "$job"
	grep -F "the NIC has ended, or has lost its place" "$tmp/said"
}

# Another user cannot use the region.
other_user() {
	chmod 755 "$tmp" && cp "$B/tests/netns/rmatool" "$tmp/rmatool" &&
		says "the region belongs to another user" setpriv --reuid=1234 --clear-groups \
			"$tmp/rmatool" "unix:$tmp/n0.rma" refused "${far[@]}"
}

# One user cannot take all regions and bytes of a NIC.
hoard() {
	says "regions: user 1234 has 256 regions, the limit is 256" setpriv --reuid=1234 --clear-groups \
		"$tmp/rmatool" "unix:$tmp/n0.rma" hoard &&
		grep "^bytes: Cannot allocate memory: .* user 1234 has 1048576, all users" "$tmp/said"
}

# as_high COMMAND...: rmatool at node 0 for a user above 65535
as_high() { setpriv --reuid=70000 --clear-groups "$tmp/rmatool" "unix:$tmp/n0.rma" "$@"; }

# own_high N: such a user has N contexts, whose processes are in held; far is the region of the last
own_high() {
	local i
	held=()
	for ((i = 0; i < $1; i++)); do
		rm -f "$tmp/far"
		setpriv --reuid=70000 --clear-groups "$tmp/rmatool" "unix:$tmp/n0.rma" own >"$tmp/far" 2>&1 &
		held+=($!)
		until_true 20 [ -s "$tmp/far" ] || return
	done
	read -ra far <"$tmp/far"
}
disown_high() { kill "${held[@]}"; wait "${held[@]}"; true; }

# A user above 65535 has regions, which the user with the same low 16 bits cannot use.
high_user() {
	own_high 1 && says "100 rounds are right" as_high stream "${far[@]}" 100 &&
		says "the region belongs to another user" setpriv --reuid=$((70000 & 65535)) --clear-groups \
			"$tmp/rmatool" "unix:$tmp/n0.rma" refused "${far[@]}" && disown_high
}

# Connections that are refused do not fill the log, and none is left out of the count.
refused_often() {
	local begin=$SECONDS lines i
	own_high 16 && says "the user has too many contexts" as_high wrong || return
	for ((i = 0; i < 59; i++)); do as_high wrong 2>/dev/null; done
	sleep 1.1
	as_high wrong 2>/dev/null
	disown_high
	lines=$(grep -c "refused user 70000: the user has too many contexts" "$tmp/n0.log")
	echo "$lines lines in $((SECONDS - begin)) s"
	((lines <= SECONDS - begin + 2)) && sed -n 's/.*refused user 70000.*refused \([0-9]*\) more.*/\1/p' "$tmp/n0.log" |
		awk '{ n += $1 + 1 } END { print n; exit n != 61 }'
}

for n in 0 1; do
	ip netns add "$id-$n" || exit 2
	ip -n "$id-$n" link set lo up
done
ip link add e mtu 65535 netns "$id-0" type veth peer name w mtu 65535 netns "$id-1"
ip -n "$id-0" link set e up
ip -n "$id-1" link set w up
check "torusemu starts with a socket for remote memory" start 0 +x=e || exit
check "torusemu at the other end starts with such a socket" start 1 -x=w || exit
check "a NIC without a place offers no remote memory" says "the NIC has no place in a torus yet" rma 0 wrong
check "the link comes up" until_true 20 is_up 0 0
for n in 0 1; do until_true 20 nic $n place 4 $n 2>/dev/null; done
check "a process shares a region" own
check "tickets, tokens, puts and gets have right results" stream 1000
check "one user's region is not another user's" other_user
disown_region
check "one user cannot take all regions and bytes" hoard
check "a user above 65535 has regions of its own" high_user
check "connections that are refused are counted in one line a second" refused_often
check "the program of libtorus-rma.3 runs as printed" manual "hello from node 0"
check "errors name the allowed values" wrong
check "messages arrive in order, and a receiver that is not ready refuses them" messages
check "errors of messages name the allowed values" wrong_messages
check "a region is found by the address that its owner has chosen" addressed
check "addresses are those of one user, and end with the process" unaddressed
check "a region ends with its process" killed
check "processes that are killed while they wait leave nothing" many_killed
check "a NIC without a free descriptor says so to each client" without_descriptors
check "hostile processes do not disturb others" hostile 400
check "messages arrive in order and once while the cable is cut" cut_messages
check "operations end rightly while the cable is cut" cut_stream
check "a NIC that gets another place ends its contexts" moved
check "no process that shares a region is left" no_owner_left
check "both NICs end with status 0" orderly
done_testing
