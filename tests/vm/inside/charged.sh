#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The parking segment is allocated when a NIC is made, and charged to the process that makes it:
# a process with limited memory cannot get more memory of the kernel that way.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
group=/sys/fs/cgroup/maker
segment=$((16 << 20))

# made: a process in the group makes a NIC
made() { bash -c "echo \$\$ >$group/cgroup.procs && exec ip link add torus0 type torus"; }

charged() { cat $group/memory.current; }

# All of it, and little more
takes_it() {
	local before after
	before=$(charged)
	made || return
	after=$(charged)
	echo "$before bytes before, $after after"
	((after - before >= segment && after - before < segment + segment / 4))
}

gives_it_back() {
	ip link del torus0 && until_true 10 returned
}
returned() { (($(charged) < segment)); }

# The process gets an error; none is killed for it.
refused() {
	echo $((segment / 2)) >$group/memory.max
	made
	(($? == 2)) && ! ip link show dev torus0 2>/dev/null && returned
}

tag='charged: '
mount -t cgroup2 cgroup2 /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control &&
	mkdir $group
check "the driver loads" load
check "a new NIC charges its parking segment at once" takes_it
check "a deleted NIC frees its parking segment" gives_it_back
check "a user without enough memory cannot make a NIC" refused
check "a user with enough memory can make a NIC" eval 'echo max >$group/memory.max && made'
check "the driver unloads" unload
done_testing
