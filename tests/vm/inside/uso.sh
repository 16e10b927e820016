#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A NIC in user space sends messages to a NIC of the kernel that its kernel has not split into
# datagrams (USO, Linux 6.2 and later), and lets its kernel split messages of the other.

# shellcheck disable=SC2317 # functions are called by check
# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"

emu() { ns 1 "$tool" /tmp/n1.nic "$@"; }
up_there() { [[ $(emu state 1) == up* ]]; }

# n1, with a NIC in user space at its end of the cable
user_node() {
	mknod -m 600 /dev/net/tun c 10 200 2>/dev/null
	ip netns add n1 && cable 0 1 || return
	ns 1 "$B/torusemu" --name n1 --ports 2 --socket /tmp/n1.nic --foreground --port -x=w \
		--set "silence=${silence}s" --set "retry_time=${silence}s" \
		2>/tmp/n1.log &
	emulator=$!
	until_true 20 emu state 1
}

joined_to_user() {
	nic 0 attach 0 e && nic 0 place 2 0 && emu place 2 1 &&
		until_true 20 up 0 0 && until_true 20 up_there
}

# The number of messages in which these 115 datagrams left n1
in_few_messages() {
	local before after
	before=$(emu node host_messages_tx)
	segmented 1 0 || return
	after=$(emu node host_messages_tx)
	echo "$((after - before)) messages"
	((after > before && after - before < 30))
}

tag='uso: '
modprobe -q tun || :
check "the driver loads" load
check "a NIC of the kernel is made" node 0
check "a NIC in user space is made" user_node
check "both NICs are joined by one cable" joined_to_user
check "ping is answered" ping_ok 0 10.1.0.0
check "messages left whole by a newer kernel arrive as datagrams" in_few_messages
check "messages of the kernel's NIC arrive as datagrams" segmented 0 1
check "no packet was lost" equals 0 node lost 0
kill $emulator
check "the driver unloads" unload
done_testing
