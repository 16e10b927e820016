#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: COUNT messages (16000) to the netlink family, in batches of EVERY (4000), each
# with a seed of its own: most as root, some as an unprivileged user, some as root of a
# container, who may only change the NIC in it. Each batch also makes a fiftieth as many requests
# as `ip link` does. After each batch a link in other namespaces must still be up.
#
#	h1:torus0 --left--right-- h2:torus0		left alone
#	torus0 --fuzz0--fuzz1--			the target

set -eu
COUNT=${COUNT:-16000}
EVERY=${EVERY:-4000}
first=${SEED:-1}
ctl=$B/fabricctl

# wait_for SECONDS COMMAND...: waits until the command succeeds
wait_for() {
	local i
	for ((i = 0; i < $1 * 20; i++)); do
		"${@:2}" && return
		sleep 0.05
	done
	echo "not ok - waited for: ${*:2}"
	return 1
}

healthy() {
	ip netns exec h1 "$ctl" device list --json |
		jq -e '.[0].ports[0] | .port == "+x" and .state == "up"' >/dev/null
}

lsmod | grep -q '^torus ' || insmod "$KMOD/torus.ko"
for h in h1 h2; do
	ip netns add $h
	ip -n $h link add torus0 type torus
done
ip link add left netns h1 type veth peer name right netns h2
ip -n h1 link set left mtu 65535 up
ip -n h2 link set right mtu 65535 up
ip netns exec h1 "$ctl" device attach torus0:+x left
ip netns exec h2 "$ctl" device attach torus0:-x right
wait_for 20 healthy

ip link add torus0 type torus
ip link add fuzz0 type veth peer name fuzz1
ip link set fuzz0 mtu 65535 up
ip link set fuzz1 mtu 65535 up

# shellcheck disable=SC2016 # for the container's shell
container='ip link add torus0 type torus && ip link add fuzz0 type veth peer name fuzz1 &&
	ip link set fuzz0 mtu 65535 up && ip link set fuzz1 mtu 65535 up && exec "$@"'

# batch ROLE: sends EVERY messages, with seed $SEED
batch() {
	local fuzz=("$B/tests/vm/nlfuzz" --count "$EVERY")
	case $1 in
	container) unshare -Urn bash -c "$container" - "${fuzz[@]}" fuzz0 fuzz1 lo torus0 ;;
	*) "${fuzz[@]}" --role "$1" fuzz0 fuzz1 lo torus0 ;;
	esac
}

# The first four batches, those of the default count, have every role.
roles=(root none userns container root root root root)
for ((i = 0; i * EVERY < COUNT; i++)); do
	export SEED=$((first + i))
	echo "[+] batch $((i + 1)): SEED=$SEED EVERY=$EVERY, ${roles[i % ${#roles[@]}]}"
	batch "${roles[i % ${#roles[@]}]}"
	"$B/tests/vm/linkfuzz" --count $((EVERY / 50))
	"$B/tests/vm/linkfuzz" --count $((EVERY / 500)) --nobody
	wait_for 20 healthy
done
ip link del torus0
ip netns del h1
ip netns del h2
echo "1..$((3 * i))"
