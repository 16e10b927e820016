#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# The site has an arbiter, a script whose answer is a file: granted, refused, slow, nonsense or not
# there. Whatever it answers, the fabric runs on and reports it. Node 1,1 is asked for the reports,
# or node 0,1 while 1,1 is the root that ends.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=arb$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
run=/run/torus/$lab

observer=1,1
seen() { "$TOP/tests/netns/ask" "$run/${observer/,/.}/control" status | jq -r "$1"; }
observe_loss_of() { observer=1,1; [[ $1 != 1,1 ]] || observer=0,1; }
root() { seen '.data.root.node | map(tostring) | join(",")'; }
runs() { [[ $(seen '.data | .root.reachable and .state == "running" and .nodes.up == 6') == true ]]; }
led_by_other() { [[ $(seen '.data.root.reachable') == true && $(root) != "$1" ]]; }
arbiter() { [[ $(seen ".data.root.arbiter | $1") == "$2" ]]; }
problem() { seen '.data.problems[] | select(.kind == "arbiter") | .text' | grep "$1"; }
nothing_wrong() { ! problem ''; }

says() { printf '%s\n' "$1" >"$tmp/says.new" && mv "$tmp/says.new" "$tmp/says"; }
cat >"$tmp/arbiter" <<END
#!/bin/sh
echo "\$@ \$TORUS_FABRIC" >>$tmp/asked
. $tmp/says
END
chmod 755 "$tmp/arbiter"
says 'echo granted'

taken_over() {
	local old
	old=$(root)
	observe_loss_of "$old"
	lab kill --manager "$old" >/dev/null && until_true 10 led_by_other "$old" || return 1
	"$B/fabricctl" root --lab "$lab" --node "$observer"
	lab revive "$old" >/dev/null
}
granted() {
	[[ ! -e $tmp/asked ]] && taken_over && until_true 20 runs && nothing_wrong &&
		arbiter .answer granted && arbiter .program "$tmp/arbiter" &&
		[[ $(tail -n 1 "$tmp/asked") =~ ^claim\ [0-9]+\ [0-9a-f]{16}\ $lab$ ]]
}
# without WHY ANSWER: who takes over leads by majority, and is granted it later.
without() {
	says "$2"
	taken_over && until_true 5 problem "gives no answer: $1; this node leads" && until_true 5 arbiter .answer unknown || return 1
	says 'echo granted'
	until_true 20 nothing_wrong && until_true 20 runs
}
absent() {
	mv "$tmp/arbiter" "$tmp/away"
	taken_over && until_true 5 problem "$tmp/arbiter: No such file or directory; this node leads" || return 1
	mv "$tmp/away" "$tmp/arbiter"
	until_true 20 nothing_wrong && until_true 20 runs
}
refused() {
	local old
	says 'echo refused not quorate'
	old=$(root)
	observe_loss_of "$old"
	lab kill --manager "$old" >/dev/null
	# Each node tells its own problem as long as no root collects them.
	until_true 10 some_refused && ! led_by_other "$old" && says 'echo granted' &&
		until_true 20 led_by_other "$old" && lab revive "$old" >/dev/null
}
after_refusal() { until_true 20 runs && nothing_wrong; }
some_refused() {
	local n
	for n in "$run"/?.?; do
		"$TOP/tests/netns/ask" "$n/control" status 2>/dev/null | grep -q 'refuses to let this node lead: not quorate' && return
	done
	return 1
}

echo "arbiter = $tmp/arbiter" >"$tmp/conf"
check "a lab with an arbiter comes up" lab up 3x2 --config "$tmp/conf"
check "all nodes are up" until_true 10 runs
check "a new root leads once the arbiter grants it" granted
check "a root leads without a slow arbiter, and reports it" without 'no answer within 1000 ms' 'sleep 60'
check "a root leads without an arbiter that answers nonsense, and reports it" without "it answered 'who are you?'" 'echo who are you?'
check "a root leads without an arbiter that fails, and reports it" without 'it ended with status 3' 'echo granted; exit 3'
check "no node leads while the arbiter refuses" refused
check "the fabric is healthy after a refusal" after_refusal
check "a root leads without an arbiter that is missing, and reports it" absent
check "every path is right" verified
check "the lab ends" lab down
done_testing
