#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Three members of etcd are the arbiter of a lab. They are in a namespace of their own, which has a
# cable to each node. The leader of etcd fails together with the root, then all of etcd.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=etcd$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
# shellcheck source=tests/arbiter/packages.sh
. "$TOP/tests/arbiter/packages.sh"
need etcd-server
run=/run/torus/$lab
net=198.51.100
declare -A member

cleanup() {
	((!${#member[@]})) || { kill -KILL "${member[@]}"; wait "${member[@]}"; } 2>/dev/null
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	ip netns del "$lab-etcd" 2>/dev/null
}
explain() { tail -n 5 "$tmp"/etcd?.log; "$B/fabricctl" root --lab "$lab" --node 1,1; }

seen() { "$TOP/tests/netns/ask" "$run/1.1/control" status | jq -r "$1"; }
root() { seen '.data.root.node | map(tostring) | join(",")'; }
runs() { [[ $(seen '.data | .root.reachable and .state == "running" and .nodes.up == 6') == true ]]; }
led_by_other() { [[ $(seen '.data.root.reachable') == true && $(root) != "$1" ]]; }
granted() { [[ $(seen .data.root.arbiter.answer) == granted ]]; }
problem() { seen '.data.problems[] | select(.kind == "arbiter") | .text' | grep "$1"; }
nothing_wrong() { ! problem ''; }

# post MEMBER PATH JSON
post() {
	ip netns exec "$lab-etcd" python3 -c 'import sys, urllib.request as r
print(r.urlopen(r.Request(sys.argv[1], sys.argv[2].encode()), timeout=3).read().decode())' \
		"http://$net.$1:2379$2" "$3" 2>/dev/null
}
leader() {
	local k
	for k in "${!member[@]}"; do
		post "$k" /v3/maintenance/status '{}' | jq -e '.leader and .leader == .header.member_id' >/dev/null &&
			echo "$k" && return
	done
	return 1
}
stored() {
	post "$1" /v3/kv/range "{\"key\": \"$(printf 'torus/%s/root' "$lab" | base64 -w 0)\"}" |
		jq -r '.kvs[0].value | @base64d'
}

start_member() {
	local k=$1 all="1=http://$net.1:2380,2=http://$net.2:2380,3=http://$net.3:2380"
	ip netns exec "$lab-etcd" etcd --name "$k" --data-dir "$tmp/etcd$k" --initial-cluster "$all" \
		--listen-client-urls "http://$net.$k:2379" --advertise-client-urls "http://$net.$k:2379" \
		--listen-peer-urls "http://$net.$k:2380" --initial-advertise-peer-urls "http://$net.$k:2380" \
		>>"$tmp/etcd$k.log" 2>&1 &
	member[$k]=$!
}
end_member() {
	kill -KILL "${member[$1]}"
	wait "${member[$1]}" 2>/dev/null
	unset "member[$1]"
}
etcd_up() {
	local k
	ip netns add "$lab-etcd" && ip -n "$lab-etcd" link set lo up &&
		ip -n "$lab-etcd" link add members type bridge && ip -n "$lab-etcd" link set members up || return 1
	for k in 1 2 3; do
		ip -n "$lab-etcd" address add "$net.$k/24" dev members || return 1
		start_member $k
	done
	until_true 20 leader
}
# Each node gets an interface to the members.
cables() {
	local n k=10
	for n in "$run"/?.?; do
		k=$((k + 1))
		n=$lab-${n##*/}
		ip -n "$lab-etcd" link add "n$k" type veth peer name site netns "$n" &&
			ip -n "$lab-etcd" link set "n$k" master members up && ip -n "$n" address add "$net.$k/24" dev site &&
			ip -n "$n" link set site up || return 1
	done
}

# taken_over OLD: another root leads, $new
taken_over() {
	local begin=${EPOCHREALTIME/./}
	until_true 15 led_by_other "$1" || return 1
	new=$(root)
	echo "root $1, then $new after $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
}
both_fail() {
	local old first begin
	old=$(root)
	first=$(leader) || return 1
	begin=${EPOCHREALTIME/./}
	end_member "$first"
	lab kill --power "$old" >/dev/null && taken_over "$old" && until_true 15 granted &&
		until_true 15 nothing_wrong || return 1
	echo "etcd without its leader, member $first; granted after $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
	first=$(leader) && stored "$first" && [[ $(stored "$first") =~ ^[0-9]+\ [0-9a-f]{16}$ ]] || return 1
	lab revive "$old" >/dev/null && until_true 20 runs
}
all_stop() {
	local old k
	old=$(root)
	for k in "${!member[@]}"; do end_member "$k"; done
	lab kill --power "$old" >/dev/null && taken_over "$old" &&
		until_true 10 problem 'gives no answer: http://.*: no connection; this node leads' &&
		problem '' && ! granted
}
all_back() {
	local k
	for k in 1 2 3; do start_member $k; done
	until_true 30 granted && until_true 10 nothing_wrong && stored 1
}

cat >"$tmp/arbiter" <<END
#!/bin/sh
TORUS_ARBITER_ENDPOINTS='http://$net.1:2379 http://$net.2:2379 http://$net.3:2379' exec $B/torus-arbiter-etcd "\$@"
END
chmod 755 "$tmp/arbiter"
echo "arbiter = $tmp/arbiter" >"$tmp/conf"
check "three members of etcd start" etcd_up
check "a lab with an arbiter comes up" lab up 3x2 --config "$tmp/conf"
check "all nodes are up" until_true 10 runs
check "each node reaches etcd" cables
check "a new root is granted if etcd's leader and the root lose power at once" both_fail
check "without etcd the majority decides, and the problem is reported" all_stop
check "claims are granted when etcd is back" all_back
check "every path is right" verified
check "the lab ends" lab down
done_testing
