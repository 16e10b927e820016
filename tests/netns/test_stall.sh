#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# A NIC that keeps the credits of one link, which works otherwise: the root names it, takes the port
# that waits for it down after stall_max, and the packets that waited arrive by other paths.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=stall$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

# All NICs are such that can be told to break.
broken_programs() {
	mkdir "$tmp/bin" && cp "$B/fabricctl" "$B/fabricd" "$tmp/bin/" &&
		cp "$B/tests/netns/emu_withhold" "$tmp/bin/torusemu" && bin=$tmp/bin
}
raised() {
	printf '[timers]\nstall_max = 4s\n' >"$tmp/conf"
	lab up 3x3 --config "$tmp/conf" && is .state running
}

problems() { ask status --json | jq -r '.problems[] | select(.kind == "stall") | .text'; }
problem() { problems | grep -E "$1"; }
event() { ask events --json | jq -r '.[] | select(.kind == "stall") | .text' | grep -E "$1"; }
# As an event, for where looks come late the port may be taken down a moment after it is named.
named() { event "$1" >"$tmp/named" || problem "$1"; }
# The root answers, and knows no such problem.
quiet() { [[ $(ask status --json | jq '[.problems[] | select(.kind == "stall")] == []') == true ]]; }

# Numbers 0 to 399 as datagrams, fewer than the queue of torus0 holds: some wait for credits.
# Prints how many came, how many of them not in order, and the longest silence in s.
flow() {
	lab exec 1,0 -- python3 - >"$tmp/came" 2>&1 <<-'PY' &
		import socket, time
		s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
		s.bind(("::", 5555))
		s.settimeout(20)
		got, odd, gap, last = 0, 0, 0, None
		while got < 400:
		    n, now = int(s.recv(100)), time.monotonic()
		    odd += n != got
		    gap = max(gap, now - last) if last else 0
		    got, last = got + 1, now
		print(got, odd, round(gap, 1))
	PY
	receiver=$!
	lab exec 0,0 -- python3 - <<-'PY' &
		import socket, time
		time.sleep(0.5)
		to = socket.getaddrinfo("n1-0", 5555, type=socket.SOCK_DGRAM)[0]
		s = socket.socket(to[0], socket.SOCK_DGRAM)
		for n in range(400):
		    s.sendto(str(n).encode(), to[4])
		    time.sleep(0.01)
	PY
	sender=$!
}
breaks() {
	local pid
	read -r pid _ <"$run/1.0/torusemu.pid"
	kill -USR1 "$pid"
	flow
	until_true 20 named "node 1,0 .'n1-0'. returns no credits to 0,0:\+x"
}
is_down() { [[ $(ask links 0,0 --json | jq -r '.[] | select(.port == "+x") | .reason') == admin ]]; }
taken_down() {
	until_true 20 is_down && event '0,0:\+x is taken down: no packet was sent' &&
		until_true 10 problem '0,0:\+x was taken down' && is .links.faulty 1 && excluded 0,0 +x && excluded 1,0 -x
}
# excluded NODE PORT: 'links' says why
excluded() { [[ $(ask links "$1" --json | jq -r ".[] | select(.port == \"$2\") | .excluded") == stall ]]; }
nothing_lost() {
	wait "$sender" "$receiver"
	cat "$tmp/came"
	[[ $(tail -n 1 "$tmp/came" | cut -d " " -f 1,2) == "400 0" ]] && all_came_once && verified
}
only_that() { is_down && is .links.faulty 1 && [[ $(problems | wc -l) == 1 ]]; }
# Two times stall_max: time enough to blame another port.
stays() {
	local end
	until_true 10 only_that || return
	end=$((SECONDS + 8))
	while ((SECONDS < end)); do
		only_that || return
		sleep 0.5
	done
}
repaired() {
	ctl link up --lab "$lab" 0,0:+x && until_true 10 is .links.faulty 0 && until_true 10 quiet
}

check "programs with a NIC that can keep credits are prepared" broken_programs
check "a lab of nine nodes comes up" raised
check "no port waits for credits" quiet
check "a NIC that returns no credits is named" breaks
check "the port that waits for it is taken down" taken_down
check "the waiting packets arrive by another path, once" nothing_lost
check "the port stays down, and no other NIC is named" stays
check "an administrator takes the port up again" repaired
done_testing
