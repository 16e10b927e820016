#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torusemu, with sanitizers, between two attackers: hostile frames at a port, and netlink
# messages of all kinds at its socket, the same as tests/vm/test_framefuzz.sh and test_nlfuzz.sh
# send to the module. FRAMES and COUNT are their numbers, SEED selects them.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
emu=${B_SAN:-$B}/torusemu
tool=$B/tests/netns/nictool
id=thostile$$
nic=$tmp/nic

# shellcheck disable=SC2317
cleanup() {
	[[ -z ${pid-} ]] || kill "$pid" 2>/dev/null
	ip netns del "$id-a" 2>/dev/null
	ip netns del "$id-b" 2>/dev/null
}

# shellcheck disable=SC2317
explain() { tail -n 30 "$tmp/log"; }

# cable NAME: makes a cable whose two ends have this name
cable() {
	ip link add "$1" mtu 65535 netns "$id-a" type veth peer name "$1" mtu 65535 netns "$id-b" &&
		ip -n "$id-a" link set "$1" up && ip -n "$id-b" link set "$1" up
}

start() {
	ip netns exec "$id-a" "$emu" --foreground --name hostile --ports 4 --socket "$nic" \
		--port +y=evil --log-level warning 2>"$tmp/log" &
	pid=$!
	until_true 20 "$tool" "$nic" place 3x2 1,0
}

ends_well() {
	kill "$pid" && wait "$pid" && ! grep -E 'ERROR|runtime error' "$tmp/log"
}

ip netns add "$id-a" && ip netns add "$id-b" && cable evil && cable fuzz0 || exit 2
check "torusemu with sanitizers starts" start || exit 1
check "hostile frames do not stop the NIC" ip netns exec "$id-b" "$B/tests/vm/framefuzz" --count "${FRAMES:-5000}" \
	--impostor evil
check "random messages of all kinds do not stop the NIC" "$B/tests/vm/nlfuzz" --count "${COUNT:-20000}" --socket "$nic" fuzz0
check "SIGTERM ends the NIC, and the sanitizers found nothing" ends_well
done_testing
