#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# inside/lifetime.sh [ROUNDS]
#
# NICs, lower devices, namespaces and the module are removed while in use, under traffic, again
# and again: most of it by tests/vm/churn.c. The kernel's own checks judge this, and traffic that
# must work afterwards.

# shellcheck disable=SC2119,SC2120,SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
rounds=${1:-100}
few=$(((rounds + 9) / 10)) # of what starts processes: slow in a guest

# flood N: sends messages to all possible nodes until it is killed, but only while no other
# process runs: the code that removes things mostly sleeps, and on one processor would have to
# wait for the floods.
flood() {
	nice ip netns exec "n$1" python3 "$TOP/tests/vm/inside/flood.py" 10.0.0.0 10.1.0.0 10.2.0.0 &
	floods+=($!)
}

calm() {
	kill "${floods[@]}" 2>/dev/null
	wait "${floods[@]}" 2>/dev/null
	floods=()
}
floods=()

# Each of these restores the fabric afterwards.

cycle_module() {
	local i
	for ((i = 0; i < $1; i++)); do
		load && unload || return
	done
}

# In one batch: processes are slow to start here, devices are not
cycle_links() {
	local i
	for ((i = 0; i < $1; i++)); do
		printf 'link add t%d type torus\nlink set t%d up\nlink del t%d\n' "$i" "$i" "$i"
	done | ip -batch -
}

cycle_moves() {
	local i
	for ((i = 0; i < $1; i++)); do
		ip -n n1 -batch - <<-END || return
			link set torus0 netns n2 name moved
			netns exec n2 ip link set moved netns n1 name torus0
		END
	done
}

cycle_ports() {
	local i
	for ((i = 0; i < $1; i++)); do
		ns 1 sh -c "$tool genl:torus0 attach 1 '' && $tool genl:torus0 attach 1 w &&
			ip link set w down && ip link set w mtu 1000 &&
			ip link set w up && ip link set w mtu 65535" || return
	done
}

# Another module owns the kind of links: the driver is refused as a whole, and works afterwards.
refused() {
	local err
	modprobe -q veth
	insmod "$KMOD2/rival.ko" || return
	err=$(load 2>&1) && return 1
	echo "$err"
	[[ $err == *"File exists"* ]] && ! loaded && rmmod rival && load &&
		ip link add t0 type torus && ip link del t0 && unload
}

check "the driver is refused while another module has its link type" refused
check "driver loads and unloads $few times" cycle_module "$few"
check "the driver loads" load
check "a NIC is added and deleted $rounds times" cycle_links "$rounds"
check "three nodes in a line come up" line 3
for n in 0 1 2; do flood $n; done
check "a NIC moves and returns under traffic" cycle_moves "$few"
check "a port comes and goes under traffic" cycle_ports "$few"
check "the driver unloads under traffic" unload
calm
check "the driver loads again" load
for n in 0 1 2; do ip netns del n$n; done
"$B/tests/vm/churn" "$rounds" "$KMOD/torus.ko" || failed=1
for n in 0 1 2; do ip netns del n$n; done
check "the driver unloads" unload
done_testing
