#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Each answer of "fabricctl --json" is as its JSON Schema says: of a fabric that is well, that has
# faults, and that has no root; and so are errors. A key that a schema does not name is an error here.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=schema$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
schemas=$TOP/tools/fabricctl/schema
asked=()

# judged SCHEMA COMMAND...: whether what the command prints is as the schema says. The exit status is
# that of the fabric; KEEP=DIR keeps the answers there.
judged() {
	local schema=$1 out=$tmp/answer
	shift
	[[ -z ${KEEP-} ]] || out=$(mktemp "$KEEP/$schema.XXXXXX")
	timeout 60 "$bin/fabricctl" "$@" </dev/null >"$out" 2>"$tmp/err"
	asked+=("$schema")
	[[ -n ${KEEP-} ]] || python3 "$TOP/tests/netns/schema.py" "$schemas" "$schema" "$out" ||
		{ say "fabricctl $*: $(head -c 2000 "$out") $(head -n 3 "$tmp/err")"; return 1; }
}
# of COMMAND ARGUMENT...: as judged, for a command that asks the lab
of() { judged "$1" "${@}" --json --lab "$lab"; }
of_lab() { judged "lab-$1" lab "$1" --json --name "$lab" "${@:2}"; }
of_link() { judged "link-$1" link "$1" --json --lab "$lab" "${@:2}"; }

questions() {
	local rc=0
	of status || rc=1
	of root || rc=1
	of nodes || rc=1
	of nodes 1,0 || rc=1
	of links || rc=1
	of links 1,1 || rc=1
	of links --bad || rc=1
	judged links-errors links --errors --json --lab "$lab" || rc=1
	of links --local --node 1,0 || rc=1
	of cabling || rc=1
	of cabling --plan || rc=1
	of inventory || rc=1
	of table || rc=1
	of counters || rc=1
	of counters --local --node 1,0 || rc=1
	of metrics || rc=1
	of metrics 1,0 || rc=1
	of routes 0,0 || rc=1
	of trace 0,0 1,1 || rc=1
	of verify || rc=1
	of park || rc=1
	of park --flows || rc=1
	of events || rc=1
	of events --local || rc=1
	of outages || rc=1
	of diff 1h || rc=1
	of report || rc=1
	of config || rc=1
	judged config-diff config --diff --json --lab "$lab" || rc=1
	of coord 1,0 || rc=1
	printf '0,2,10\n2,1,5\n' >"$tmp/map.csv"	# a node may be dead
	of map "$tmp/map.csv" || rc=1
	of map --improve "$tmp/map.csv" || rc=1
	of log || rc=1
	judged regions regions --json --rma "unix:/run/torus/$lab/0.0/rma.sock" || rc=1
	judged windows windows --json --rma "unix:/run/torus/$lab/0.0/rma.sock" || rc=1
	judged regions-waiting regions --waiting --json --rma "unix:/run/torus/$lab/0.0/rma.sock" || rc=1
	of_lab status || rc=1
	judged lab-list lab list --json || rc=1
	of_lab hosts || rc=1
	return $rc
}

# of_job VERB [ARG...]
of_job() { judged "job-$1" job "$1" "${@:2}" --json --lab "$lab"; }
jobs() {
	local rc=0 verb
	of_job list || rc=1
	of_job start j --nodes 2 || rc=1
	for verb in 'list' 'show j' 'hosts j' 'verify j' 'stop j'; do
		# shellcheck disable=SC2086
		of_job $verb || rc=1
	done
	return $rc
}

changes() {
	local rc=0
	"$bin/fabricctl" inventory --save "$tmp/inventory" --lab "$lab" &&
		jq '.nodes[0].guid = "00000000000000aa" | del(.nodes[1])' "$tmp/inventory" >"$tmp/former" || return 1
	judged inventory-diff inventory --diff "$tmp/former" --json --lab "$lab" || rc=1
	of_link retrain 0,0:+x || rc=1
	of_link retry 0,0:+x acknak || rc=1
	of_link eye 0,0:+x || rc=1
	of_link test 0,0:+x --count 50 || rc=1
	judged link-locate link locate 0,0:+x --json --lab "$lab" || rc=1
	judged link-module link module 0,0:+x --json --lab "$lab" || rc=1
	of_link down 0,0:+y || rc=1
	of_link up 0,0:+y || rc=1
	judged exclude-dry-run exclude --dry-run 0,0:+x --json --lab "$lab" || rc=1
	of exclude 0,0:+x --reason "ticket 4711" --for 1h || rc=1
	questions || rc=1
	of include 0,0:+x || rc=1
	of drain 0,0:+x || rc=1
	jobs || rc=1
	of include 0,0:+x || rc=1
	judged root-move root move 0,0 --json --lab "$lab" || rc=1
	judged park-replay park --replay 0,0 --json --lab "$lab" || rc=1
	of_lab traffic -s 0.3 0,0 1,1 || rc=1
	judged lab-up lab up 2 --bare --name "${lab}b" --json || rc=1
	"$bin/fabricctl" lab down --name "${lab}b" >/dev/null
	return $rc
}

# A cable that is cut, another that is bad, lanes that died, and a dead node.
faults() {
	local rc=0
	lab cut 0,0:+x >/dev/null && lab line 1,0:+y --length 100 --dead 3 >/dev/null && ctl link retrain 1,0:+y --lab "$lab" >/dev/null && lab ber 0,0:-y 1e-5 >/dev/null &&
		until_true 20 is '[.links.faulty, (.degraded_links | length > 0)] | join(" ")' "1 true" || return 1
	questions || rc=1
	lab mend 0,0:+x >/dev/null && until_true 20 is .links.faulty 0 || rc=1
	lab silence 0,1:+x on >/dev/null && until_true 20 is .links.faulty 1 || rc=1
	questions || rc=1
	lab silence 0,1:+x off >/dev/null && until_true 20 is .links.faulty 0 || rc=1
	flap && questions || rc=1
	"$bin/fabricctl" exclude 1,1 --lab "$lab" >/dev/null
	judged exclude-dry-run exclude --dry-run 0,0 --json --lab "$lab" || rc=1
	questions || rc=1
	lab kill 1,1 >/dev/null && until_true 20 is .nodes.up 3 || rc=1
	questions || rc=1
	lab revive 1,1 >/dev/null
	"$bin/fabricctl" include 1,1 --lab "$lab" >/dev/null
	until_true 20 is .nodes.up 4 || rc=1
	return $rc
}

# A cable that is lost again and again is held down. It must be up to be lost once more.
flap() {
	for _ in {1..20}; do
		lab cut 0,1:-x >/dev/null && until_true 20 is_not .links.faulty 0 && lab mend 0,1:-x >/dev/null || return 1
		until_true 20 back_or_held || return 1
		! held || return 0
	done
	return 1
}
is_not() { ! is "$@"; }
held() { is '.held_links | length' 1; }
back_or_held() { held || is .links.faulty 0; }

full() {
	judged full nodes --json=full --lab "$lab" && judged full status --json=full --lab "$lab"
}

errors() {
	judged error links 9,9 --json --lab "$lab" && judged error status --json --control /nope &&
		judged error coord nobody --json=full --lab "$lab" && judged error status --json --frob
}

# A node whose root is lost, and that has no majority, tells what it knows.
rootless() {
	lab kill --manager 0,0 >/dev/null && lab kill --manager 0,1 >/dev/null && lab kill --manager 1,1 >/dev/null || return 1
	until_true 20 unreached || return 1
	local rc=0 cmd
	for cmd in status root nodes links counters table "routes 1,0" park; do
		# shellcheck disable=SC2086
		of $cmd || rc=1
	done
	judged full nodes --json=full --lab "$lab" || rc=1
	return $rc
}
unreached() { "$bin/fabricctl" root --lab "$lab" --json | jq -e '.reachable == false'; }

devices() {
	printf '+x = lo\nsilence = 1s\n' >"$tmp/torus0.conf"
	judged device-check device check "$tmp/torus0.conf" --json || return 1
	"$bin/torusemu" --foreground --name w --ports 2 --no-tun --socket "$tmp/w.nic" >/dev/null 2>&1 &
	local pid=$! rc=0
	until_true 10 test -S "$tmp/w.nic" && TORUS_RUNDIR=$tmp judged device-list device list --json || rc=1
	kill "$pid"
	return $rc
}

# Each command with --json has a schema, which is one of an answer above.
complete() {
	local f name rc=0
	for f in $(grep -l '\.json = true' "$TOP"/tools/fabricctl/*.c); do
		name=$(basename "$f" .c)
		name=${name#cmd_}
		name=${name/_/-}
		[[ " ${asked[*]} " == *" $name "* && -e $schemas/$name.json ]] || { say "$name: no schema, or no answer"; rc=1; }
	done
	for f in "$schemas"/*.json; do
		name=$(basename "$f" .json)
		[[ $name == common || " ${asked[*]} " == *" $name "* ]] || { say "$name.json: no answer is judged by it"; rc=1; }
	done
	return $rc
}

# The judge sees what a schema does not name, and what is missing, of another type or another word.
strict() {
	local f=$tmp/broken
	"$bin/fabricctl" coord --json --lab "$lab" >"$f" || return 1
	wrong() { ! jq "$1" "$f" >"$f.json" || ! python3 "$TOP/tests/netns/schema.py" "$schemas" coord "$f.json"; }
	! wrong . && wrong '.more = 1' && wrong 'del(.id)' && wrong '.id = "0"' && wrong '.node = [1.5]' &&
		wrong '.shape = null' || return 1
	"$bin/fabricctl" log --json --lab "$lab" | jq '.level = "loud"' >"$f.json" || return 1
	! python3 "$TOP/tests/netns/schema.py" "$schemas" log "$f.json"
}

check "a lab of 2x2 comes up" lab up 2x2 "${patience[@]}"
check "answers about a healthy fabric meet their schemas" questions
check "answers about changes meet their schemas" changes
check "answers about faults meet their schemas" faults
check "answers in an envelope meet their schemas" full
check "errors meet their schema" errors
check "answers of this machine's NICs meet their schemas" devices
check "answers without a root meet their schemas" rootless
check "each command with --json has a schema" complete
check "keys that are new, missing or wrong are noticed" strict
done_testing
