#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# An attacker on a cable who has no key: management packets that he has recorded, altered, or
# recorded on another cable, sent again to node 1,0 of a ring of three.
#
# Sent as frames they have an old sequence number or a wrong checksum, so its NIC drops them, and
# the link stays up. Packets with the right ones, or sent by the NIC at the other end, reach the
# manager: it counts each as refused or late, and does nothing.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=seal$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab
tap=$TOP/tests/netns/mgmttap.py

taps=()
inside() { ip netns exec "$lab-$1" "${@:2}"; }

# --- what is recorded ---------------------------------------------------------------------------

# tap NODE IFACE FILE: what comes in there goes to FILE
tap() {
	ip netns exec "$lab-$1" python3 "$tap" record "$2" >>"$3" 2>"$3.log" &
	taps+=($!)
	until_true 10 grep -q ready "$3"
}
# A message, not only greetings, has come there: it has "01" as byte 5.
full() { grep -q " 74534541..01" "$1"; }
settled() { is .state running && is .parked_packets 0; }
# A cut that is mended before a busy machine lets the NIC see it would begin no session.
separated() {
	ask links 1,0 --json | jq -e 'all(.[] | select(.port | endswith("x")); .state != "up")' >/dev/null
}
told_all() { ask links 1,0 --json | jq -c '[.[].mgmt_rx]'; }
# Init packets go on for some time after the fabric is whole.
quiet() {
	local before
	before=$(told_all)
	sleep 1
	[[ $(told_all) == "$before" ]]
}
# Both cables begin a new session, and the managers talk.
talk() {
	local f
	for f in from0 from2 from1; do : >"$tmp/$f"; done
	for f in 0,0:+x 1,0:+x; do lab cut "$f"; done
	until_true 20 separated || return 1
	for f in 0,0:+x 1,0:+x; do lab mend "$f"; done
	for f in from0 from2 from1; do until_true 20 full "$tmp/$f" || return 1; done
	until_true 20 settled && until_true 20 quiet
}
recorded() {
	tap 1.0 px- "$tmp/from0" && tap 1.0 px+ "$tmp/from2" && tap 0.0 px+ "$tmp/from1" &&
		talk && cp "$tmp/from0" "$tmp/before" && talk && kill "${taps[@]}"
}
# frames FILE, data FILE: into the array of that name, what was recorded
frames() { mapfile -t frames < <(cut -d " " -f 1 "$tmp/$1"); }
data() { mapfile -t data < <(sed "s/.* /0x/" "$tmp/$1"); }
message() { grep -o -m 1 " 74534541..01.*" "$tmp/$1" | tr -d " "; }

# --- what may not change ------------------------------------------------------------------------

link() { ask links 1,0 --json | jq ".[] | select(.port == \"-x\") | $1"; }
fabric() {
	ask status --json | jq -c '[.state, .table_version, .root.node, .root.epoch]'
	ask nodes --json | jq -c '.[] | [.node, .guid, .state, .parent, .table_version]'
	for n in 0 1 2; do
		ask routes "$n,0" --json | jq -c '[.version, .rows[].row]'
		ask links "$n,0" --json | jq -c '.[] | [.node, .port, .peer, .state, .session, .closed, .retrains]'
		inside "$n.0" ss -tnH state established | awk '{ print $3, $4 }' | sort
	done
}
unchanged() { fabric >"$tmp/now" && diff "$tmp/fabric" "$tmp/now"; }

# --- frames -------------------------------------------------------------------------------------

# The NIC counts at least as many as are given, and nothing comes to the manager. A neighbour's manager
# may say something at that moment; but frames that are not dropped come to the manager each time.
dropped() { # COUNTER FRAME...
	local counter=$1 was heard
	for _ in 1 2 3; do
		was=$(link ".$counter") heard=$(link .mgmt_rx)
		inside 0.0 python3 "$tap" send px+ "${@:2}" && until_true 10 above "$counter" "$was" || return 1
		[[ $(link .mgmt_rx) != "$heard" ]] || return 0
	done
	return 1
}
above() { (($(link ".$1") > $2)); }
frames_again() { frames from0 && dropped duplicates "${frames[@]}"; }
frames_altered() {
	frames from0
	mapfile -t frames < <(python3 "$tap" alter "${frames[-1]}")
	dropped crc_errors "${frames[@]}"
}
# As frames of this link: those of other stations are dropped before they are looked at.
frames_of_another_link() {
	local addresses
	frames from0
	addresses=${frames[0]:0:24}
	frames from2
	frames=("${frames[@]#????????????????????????}")
	dropped crc_errors "${frames[@]/#/$addresses}"
}

# --- what the manager hears ---------------------------------------------------------------------

seal() { ask status --node 1,0 --json | jq -r '"\(.seal.refused) \(.seal.late)"'; }
says() { "$B/tests/netns/nictool" "$run/0.0/nic.sock" mgmt 0 "$@"; }
# counted REFUSED LATE DATA...: the NIC of node 0,0 sends DATA, and the manager of 1,0 counts
# REFUSED packets more as refused, and LATE more as late
counted() {
	local refused late
	read -r refused late < <(seal)
	if ! says "${@:3}" || ! until_true 10 seal_is "$((refused + $1)) $((late + $2))"; then
		echo "was $refused $late, is $(seal)"
		return 1
	fi
}
seal_is() { [[ $(seal) == "$1" ]]; }
again() { data from0 && counted 0 "${#data[@]}" "${data[@]}"; }
of_a_former_session() { data before && counted 0 "${#data[@]}" "${data[@]}"; }
# A message with one bit of each byte changed is refused; bytes 8 to 11 are the session.
altered() {
	local all=() d
	d=$(message from0)
	for ((i = 0; i < ${#d}; i += 2)); do
		all+=("0x${d:0:i}$(printf %02x $((0x${d:i:2} ^ 1 << i / 2 % 8)))${d:i + 2}")
	done
	counted $((${#all[@]} - 4)) 4 "${all[@]}"
}
shortened() {
	local d
	d=$(message from0)
	counted 3 0 "0x${d:0:${#d}-2}" "0x${d:0:104}" "0x${d:0:2}"
}
# A message of node 2 from the other cable is refused, also with the session of this link.
of_another_link() {
	local d own
	d=$(message from2) own=$(message from0)
	counted 1 1 "0x$d" "0x${d:0:16}${own:16:8}${d:24}"
}
# A message that the manager has sent itself comes back, and is refused.
its_own() { counted 1 0 "0x$(message from1)"; }
told() {
	is_of_node '.problems | any(.kind == "seal" and (.text | test("^port .x of node 1,0: .*without the seal")))'
}
# Each event is 10 s or more after the one before, however many packets come; 100 ms are left to the
# clocks: of day for the event, monotonic for the limit.
seldom() {
	ask status --node 1,0 --json | jq .seal
	ask events --kind seal --json | jq -e 'map(select(.node == [1,0]) | .time) as $t | ($t | length) > 0 and
		all(range(1; $t | length); $t[.] - $t[. - 1] > 9.9)'
}
is_of_node() { [[ $(ask status --node 1,0 --json | jq "$1") == true ]]; }
works() { lab exec 0,0 -- ping -q -c 3 n1-0 && all_came_once && verified && unchanged; }

check "a lab is up" lab up 3x1 "${patience[@]}" || exit $failed
check "messages between managers are recorded, of two sessions" recorded || exit $failed
fabric >"$tmp/fabric"
check "replayed frames are duplicates" frames_again
check "frames with a wrong bit are dropped" frames_altered
check "frames of another link are dropped" frames_of_another_link
check "nothing has changed, and the links are in the same session" unchanged
check "replayed packets of this session are late" again
check "replayed packets of an earlier session are late" of_a_former_session
check "packets with a wrong bit are refused" altered
check "shortened packets are refused" shortened
check "packets of another link are refused, even of this session" of_another_link
check "a manager's own packets are refused if they are sent back" its_own
check "nothing has changed: rows, places, connections, sessions, the table" unchanged
check "the refused packets are reported to the administrator" told
check "refused packets are reported at most every 10 s" seldom
check "traffic goes on, and no packet was lost or duplicated" works
check "the lab ends" lab down
done_testing
