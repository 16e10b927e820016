#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# Hooks. Each event is the standard input of a program; one that hangs is killed with all that it
# started, also if that left its session; one that fails is reported; a limited number runs at once.
# The hook for Slurm drains nodes, and resumes them.
# Then the recipe of fabricctl(8): an MPI job writes checkpoints, a node under it dies, a hook
# informs the batch system, and the job is begun again from its checkpoint with a spare node.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=hook$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"

hook=
# hooks OPTION...: run the program $tmp/hook for events after those that there are
hooks() { hooks_now --since "$(last_event)" "$@"; }
# hooks_now OPTION...: ... for events from now on, a moment later
hooks_now() {
	[[ -z $hook ]] || kill "$hook" 2>/dev/null	# of a test that failed
	"$B/fabricctl" events --follow --exec "$tmp/hook" --lab "$lab" "$@" 2>"$tmp/said" &
	hook=$!
	until_true 5 follows
}
# The number that the asked manager gave its last event: that of the root may be another.
last_event() { "$B/fabricctl" events --local --json --lab "$lab" | jq '.[-1].seq'; }
# Succeeds once the command has reported that it waits for events, and waits.
follows() { grep -q 'S (sleeping)' "/proc/$hook/status" && find "/proc/$hook/fd" -lname "socket:*" | grep -q .; }
no_hooks() {
	kill "$hook" && wait "$hook"
	[[ $? == 143 ]]
}
# A new file each time: one that still runs cannot be written to.
program() { cat >"$tmp/hook.new" && chmod 755 "$tmp/hook.new" && mv "$tmp/hook.new" "$tmp/hook"; }
# Two events, of kind admin.
happens() { "$B/fabricctl" link down 0,0:+x --lab "$lab" && "$B/fabricctl" link up 0,0:+x --lab "$lab"; }
running() { pgrep -f "$tmp/$1" >/dev/null; }
not_running() { ! running "$1"; }
lines() { (($(wc -l <"$tmp/$1") >= $2)); }

gets_events() {
	program <<-EOF
	#!/bin/sh
	cat >>"$tmp/got"
	EOF
	: >"$tmp/got"
	hooks && happens && until_true 10 grep -q '"kind":"admin"' "$tmp/got" || return 1
	no_hooks && jq -es 'length > 0 and all(.[]; .seq > 0 and (.node | type) == "array" and .time > 1600000000)' \
		"$tmp/got" && [[ ! -s $tmp/said ]]
}

# Events of before the command began run no hook.
from_now() {
	local last
	program <<-EOF
	#!/bin/sh
	cat >>"$tmp/now"
	EOF
	: >"$tmp/now"
	last=$(last_event)
	hooks_now && until_true 10 happens_now && no_hooks && jq -es "all(.[]; .seq > $last)" "$tmp/now"
}
happens_now() { happens && until_true 1 test -s "$tmp/now"; }

# The manager ends while a hook runs and others wait, and begins anew: all of them end, and its events
# follow, each once.
manager_begins_anew() {
	program <<-EOF
	#!/bin/sh
	cat >>"$tmp/begun"
	while [ ! -e "$tmp/go" ]; do sleep 0.05; done
	echo end >>"$tmp/ended"
	EOF
	: >"$tmp/begun"
	: >"$tmp/ended"
	rm -f "$tmp/go"
	hooks --exec-at-once 1 && happens && until_true 10 lines begun 1 &&
		lab kill 0,0 --manager && until_true 10 grep -q 'no answer from' "$tmp/said" || return 1
	touch "$tmp/go"
	until_true 10 lines ended 2 || return 1
	lab revive 0,0 && until_true 10 grep -q 'the manager is back' "$tmp/said" && happens || return 1
	until_true 10 begun_again && no_hooks &&
		jq -es 'length == (unique_by([.seq, .time]) | length)' "$tmp/begun"
}
# The second of two managers is told of by numbers that are low again.
begun_again() {
	jq -es '[.[] | select(.kind == "admin")] | length >= 4 and (map(.seq) != (map(.seq) | sort))' "$tmp/begun"
}

# A hook hangs, and so do a child of it, one in a session of its own, and one whose parent has
# ended.
hangs() {
	cp /bin/sleep "$tmp/hanging"
	program <<-EOF
	#!/bin/sh
	"$tmp/hanging" 1000 &
	setsid "$tmp/hanging" 1000 &
	(setsid "$tmp/hanging" 1000 &)
	exec "$tmp/hanging" 1000
	EOF
	hooks --exec-seconds 1 --exec-at-once 1 && happens && until_true 10 running hanging &&
		until_true 20 grep -q "hook $tmp/hook: killed after 1 s, for event [0-9]" "$tmp/said" || return 1
	no_hooks
	until_true 10 not_running hanging
}

# A hook ends, and leaves a process behind.
leaves() {
	cp /bin/sleep "$tmp/left"
	program <<-EOF
	#!/bin/sh
	(setsid "$tmp/left" 1000 >/dev/null 2>&1 &)
	echo done >>"$tmp/ended"
	EOF
	: >"$tmp/ended"
	hooks && happens && until_true 10 lines ended 2 && until_true 10 not_running left && no_hooks && [[ ! -s $tmp/said ]]
}

fails() {
	program <<-EOF
	#!/bin/sh
	echo run >>"$tmp/runs"
	mkdir "$tmp/first" 2>/dev/null && exit 7
	kill -9 \$\$
	EOF
	: >"$tmp/runs"
	hooks && happens && until_true 10 lines runs 2 &&
		until_true 10 grep -q 'exit status 7, for event [0-9]' "$tmp/said" &&
		until_true 10 grep -q 'killed by signal 9, for event [0-9]' "$tmp/said" && kill -0 "$hook" && no_hooks
}

# All that run are ended with the command.
ends_with_it() {
	cp /bin/sleep "$tmp/ending"
	program <<-EOF
	#!/bin/sh
	exec "$tmp/ending" 1000
	EOF
	hooks && happens && until_true 10 running ending || return 1
	kill -9 "$hook"
	wait "$hook" 2>/dev/null
	until_true 10 not_running ending
}

# If many events come at once, as many hooks run as may.
at_once() {
	program <<-EOF
	#!/bin/sh
	echo run >>"$tmp/runs"
	while [ ! -e "$tmp/go" ]; do sleep 0.05; done
	EOF
	: >"$tmp/runs"
	rm -f "$tmp/go"
	hooks --exec-at-once 2 && happens && happens && until_true 10 lines runs 2 && rest 0.5 &&
		[[ $(wc -l <"$tmp/runs") == 2 ]] || return 1
	touch "$tmp/go"
	until_true 10 lines runs 4 && no_hooks
}

# --- Slurm ------------------------------------------------------------------------------

# A Slurm of two commands. sinfo prints a line for each partition and node, with the reason why it is drained.
slurm() {
	mkdir -p "$tmp/slurm"
	printf 'n%s none\n' 0-0 0-1 1-1 2-0 2-1 3-0 3-1 >"$tmp/drained"
	printf '%s\n' 'n1-0 not by the fabric' 'other none' >>"$tmp/drained"
	printf '#!/bin/sh\nsed p "%s"\n' "$tmp/drained" >"$tmp/slurm/sinfo"
	cat >"$tmp/slurm/scontrol" <<-EOF
	#!/bin/sh
	echo "\$*" >>"$tmp/orders"
	why=\${4:-Reason=none}
	sed -i "s/^\${2#NodeName=} .*/\${2#NodeName=} \${why#Reason=}/" "$tmp/drained"
	EOF
	chmod 755 "$tmp/slurm"/*
	program <<-EOF
	#!/bin/sh
	export PATH="$tmp/slurm:$B:\$PATH" TORUS_LAB=$lab
	. "$TOP/tools/fabricctl/slurm-hook"
	EOF
}
node_has() { until_true 20 grep -qx "$1 $2" "$tmp/drained"; }
drains() {
	# Events about other nodes are the root's.
	slurm && "$B/fabricctl" root move 0,0 --lab "$lab" && hooks && lab kill 3,1 --power && node_has n3-1 'torus: dead' &&
		ask exclude 1,1 && node_has n1-1 'torus: excluded' && ask exclude 1,0 && ask include 1,1 && node_has n1-1 none &&
		ask include 1,0 && lab revive 3,1 && node_has n3-1 none && no_hooks || { cat "$tmp/drained" "$tmp/orders" "$tmp/said"; return 1; }
	diff - "$tmp/orders" <<-END && grep -qx 'n1-0 not by the fabric' "$tmp/drained"
		update NodeName=n3-1 State=DRAIN Reason=torus: dead
		update NodeName=n1-1 State=DRAIN Reason=torus: excluded
		update NodeName=n1-1 State=RESUME
		update NodeName=n3-1 State=RESUME
	END
}

# --- an MPI job -------------------------------------------------------------------------

# The batch system: begins the job with the nodes of a file; if it ends before it is done, or is
# killed, it is begun again as soon as a hook asks for it.
batch() {
	local tries
	for tries in 1 2 3; do
		"$B/fabricctl" lab exec --name "$lab" 0,0 -- mpirun --host "$(paste -sd, "$tmp/nodes")" \
			"$tmp/job" "$tmp/checkpoints" 300 >>"$tmp/out" 2>>"$tmp/err" </dev/null &
		echo $! >"$tmp/job.pid"
		wait $! && return 0
		say "try $tries ended"
		until_true 30 test -e "$tmp/again" || return 1
		rm "$tmp/again"
	done
	return 1
}
# Run alone it says the same sum.
sum_is() {
	mkdir -p "$tmp/whole"
	"$B/fabricctl" lab exec --name "$lab" 0,0 -- mpirun --host n0-0,n1-0,n3-0 "$tmp/job" "$tmp/whole" 300 \
		2>/dev/null | grep '^sum'
}
begins_again() {
	local job
	mpicc.openmpi -O2 -o "$tmp/job" "$TOP/tests/netns/hook_job.c" || return 1
	# Events about other nodes are the root's: while the manager of 0,0 was away, another one led.
	"$B/fabricctl" root move 0,0 --lab "$lab" || return 1
	printf '%s\n' n0-0 n1-0 n2-0 >"$tmp/nodes"
	echo n3-0 >"$tmp/spare"
	mkdir -p "$tmp/checkpoints"
	program <<-EOF
	#!/bin/sh
	node=\$(jq -r 'select(.kind == "node" and .level == "error") | .text' |
		sed -n "s/^node [0-9,]* ('\([^']*\)') is dead.*/\\1/p")
	[ -n "\$node" ] && grep -qx "\$node" "$tmp/nodes" || exit 0
	{ grep -vx "\$node" "$tmp/nodes"; head -n 1 "$tmp/spare"; } >"$tmp/nodes.new"
	mv "$tmp/nodes.new" "$tmp/nodes"
	: >"$tmp/spare"
	kill \$(cat "$tmp/job.pid") || :
	touch "$tmp/again"
	EOF
	hooks || return 1
	: >"$tmp/out"
	batch &
	job=$!
	until_true 30 test -e "$tmp/checkpoints/rank-2.1" && until_true 30 test -e "$tmp/checkpoints/rank-2.0" || { cat "$tmp/err"; return 1; }
	"$B/fabricctl" lab kill 2,0 --power --name "$lab" >/dev/null || return 1
	wait "$job" || { cat "$tmp/out" "$tmp/err" "$tmp/said"; ask events | tail -n 20; return 1; }
	no_hooks
	cat "$tmp/out"
	[[ $(sed -n 's/^begins at step //p' "$tmp/out" | head -n 1) == 0 ]] &&
		(($(sed -n 's/^begins at step //p' "$tmp/out" | tail -n 1) >= 10)) &&
		[[ $(xargs <"$tmp/nodes") == "n0-0 n1-0 n3-0" ]] && [[ $(grep '^sum' "$tmp/out") == "$(sum_is)" ]]
}

check "a lab comes up" lab up 4x2
check "a hook gets each event" gets_events
check "events from before start no hook" from_now
check "hooks outlive the manager and go on with the next one" manager_begins_anew
check "a hook that hangs is killed with its children" hangs
check "a hook that forks leaves nothing behind" leaves
check "a hook that fails is reported" fails
check "hooks end when the command ends" ends_with_it
check "no more hooks run at once than allowed" at_once
check "Slurm starts no jobs on dead and excluded nodes, until they are up" drains
if command -v mpicc.openmpi >/dev/null; then
	check "an MPI job goes on from its checkpoint on a spare node" begins_again
else
	skip "an MPI job goes on from its checkpoint on a spare node" "there is no mpicc.openmpi"
fi
check "the lab ends" lab down
done_testing
