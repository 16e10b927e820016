#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Changes of the Ethernet devices of a NIC's ports while the NIC runs: they get another MTU or
# name, lead back to the NIC itself, are removed, move to another namespace, or stay where they
# are while the NIC moves.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"

# lower NODE PORT WANT: whether this is the device of the port
lower() {
	local got
	got=$(ns "$1" "$B/fabricctl" device list --json |
		jq -r --arg port "$2" '.[0].ports[] | select(.port == $port) | .lower')
	[[ $got == "$3" ]] || { echo "the device of $2 is '$got'"; return 1; }
}

# The far end keeps its carrier if only the near end's device changes.
both() { state_is 0 0 "up carrier" && up 1 1; }

returns() { until_true 20 both && mend 0 0 1 1 && mend 1 1 0 0 && ping_ok 0 10.1.0.0; }

replug() { cable 0 1 && attach 0 && attach 1 && returns; }

# A frame takes as many packets as fit: with this size two.
mtus() {
	local mtu
	for mtu in 4144 9000 65535; do
		ip -n n0 link set e mtu $mtu && ip -n n1 link set w mtu $mtu &&
			ping_ok 0 -s 20000 10.1.0.0 || { echo "MTU $mtu"; return 1; }
	done
}

too_small() {
	ip -n n0 link set e mtu 4143 && until_true 10 state_is 0 0 "faulty carrier" &&
		ip -n n0 link set e mtu 65535 && returns
}

# The problem is logged, but a user with a NIC cannot fill the kernel's log with it.
told_in_measure() {
	local before said
	before=$(dmesg | grep -c 'packets need')
	for _ in {1..100}; do printf 'link set e mtu %s\n' 4143 4144; done | ip -n n0 -batch - || return
	said=$(($(dmesg | grep -c 'packets need') - before))
	echo "said $said times"
	((said >= 1 && said <= 50)) && ip -n n0 link set e mtu 65535 && returns
}

# The kernel only allows this while the device is down.
renamed() {
	ip -n n0 link set e down && ip -n n0 link set e name eth9 up && lower 0 +x eth9 &&
		returns && exits 1 'no such lower device' nic 0 attach 1 e &&
		ip -n n0 link set eth9 down && ip -n n0 link set eth9 name e up && lower 0 +x e &&
		returns
}

# Both ends of a cable in one NIC: the link comes up, and packets that leave at one port come in
# at the other.
loop() {
	ip -n n2 link add loop0 mtu 9000 up type veth peer name loop1 mtu 9000 &&
		ip -n n2 link set loop1 up && nic 2 attach 0 loop0 && nic 2 attach 1 loop1 &&
		until_true 20 up 2 0 && until_true 20 up 2 1 && nic 2 mgmt 0 hello &&
		until_true 10 more_than 2 port 1 mgmt_rx 0
}

# A device cannot be in two ports; neither the NIC nor a device on top of it can be its cable.
refused() {
	exits 1 'bound to another port' nic 2 attach 1 loop0 &&
		exits 1 'not an Ethernet device' nic 2 attach 1 torus0 &&
		exits 1 'not an Ethernet device' nic 2 attach 1 lo &&
		until_true 10 up 2 1
}

loop_ends() { ip -n n2 link del loop0 && until_true 10 lower 2 +x '' && lower 2 -x ''; }

unplugged() {
	ip -n n0 link del e && until_true 10 state_is 0 0 "faulty carrier" &&
		until_true 10 state_is 1 1 "faulty carrier" && lower 0 +x '' && lower 1 -x '' && replug
}

# A device that moved belongs to another namespace, and returns as a new device.
moved() {
	ip -n n0 link set e netns n2 && until_true 10 state_is 0 0 "faulty carrier" && lower 0 +x '' &&
		ip -n n2 link set e netns n0 && lower 0 +x '' && ip -n n0 link set e up &&
		attach 0 && returns
}

# readdress NAMESPACE: restores what an interface loses when it moves
readdress() {
	ip -n "$1" -batch - <<-END
		link set torus0 up
		addr add 10.0.0.0/32 dev torus0
		route add 10.0.0.0/8 dev torus0
	END
}
away() { ip netns exec away "$@"; }

# As with a VLAN: the cables stay in their namespace and remain the NIC's. New ones are taken
# from the namespace of the NIC.
nic_moved() {
	ip netns add away && ip -n n0 link set torus0 netns away && readdress away &&
		[[ $(away "$tool" genl:torus0 state 0) == up* ]] && answered away ping -q -c 3 -W 5 10.1.0.0 &&
		ip -n n0 link show e && ! away ip link show e 2>/dev/null && no_master n0 e &&
		exits 1 'no such lower device in this network namespace' away "$tool" genl:torus0 attach 1 e &&
		ip -n n0 link set e down && until_true 10 faulty_away && ip -n n0 link set e up &&
		ip -n away link set torus0 netns n0 && readdress n0 && lower 0 +x e && returns &&
		ip -n n0 -o link show e | grep -q ' master torus0 ' && ip netns del away
}

# no_master NAMESPACE DEVICE: the device has no master there, and can get none, because it is in use
no_master() {
	! ip -n "$1" -o link show "$2" | grep ' master ' && ip -n "$1" link add bridge0 type bridge &&
		! ip -n "$1" link set "$2" master bridge0 && ip -n "$1" link del bridge0
}
faulty_away() { [[ $(away "$tool" genl:torus0 state 0) == "faulty carrier" ]]; }

# The namespace of its cables ends: the NIC does not.
cables_die() {
	ip netns add cables && ip -n cables link add c mtu 9000 up type dummy &&
		ip -n n2 link set torus0 netns cables && ip netns exec cables "$tool" genl:torus0 attach 0 c &&
		ip -n cables link set torus0 netns n2 && lower 2 +x c &&
		ip netns del cables && until_true 10 lower 2 +x ''
}

# The NIC is the master of the port's device. A bridge gets it only from an administrator who says so,
# and keeps it against a port.
mastered() {
	ip -n n0 -o link show e | grep -q ' master torus0 ' && ip -n n0 link add bridge0 type bridge &&
		ip -n n0 link set e master bridge0 && lower 0 +x "" && exits 1 'belongs to a bridge' nic 0 attach 0 e &&
		ip -n n0 link set e master torus0 && lower 0 +x e && returns &&
		ip -n n0 link set e nomaster && lower 0 +x "" && ip -n n0 link set e master torus0 && returns &&
		ip -n n0 link add other mtu 9000 type dummy && ip -n n0 link set other master bridge0 &&
		exits 1 'belongs to a bridge' nic 0 attach 1 other && ip -n n0 link del bridge0 &&
		nic 0 attach 1 other && ip -n n0 link del other && lower 0 -x ""
}

tag='lower: '
check "the driver loads" load
check "two joined nodes and a third one apart come up" eval 'line 2 && node 2 && nic 2 place 3 2'
check "packets pass with each MTU that is large enough" mtus
check "a port has no carrier while the MTU is too small" too_small
check "a too small MTU is logged, but not each time" told_in_measure
check "a port keeps its device under another name" renamed
check "a cable from a NIC to itself comes up" loop
check "devices that cannot be bound to a port are refused" refused
check "when that cable is deleted, its ports have no device" loop_ends
check "a port loses its carrier with its device, and a new device is bound" unplugged
check "a device that moves to another namespace is unbound, and may be bound again" moved
check "a NIC that moves keeps its cables" nic_moved
check "a NIC goes on when the namespace of its cables ends" cables_die
check "a device has one master: a NIC or a bridge" mastered
check "no packet was lost" lost_none 0 1
check "the driver unloads" unload
done_testing
