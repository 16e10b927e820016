#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Alerts and dashboard use only metrics that exist, and each alert has a test that raises it. The
# tests themselves need promtool: tests/run --alerts.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

rules=tools/metrics/torus.rules.yml tests=tests/alerts/torus.rules_test.yml
dashboard=tools/metrics/torus.dashboard.json
names() { tests/static/alerts.py doc/METRICS.md "${1:-$rules}" "${2:-$tests}" "${3:-$dashboard}"; }

# finds TEXT ARGUMENT...: the check fails and says that
finds() {
	local text=$1
	shift
	! names "$@" >"$tmp/said" && grep -F "$text" "$tmp/said"
}
finds_all() {
	sed 's/torus_link_worn/torus_link_torn/' "$rules" >"$tmp/rules" &&
		finds 'TorusMarginFalls: there is no torus_link_torn' "$tmp/rules" || return 1
	sed 's/alertname: TorusStall/alertname: TorusNoRoot/' "$tests" >"$tmp/tests" &&
		finds 'TorusStall: no test raises it' '' "$tmp/tests" || return 1
	sed 's/torus_fabric_links_up/torus_fabric_links_down/' "$dashboard" >"$tmp/dashboard" &&
		finds 'Cables up: there is no torus_fabric_links_down' '' '' "$tmp/dashboard" || return 1
	sed 's/duration_seconds_bucket/duration_seconds_buckets/' "$dashboard" >"$tmp/dashboard" &&
		finds 'there is no torus_fabric_recovery_duration_seconds_buckets' '' '' "$tmp/dashboard"
}

check "alerts and dashboard use metrics that exist, and alerts have tests" names
check "unknown metrics and alerts without tests are found" finds_all
done_testing
