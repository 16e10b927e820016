#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# promtool of Debian's prometheus judges the alerts, their tests, and the text that fabricctl
# prints; and the real Prometheus, which reads the fabricweb of each of 64 nodes of a lab, raises the
# alerts of a cable that is cut, and of a fabricweb that ends.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=alerts$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"

# Takes the programs out of Debian's package, and installs nothing: it would start a service.
programs() {
	[[ -x $tmp/prometheus/usr/bin/promtool ]] && return
	(
		cd "$tmp" && flock 9 && apt-get -q update && apt-get -q download prometheus
	) 9>/run/lock/torus-tests.lock </dev/null && dpkg -x "$tmp"/prometheus_*.deb "$tmp/prometheus"
}
promtool() { "$tmp/prometheus/usr/bin/promtool" "$@"; }

rules() {
	cp "$TOP/tools/metrics/torus.rules.yml" "$TOP/tests/alerts/torus.rules_test.yml" "$tmp" &&
		promtool check rules "$tmp/torus.rules.yml" && promtool test rules "$tmp/torus.rules_test.yml"
}
# A rule that raises nothing is found by the tests.
tests_can_fail() {
	sed -i 's/torus_link_worn == 1/torus_link_worn == 2/' "$tmp/torus.rules.yml"
	! promtool test rules "$tmp/torus.rules_test.yml" >"$tmp/said" 2>&1 && grep TorusMarginFalls "$tmp/said"
}

up() { "$bin/fabricctl" lab up 4x4x4 --name "$lab" --packed --web --json >"$tmp/up" && until_true 20 is .state running; }
lint() {
	local n
	for n in 0,0,0 1,1,3; do "$bin/fabricctl" metrics --lab "$lab" --node "$n" | promtool check metrics || return 1; done
}

cleanup() {
	[[ -z ${prometheus-} ]] || kill "$prometheus" 2>/dev/null
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
}
scraped() {
	cat >"$tmp/prometheus.yml" <<-END
		global: {scrape_interval: 2s, evaluation_interval: 1s}
		rule_files: [$tmp/fast.rules.yml]
		scrape_configs:
		  - job_name: torus
		    static_configs: [{targets: $(jq -c '[.web[] | sub("http://"; "") | rtrimstr("/")]' "$tmp/up")}]
	END
	sed 's/for: .*/for: 1s/' "$TOP/tools/metrics/torus.rules.yml" >"$tmp/fast.rules.yml"
	"$tmp/prometheus/usr/bin/prometheus" --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
		--web.listen-address=127.0.0.1:19118 >"$tmp/prometheus.log" 2>&1 &
	prometheus=$!
	until_true 30 samples 'count(torus_node_info)' 64 && until_true 30 samples 'sum(torus_link_up)' 384
}
get() { python3 -c 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1], timeout=5).read().decode())' "http://127.0.0.1:19118$1"; }
samples() { [[ $(get "/api/v1/query?query=$1" | jq -r '.data.result[0].value[1]') == "$2" ]]; }
fires() { get /api/v1/alerts | jq -e --arg name "$1" --arg node "$2" \
	'any(.data.alerts[]; .labels.alertname == $name and .labels.node == $node and .state == "firing")'; }
quiet() { get /api/v1/alerts | jq -e '[.data.alerts[] | select(.labels.severity != "info")] == []'; }
alerted() {
	until_true 30 quiet && lab cut 0,0,0:+x && until_true 30 fires TorusLinkDown 0,0,0 &&
		until_true 30 fires TorusLinkDown 1,0,0 && ! fires TorusLinkDown 1,1,0 && lab mend 0,0,0:+x && until_true 30 quiet
}
gone() {
	kill "$(cut -d' ' -f1 "/run/torus/$lab/3.3.3/fabricweb.pid")" && until_true 30 fires TorusMetricsGone 3,3,3 &&
		! fires TorusMetricsGone 0,0,0
}

check "the programs of Debian's prometheus are there" programs
check "promtool accepts the alerts, and their tests pass" rules
check "the tests of alerts fail if an alert is wrong" tests_can_fail
check "a lab, fabricweb and Prometheus start" up
check "promtool has no complaint of the text" lint
check "Prometheus reads every node" scraped
check "a cable that is cut is an alert at both ends, until it is mended" alerted
check "a fabricweb that ends is an alert" gone
cleanup
done_testing
