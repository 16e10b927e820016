# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# need PACKAGE...: installs Debian packages that only this stage needs. Their services do not start.
need() {
	dpkg-query -W -f '${Status}\n' "$@" 2>/dev/null | grep -c ' installed$' | grep -qx $# && return
	mkdir -p /run/lock
	# As in tests/sandbox; a unit that is masked is not started by the installation.
	(
		flock 9
		systemctl mask --runtime etcd.service corosync.service >/dev/null 2>&1
		apt-get -q update && apt-get -q -y --no-install-recommends install "$@"
	) 9>/run/lock/torus-tests.lock </dev/null >"$TOP/build-log/apt-arbiter.log" 2>&1 ||
		{ tail -n 20 "$TOP/build-log/apt-arbiter.log"; exit 1; }
}
