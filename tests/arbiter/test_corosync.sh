#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# torus-arbiter-corosync on a host with a real corosync, the only node that is up of a cluster of one,
# or of three.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
# shellcheck source=tests/arbiter/packages.sh
. "$TOP/tests/arbiter/packages.sh"
need corosync libquorum-dev
export TORUS_FABRIC=green
arbiter=$B/torus-arbiter-corosync
pid=''
cleanup() { [[ ! $pid ]] || kill -KILL "$pid" 2>/dev/null; }
explain() { tail -n 20 "$tmp/log"; }

built() { make -s B="$B" "$arbiter" && [[ -x $arbiter ]]; }
says() { exits 0 "$1" "$arbiter" claim 5 a1; }
# start VOTES: how many are expected
start() {
	mkdir -p "$tmp/state"
	cat >"$tmp/corosync.conf" <<-END
		totem {
			version: 2
			cluster_name: torus-test
			transport: udpu
			token: 500
			interface {
				ringnumber: 0
				bindnetaddr: 127.0.0.1
			}
		}
		system {
			state_dir: $tmp/state
		}
		logging {
			to_syslog: no
			to_stderr: yes
		}
		quorum {
			provider: corosync_votequorum
			expected_votes: $1
		}
		nodelist {
			node {
				ring0_addr: 127.0.0.1
				nodeid: 1
			}
		}
	END
	corosync -f -c "$tmp/corosync.conf" >"$tmp/log" 2>&1 &
	pid=$!
}
stop() {
	kill -TERM "$pid"
	wait "$pid" 2>/dev/null
	pid=''
}
with() {
	start "$1"
	until_true 15 says "$2" && says "$2" || return 1
	stop
}

if pgrep -x corosync >/dev/null; then
	skip "corosync" "this host runs corosync already"
	done_testing
fi
check "torus-arbiter-corosync is built where libquorum is" built
check "without corosync the answer is unknown" says 'unknown corosync: '
check "a claim with quorum is granted" with 1 granted
check "a claim without quorum is refused" with 3 'refused not quorate'
check "wrong arguments are refused with status 2" exits 2 'must be: claim EPOCH GUID' "$arbiter" claim
done_testing
