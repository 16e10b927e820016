#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes of a lab are replaced by others under traffic: other GUIDs and empty disks, the same
# places, cables and addresses. Traffic of others loses nothing, also if the root is replaced.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=rp$$

# shellcheck disable=SC2317
explain() { "$B/fabricctl" status --lab "$lab"; "$B/fabricctl" nodes --lab "$lab"; }

running() { is .state running && is '.problems | length' 0; }
up() { lab up "$@" "${patience[@]}" && until_true 20 running; }
# of NODE FIELD: what nodes shows
of() { ask nodes --json | jq -r --argjson at "[$1]" ".[] | select(.node == \$at) | .$2"; }

# replaced NODE NAME [OPTION...]: under traffic; NAME is its name then
replaced() {
	local node=$1 name=$2 before pid rc=0
	shift 2
	before=$(of "$node" guid)
	"$bin/fabricctl" lab traffic --name "$lab" -s 4 --rate 1000 0,1 1,0 >"$tmp/traffic" 2>&1 &
	pid=$!
	sleep 1
	lab replace --timeout $((30 * slow)) "$@" "$node" && until_true 20 running && verified || rc=1
	wait "$pid" || rc=1
	cat "$tmp/traffic"
	[[ $rc == 0 && $(of "$node" guid) != "$before" && $(of "$node" name) == "$name" ]] &&
		is .nodes.up 6 && is .last_recovery.lost 0
}

twice() {
	replaced 1,1 n1-1 && replaced 1,1 spare.7 --as spare.7
}

pings() { lab exec 0,1 -- ping -q -c 1 -W 30 n1-1 && lab exec 1,1 -- ping -q -c 1 -W 30 n0-1; }

refusals() {
	exits 2 '9,9' lab replace 9,9 &&
		exits 2 "--as 'a b'" lab replace 1,1 --as 'a b' &&
		exits 2 "--as ''" lab replace 1,1 --as '' && running
}

packed() {
	local before
	up 3x2 --packed && before=$(of 1,1 guid) && lab replace 1,1 --as other && until_true 20 running &&
		[[ $(of 1,1 guid) != "$before" && $(of 1,1 name) == other ]] && lab down
}

bare() {
	lab up 2 --bare && exits 2 'there is none to replace' lab replace 1 &&
		[[ ! -e /run/torus/$lab/1/fabricd.pid ]] && lab down
}

check "six nodes are up" up 3x2 || exit 1
check "a node is replaced by one of the same name, and this by one of another" twice
check "it has the addresses of the place" pings
check "the root is replaced" replaced 0,0 first --as first
check "the root is replaced by one of the same name" replaced 0,0 first
check "wrong arguments change nothing" refusals
check "lab down" lab down
check "a packed node is replaced" packed
check "a node of a bare lab is refused" bare
done_testing
