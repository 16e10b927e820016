# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# For scripts in a guest: nodes n0, n1, ... are network namespaces, each with a NIC of the
# kernel, torus0. Programs are slow to start here (UML), so `ip` gets its commands in batches.
# Nothing is cleaned up, because all of it ends with the guest.

# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
tool=$B/tests/netns/nictool
# Seconds without a frame after which a link is faulty: long, because no manager mends a link
# that fails when the machine stands still.
silence=20

# load: loads the driver and the modules that it needs, unless it is loaded
load() {
	local m
	! loaded || return 0
	for m in $(modinfo -F depends "$KMOD/torus.ko" | tr , ' ') veth; do
		modprobe -q "$m" || :
	done
	insmod "$KMOD/torus.ko"
}

unload() { rmmod torus; }
loaded() { [[ -e /sys/module/torus ]]; }

ns() { local n=$1; shift; ip netns exec "n$n" "$@"; }
nic() { local n=$1; shift; "$tool" "genl:n$n/torus0" "$@"; }

# got: the answer to the last request; a poll that fails prints it
ask() { got=$(nic "$@"); echo "it is: $got"; }
state_is() { ask "$1" state "$2"; [[ $got == "$3" ]]; }
up() { ask "$1" state "$2"; [[ $got == up* ]]; }
more_than() { ask "$1" "${@:2:$#-2}"; ((got > ${!#})); }
equals() { ask "$1" "${@:2:$#-2}"; [[ $got == "${!#}" ]]; }

# Other options of `device add` for the NICs that node makes
made=(--ports 2)

# node N...: makes a namespace with a NIC, with the addresses of its place
node() {
	local n
	for n; do
		ip netns add "n$n" || return
		ns "$n" "$B/fabricctl" device add torus0 --set "silence=${silence}s" \
			--set "retry_time=${silence}s" "${made[@]}" >/dev/null || return
		ip -n "n$n" -batch - <<-END || return
			link set lo up
			addr add 10.$n.0.0/32 dev torus0
			link set torus0 up
			route add 10.0.0.0/8 dev torus0
		END
	done
}

# cable A B: makes a cable from +x of node A to -x of node B, where the device is called w
cable() {
	ip -batch - <<-END || return
		link add e mtu 65535 netns n$1 type veth peer name w mtu 65535 netns n$2
	END
	ip -n "n$1" link set e up
	ip -n "n$2" link set w up
}

# attach N: attaches the ends of its cables to the node's ports
attach() {
	local has
	has=$(ip -n "n$1" -o link)
	[[ $has != *" e@"* ]] || nic "$1" attach 0 e || return
	[[ $has != *" w@"* ]] || nic "$1" attach 1 w
}

# joined A PORT B PORT: whether both ends are up. A link may have failed meanwhile; this opens it
# as a manager would.
joined() {
	local first
	until_true 20 up "$1" "$2" || return
	first=$got
	until_true 20 up "$3" "$4" || return
	[[ $first == "up none" && $got == "up none" ]] || { mend "$@" && mend "$3" "$4" "$1" "$2"; }
}

# line N: makes nodes 0 to N-1 in a row, cabled and placed
line() {
	local n last=$(($1 - 1)) all
	all=$(seq 0 "$last")
	# shellcheck disable=SC2086 # numbers
	node $all || return
	for ((n = 0; n < last; n++)); do cable "$n" $((n + 1)) || return; done
	for n in $all; do attach "$n" || return; done
	# Placed first: a link that was lost meanwhile is mended, which needs rows.
	for n in $all; do nic "$n" place "$1" "$n" || return; done
	for ((n = 0; n < last; n++)); do joined "$n" 0 $((n + 1)) 1 || return; done
}

# mend A PORT B PORT: what a manager does when a link has come up again
mend() {
	local session seq
	read -r session seq < <(nic "$3" received "$4")
	nic "$1" resolve "$2" "$session" "$seq" && nic "$1" replay "$2"
}

ping_ok() { answered ns "$1" ping -q -c 3 -i 0.05 -W 30 "${@:2}"; }

# copy FROM TO MEGABYTES|FILE: whether TCP delivers the data (until FILE exists)
copy() {
	: >/tmp/received
	ns "$2" python3 "$TOP/tests/vm/inside/tcp.py" receive "10.$2.0.0" >/tmp/received &
	until_true 60 grep -q listening /tmp/received || return
	ns "$1" python3 "$TOP/tests/vm/inside/tcp.py" send "10.$2.0.0" "$3" >/tmp/sent || return
	wait $! && [[ $(tail -n 1 /tmp/received) == $(cat /tmp/sent) ]]
}

# numbered FROM TO COUNT: sends this many numbered datagrams; their receiver listens
numbered() {
	: >/tmp/inorder
	ns "$2" python3 "$TOP/tests/vm/inside/inorder.py" receive "10.$2.0.0" "$3" >/tmp/inorder 2>&1 &
	until_true 60 grep -q listening /tmp/inorder &&
		ns "$1" python3 "$TOP/tests/vm/inside/inorder.py" send "10.$2.0.0" "$3"
}

# arrived: whether all of them came, whole, once and in order
arrived() { tail -n 1 /tmp/inorder; [[ $(tail -n 1 /tmp/inorder) == all ]]; }

# datagrams FROM TO COUNT: the same with plain datagrams. TCP would hide the losses of a NIC.
datagrams() { numbered "$@" && until_true 60 arrived; }

# lost_none N...: whether no flow to one of these nodes lost a packet. The receiver counts
# losses.
lost_none() {
	local n
	for n; do equals "$n" node lost 0 || { echo "at node $n"; return 1; }; done
}

# segmented FROM TO: whether messages with many datagrams arrive as these datagrams
segmented() {
	: >/tmp/uso
	ns "$2" python3 "$TOP/tests/vm/inside/uso.py" receive "10.$2.0.0" >/tmp/uso &
	until_true 60 grep -q listening /tmp/uso && ns "$1" python3 "$TOP/tests/vm/inside/uso.py" send \
		"10.$2.0.0" && wait $! && return
	cat /tmp/uso
	return 1
}
