# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Runs commands that report tests as lines "ok - NAME" and "not ok - NAME" (TAP,
# with or without numbers), prints one line for each with its duration, and
# keeps count. Sourced by tests/run.
#
# A command that reports nothing is itself one test, by its exit status. One
# that fails without having reported a failure adds a failed test, and so does one
# that reports fewer tests than its plan ("1..N") promised.
#
# The caller sets: stage, logs (a directory), replay (words to put before a
# command to run it by hand).

passed=0
failed=0
skipped=0
failures=()

heading() {
	printf '\n== %s\n' "$*"
}

# seconds since the epoch, microseconds as digits; bash has no fractions
now_us() {
	printf '%s' "${EPOCHREALTIME/[.,]/}"
}

# result ok|not MICROSECONDS NAME
result() {
	local verdict=ok
	if [[ $1 == ok ]]; then
		passed=$((passed + 1))
	else
		verdict='not ok'
		failed=$((failed + 1))
		failures+=("$stage: $3")
	fi
	printf '%-6s - %s (%d.%02d s)\n' "$verdict" "$3" $(($2 / 1000000)) $(($2 / 10000 % 100))
}

# explain LOG REPLAY...: what a reader of a failure needs
explain() {
	local log=$1
	shift
	sed 's/^/    | /' < <(tail -n "${TAIL:-40}" "$log")
	printf '    log: %s\n    replay: %s\n' "$log" "$*"
}

# tap_line LINE: a test line or not; sets tap_ok and tap_name
tap_line() {
	[[ $1 =~ ^(not\ )?ok([[:space:]]+[0-9]+)?([[:space:]]+-)?[[:space:]]+(.+)$ ]] || return 1
	tap_ok=ok
	[[ -n ${BASH_REMATCH[1]} ]] && tap_ok=not
	tap_name=${BASH_REMATCH[4]}
	return 0
}

# take LABEL LINE: count a test line of a running command
take() {
	local t
	[[ $2 =~ ^1\.\.([0-9]+)$ ]] && planned=$((planned + BASH_REMATCH[1]))
	tap_line "$2" || return 0
	t=$(now_us)
	if [[ $tap_name =~ \#\ ?(SKIP|skip) ]]; then
		skipped=$((skipped + 1))
		printf 'skip   - %s: %s\n' "$1" "$tap_name"
	else
		result "$tap_ok" $((t - mark)) "$1: $tap_name"
		[[ $tap_ok == ok ]] || bad=$((bad + 1))
	fi
	seen=$((seen + 1))
	mark=$t
}

# follow PID LABEL FD: read a growing log until its writer has ended
follow() {
	local line part='' alive=1
	while :; do
		kill -0 "$1" 2>/dev/null || alive=0
		while IFS= read -r -u "$3" line; do
			take "$2" "$part$line"
			part=''
		done
		part+=$line
		((alive)) || break
		sleep 0.05
	done
	[[ -z $part ]] || take "$2" "$part"
}

# run_tap LIMIT_S LABEL COMMAND...
# Only the command's end is waited for, so that a daemon it left behind with our
# output open cannot hang us.
run_tap() {
	local limit=$1 label=$2 log pid rc=0 start mark seen=0 bad=0 planned=0
	shift 2
	log=$logs/$(tr -c 'A-Za-z0-9._\n' '-' <<<"$stage-$label").log
	: >"$log"
	start=$(now_us)
	mark=$start
	timeout -k 10 "$limit" "$@" </dev/null >"$log" 2>&1 &
	pid=$!
	exec 9<"$log"
	follow "$pid" "$label" 9
	exec 9<&-
	wait "$pid" || rc=$?
	if ((rc == 124 || rc == 137)); then
		result not $(($(now_us) - mark)) "$label: ended by the limit of $limit s"
	elif ((rc != 0 && bad == 0)); then
		result not $(($(now_us) - mark)) "$label: exit status $rc"
	elif ((seen < planned)); then
		result not 0 "$label: reported $seen of $planned tests"
		bad=1
	elif ((seen == 0)); then
		result ok $(($(now_us) - start)) "$label"
	else
		((bad)) || return 0
	fi
	((rc != 0 || bad != 0)) || return 0
	explain "$log" "$(printf '%q ' "${replay[@]}" "$@")"
}

# run_pool N: run_tap for each line LIMIT_S <tab> LABEL <tab> COMMAND of standard input,
# N at a time. Of several at once, each one's output appears whole when it has ended.
# Sets count to the number of lines.
run_pool() {
	local room=$1 limit label command pool running=0
	pool=$(mktemp -d)
	mkfifo "$pool/ended"
	exec 7<>"$pool/ended"
	count=0
	while IFS=$'\t' read -r limit label command; do
		count=$((count + 1))
		if ((room == 1)); then
			# shellcheck disable=SC2086 # the command is words without quotes
			run_tap "$limit" "$label" $command
			continue
		fi
		((running < room)) || reap
		in_pool "$count" "$limit" "$label" "$command" </dev/null &
		running=$((running + 1))
	done
	while ((running)); do reap; done
	exec 7>&-
	rm -rf "$pool"
}

# in_pool N LIMIT LABEL COMMAND: in a process of its own, with counts of its own
in_pool() {
	passed=0 failed=0 skipped=0 failures=()
	# shellcheck disable=SC2086 # the command is words without quotes
	run_tap "$2" "$3" $4 >"$pool/$1.out" 7>&-
	{
		echo "$passed $failed $skipped"
		((!failed)) || printf '%s\n' "${failures[@]}"
	} >"$pool/$1.counts"
	echo "$1" >&7
}

# reap: waits for one of the pool to end, shows what it printed, and adds it up
reap() {
	local n p f s names
	read -r -u 7 n
	cat "$pool/$n.out"
	{
		read -r p f s
		mapfile -t names
	} <"$pool/$n.counts"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	failures+=("${names[@]}")
	running=$((running - 1))
}
