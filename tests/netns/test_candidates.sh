#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Candidates for the root that are configured wrongly: status and the log of the root name them
# while it still leads.

lab=cand$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"

# configured LINE TEXT: a lab whose nodes all have LINE in their configuration says TEXT
configured() {
	echo "$1" >"$tmp/conf"
	lab up 2x2 --packed --config "$tmp/conf" || return 1
	until_true 10 named "$2" && grep -qF "$2" /run/torus/"$lab"/*/fabricd.log
}
# named TEXT: status says so, and its exit status tells of a problem
named() {
	local rc=0
	"$bin/fabricctl" status --lab "$lab" --json >"$tmp/status" || rc=$?
	((rc == 1)) && jq -e --arg text "$1" \
		'.problems | any(.kind == "candidate" and (.text | startswith($text)))' "$tmp/status"
}

check "two nodes with the same priority are named as a problem" configured 'root_priority = 9' \
	"'n0-0' and 'n1-0' (and 2 more) have the same root_priority 9"
check "the lab ends" lab down
# The configuration of all nodes says that none is a candidate: that is a wish, and no problem.
none_wanted() {
	echo 'root_priority = 0' >"$tmp/conf"
	lab up 2x2 --packed --config "$tmp/conf" && until_true 10 at_peace
}
at_peace() { "$bin/fabricctl" status --lab "$lab" --json | jq -e '.state == "running" and .problems == []'; }
check "a configuration without candidates is no problem" none_wanted
check "the lab without candidates ends" lab down
done_testing
