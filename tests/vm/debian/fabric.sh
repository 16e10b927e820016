# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# What both scripts that run inside the machine share, driver and tests/deb/guest. They set `here`, and
# source tests/check.sh before.

export LC_ALL=C.UTF-8 SYSTEMD_COLORS=0

property() { # UNIT PROPERTY
	systemctl show -P "$2" "$1"
}

is() { # UNIT PROPERTY VALUE
	[[ $(property "$1" "$2") == "$3" ]] || { echo "$2 of $1: $(property "$1" "$2")"; return 1; }
}

# manual BLOCK: the commands of that box of the operations manual
manual() { bash -e <($here/manual "$1" $here/OPERATIONS.md); }

built() {
	dkms status torus | grep -q ": installed" &&
	[[ $(modinfo -F filename torus) == */updates/dkms/torus.ko* ]]
}

configure() {
	manual key && [[ $(stat -c %a /etc/fabricd.key) == 600 ]] &&
	install -D -m 644 $here/torus0.conf /etc/torus/torus0.conf &&
	printf '%s = %s\n' service_address 172.16.0.1:7117 shape 2x2 >/etc/fabricd.conf &&
	cp -a $here/peers /etc/peers &&
	mv /etc/peers/*.service /etc/systemd/system/ &&
	systemctl daemon-reload && udevadm control --reload && manual check
}

whole() { # every node is up and every pair is joined, and so is the data
	fabricctl status --json >/tmp/status &&
	jq -e '.state == "running" and .nodes.up == 4' /tmp/status >/dev/null &&
	fabricctl verify >/dev/null && reach
}

reach() {
	local a
	for a in 10.1.0.0 10.0.1.0 10.1.1.0; do
		ping -q -c 1 -W 5 "$a" || return 1
	done
}

comes_up() {
	until_true 60 is torus-nic@torus0 ActiveState active && until_true 60 whole && return
	systemctl --no-pager -l status torus-nic@torus0 fabricd 'peer@*'
	fabricctl status
	fabricctl device list --ports
	return 1
}

kernel_is_calm() {
	! dmesg | grep -E 'BUG|WARNING:|Oops|Call Trace|unregister_netdevice: waiting'
}

no_failures() {
	[[ $(systemctl is-system-running --wait) == running ]] || { systemctl --failed; return 1; }
}
