#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# fabricctl metrics in a lab: what it prints is read by the parsers of Prometheus, is what
# doc/METRICS.md lists, and is true: of a cable that is cut, of a recovery, of a takeover, of a NIC
# that does not answer.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=metrics$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"

metrics() { "$bin/fabricctl" metrics --lab "$lab" "$@"; }
# value NODE SAMPLE: its value, in the metrics of that node's own manager
value() { metrics --node "$1" | awk -v sample="$2" '$1 == sample { print $2 }'; }
# has NODE SAMPLE VALUE
has() {
	local found
	found=$(value "$1" "$2")
	[[ $found == "$3" ]] || { say "$1: $2 is '$found', not '$3'"; return 1; }
}

up() { lab up 3x2 && until_true 20 is .state running; }

parsers_read_it() {
	local n
	for n in 0,0 2,1; do
		metrics --node "$n" >"$tmp/plain" && metrics --node "$n" --openmetrics >"$tmp/open" &&
			"$TOP/tests/netns/metrics.py" parse "$tmp/plain" "$tmp/open" || return 1
	done
	# The same from another node, by way of the root
	metrics --node 2,1 1,0 | grep '^torus_node_info{node="1,0",name="n1-0",'
}
documented() { metrics --json | "$TOP/tests/netns/metrics.py" document "$TOP/doc/METRICS.md"; }

# Only the root's has the fabric.
whose_fabric() {
	has 0,0 torus_manager_is_root 1 && has 0,0 torus_fabric_nodes 6 && has 0,0 torus_fabric_links 12 &&
		(($(value 0,0 torus_fabric_recovery_duration_seconds_count) >= 1)) && has 0,0 torus_manager_became_root_total 1 &&
		has 1,1 torus_manager_is_root 0 && has 1,1 torus_fabric_nodes '' && has 1,1 torus_node_rows 6
}

same_as_counters() {
	lab exec 0,0 -- ping -c 3 -i 0.2 -W 2 n2-1 >/dev/null || return 1
	local n
	n=$(ask counters 0,0 --json | jq '.[0].host_messages_tx')
	((n >= 3)) && has 0,0 torus_node_host_messages_tx_total "$n"
}

cut_cable() {
	lab cut 0,0:+x >/dev/null && until_true 10 is .links.faulty 1 && until_true 10 is .state degraded || return 1
	has 0,0 'torus_link_up{port="+x"}' 0 && has 1,0 'torus_link_up{port="-x"}' 0 && has 0,0 'torus_link_up{port="-x"}' 1 &&
		has 0,0 'torus_link_excluded{port="+x"}' 0 && has 0,0 torus_fabric_links_up 11 && has 0,0 torus_fabric_links_faulty 1 &&
		(($(value 0,0 torus_fabric_recovery_duration_seconds_count) >= 2)) && has 0,0 torus_table_version "$(version)" &&
		metrics | grep -E '^torus_link_info\{port="\+x",.*state="faulty",reason="(carrier|silence|peer)"\} 1$' || return 1
	lab mend 0,0:+x >/dev/null && until_true 10 is .state running && has 0,0 'torus_link_up{port="+x"}' 1
}

# By order, not by a fault
excluded() {
	ask exclude 1,0:+x >/dev/null && has 1,0 'torus_link_excluded{port="+x"}' 1 && has 2,0 'torus_link_excluded{port="-x"}' 1 &&
		has 0,0 torus_fabric_links_excluded 1 && ask include 1,0:+x >/dev/null && has 1,0 'torus_link_excluded{port="+x"}' 0
}

files() {
	mkdir "$tmp/prom" && metrics --output "$tmp/prom/torus.prom" && [[ $(ls -A "$tmp/prom") == torus.prom ]] &&
		[[ $(stat -c %a "$tmp/prom/torus.prom") == 644 ]] && grep -c '^torus_link_up{' "$tmp/prom/torus.prom" || return 1
	# What is there stays if the new one cannot be written.
	cp "$tmp/prom/torus.prom" "$tmp/before"
	metrics --output "$tmp/none/torus.prom" 2>"$tmp/said"
	(($? == 2)) && grep "cannot write '$tmp/none/torus.prom': No such file" "$tmp/said" &&
		! metrics --lab nobody --output "$tmp/prom/torus.prom" 2>/dev/null && cmp "$tmp/prom/torus.prom" "$tmp/before"
}

# A NIC that does not answer: the manager's own figures come all the same.
nic_hangs() {
	local pid rc
	pid=$(cut -d' ' -f1 "/run/torus/$lab/2.1/torusemu.pid") && kill -STOP "$pid" || return 1
	until_true 10 has 2,1 torus_node_nic_answers 0 && has 2,1 'torus_link_up{port="+x"}' ''
	rc=$?
	kill -CONT "$pid"
	until_true 60 has 2,1 torus_node_nic_answers 1 && until_true 60 is .state running && return $rc
}

# The next root counts that it became one; the others answer meanwhile, without a root.
takeover() {
	lab kill --manager 0,0 >/dev/null && until_true 10 has 1,0 torus_manager_is_root 1 &&
		has 1,0 torus_manager_became_root_total 1 && has 1,0 torus_fabric_nodes 6 &&
		until_true 10 has 2,1 torus_root_epoch "$(value 1,0 torus_root_epoch)" && has 2,1 torus_manager_became_root_total 0
}

check "a lab comes up" up
check "the parsers of Prometheus read both formats" parsers_read_it
check "doc/METRICS.md lists exactly the metrics that are printed" documented
check "only the root has metrics of the whole fabric" whose_fabric
check "a metric equals the counter that 'counters' shows" same_as_counters
check "a cut cable and its recovery are counted" cut_cable
check "a cable that is excluded is shown at both ends" excluded
check "files are written as a whole, or not at all" files
check "the manager shows its own figures while the NIC hangs" nic_hangs
check "a new root counts that it became root" takeover
cleanup
done_testing
