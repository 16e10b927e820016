#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC in a lab takes a third of a second for each call, and sometimes does not answer at all. Its
# manager goes on with everything else: other managers do not lose it, and recoveries that need
# it end.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=slow$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab
log=$tmp/manager.log

settled() { is .state running && is '[.nodes.up, .links.up] | @csv' 9,18; }
has() { grep -F -- "$1" "$log"; }
has_not() { ! has "$1"; }

# The manager of a node, once more, behind a NIC that is slow
slow() {
	local at=${1//,/.} nic
	lab kill "$1" --manager || return
	nic=$(sed -n 's/^device *= *unix://p' "$run/$at/fabricd.conf")
	[[ -S $nic ]] || return
	# A dump is two answers: together they stay below the second that a manager waits.
	echo 333 >"$tmp/delay"
	python3 "$TOP/tests/netns/slow_nic.py" "$nic" "$tmp/nic" "$tmp" >"$tmp/ready" &
	until_true 10 grep -q ready "$tmp/ready" || return
	sed "s|^device.*|device = unix:$tmp/nic|" "$run/$at/fabricd.conf" >"$tmp/fabricd.conf"
	"$B/fabricctl" lab exec --name "$lab" "$1" -- "$B/fabricd" --config "$tmp/fabricd.conf" \
		>"$log" 2>&1 &
	until_true 60 settled
}

# A cable of another node, so that only recoveries reach the slow one
cut_and_mended() {
	lab cut 0,0:+x && until_true 60 is .links.faulty 1 && until_true 60 is .state degraded &&
		lab mend 0,0:+x && until_true 60 settled
}

# Two answers are lost, while a cable is cut and mended.
two_lost() {
	echo 2 >"$tmp/lose"
	lab cut 0,0:+x && until_true 60 is .links.faulty 1 && until_true 60 has "did not answer a request" &&
		until_true 60 is .state degraded && lab mend 0,0:+x && until_true 120 settled
}

# ask_all END: questions of users to the slow NIC, one after the other until the file END comes
ask_all() {
	local q
	until [[ -e $1 ]]; do
		for q in links counters park routes; do
			"$bin/fabricctl" "$q" 1,1 --lab "$lab" --json >/dev/null 2>&1 &&
				echo "$q" >>"$1.answered"
		done
	done
}

# How long the manager of the slow NIC needs for an answer of its own, in ms: half of 40 need more
usual_delay() {
	python3 - "$run/1.1/control" <<-'END'
		import socket, sys, time
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		reader, taken = s.makefile(), []
		for _ in range(40):
		    began = time.monotonic()
		    s.sendall(b'{"cmd":"coord"}\n')
		    reader.readline()
		    taken.append(time.monotonic() - began)
		    time.sleep(0.05)
		print(int(1000 * sorted(taken)[20]))
	END
}

# While users ask that NIC all the time, its manager goes on with everything else.
not_held_up() {
	local ms answered _
	echo 150 >"$tmp/delay"
	until_true 60 ask links 1,1 || return
	for _ in 1 2 3 4; do
		ask_all "$tmp/enough" &
	done
	until_true 60 grep -q routes "$tmp/enough.answered"
	ms=$(usual_delay)
	: >"$tmp/enough"
	answered=$(wc -l <"$tmp/enough.answered")
	say "answered within $ms ms, and meanwhile $answered answers of the NIC"
	echo 333 >"$tmp/delay"
	((ms < 75 && answered > 0))
}

check "a lab comes up" lab up 3x3 --service 172.29.0.0/16
check "a manager restarts at a slow NIC" slow 1,1
check "slow answers of the NIC do not block its manager" not_held_up
check "a cable is cut and mended" cut_and_mended
check "the node was not lost" is '.nodes.up' 9
check "two answers are lost" two_lost
check "the NIC with lost answers does not count as gone" has_not "the NIC is gone"
check "the manager of the slow NIC never loses its parent" has_not "has lost its parent"
echo 0 >"$tmp/delay"
check "every path is right" verified
check "no packet was lost or duplicated" all_came_once
echo 100000 >"$tmp/lose"
check "a cable is cut while the NIC never answers" lab cut 0,0:+x
check "a NIC that never answers counts as gone" until_true 60 has "the NIC is gone"
echo 0 >"$tmp/lose"
check "the NIC is found again when it answers" until_true 60 is '.nodes.up' 9
check "the problem that it was gone is over" until_true 10 has "over: the NIC is gone from node 'n1-1': "
check "the cable is mended" lab mend 0,0:+x
check "the fabric is whole" until_true 60 settled
check "the lab ends" lab down
done_testing
