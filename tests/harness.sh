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
# What each command took goes into $logs/times: STAGE <tab> LABEL <tab> WALL_MS <tab> CPU_MS,
# where CPU is of it and of those that it waited for: not of daemons it left to themselves.
#
# The caller sets: logs (a directory), replay (words to put before a command to run it
# by hand), in_turn, in_spare_time, fail_fast.

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

# cpu_of_children: sets cpu_ms to what the commands took that this shell has waited for
cpu_of_children() {
	local stat
	read -r -a stat <"/proc/$BASHPID/stat"
	cpu_ms=$(((stat[15] + stat[16]) * 10)) # in hundredths of a second
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

# pause SECONDS: until nobody has written to nothing. No process is made for it.
exec {nothing}<> <(:)
pause() {
	read -r -t "$1" -u "$nothing"
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
		pause 0.1
	done
	[[ -z $part ]] || take "$2" "$part"
}

# run_tap LIMIT_S LABEL COMMAND...
# Only the command's end is waited for, so that a daemon it left behind with our
# output open cannot hang us.
run_tap() {
	local limit=$1 label=$2 log pid rc=0 start mark seen=0 bad=0 planned=0 cpu_ms cpu_before
	shift 2
	cpu_of_children
	cpu_before=$cpu_ms
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
	cpu_of_children
	printf '%s\t%s\t%d\t%d\n' "$stage" "$label" $((($(now_us) - start) / 1000)) \
		$((cpu_ms - cpu_before)) >>"$logs/times"
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

# run_pool ROOM: run_tap for each line STAGE <tab> LIMIT_S <tab> LABEL <tab> COMMAND of standard
# input, in this order, ROOM at a time; beside them those of $in_turn (stages), which would be
# in each other's way, one at a time, and those of $in_spare_time, which only compute, ROOM
# at a time: they take what the others leave of the processors while they wait. If there is
# only one at a time at all, what it prints appears as it comes; else each one's appears
# whole when it has ended. With $fail_fast nothing is begun after a failure.
run_pool() {
	local room=$1 any=() turn=() spare=() line
	while IFS= read -r line; do
		case " $in_turn / $in_spare_time " in
		*" ${line%%$'\t'*} "*/*) turn+=("$line") ;;
		*/*" ${line%%$'\t'*} "*) spare+=("$line") ;;
		*) any+=("$line") ;;
		esac
	done
	if ((${#any[@]} + ${#spare[@]} == 0 || (room == 1 && ${#turn[@]} == 0))); then
		one_by_one < <(printf '%s\n' "${any[@]}" "${turn[@]}" "${spare[@]}")
	else
		at_once
	fi
}

one_by_one() {
	local limit label command shown=''
	while IFS=$'\t' read -r stage limit label command; do
		[[ $stage ]] || continue
		going_on || return
		show_stage "$stage"
		# shellcheck disable=SC2086 # the command is words without quotes
		run_tap "$limit" "$label" $command </dev/null
	done
}

at_once() {
	local pool shown=''
	local -A running=([any]=0 [turn]=0 [spare]=0) begun=([any]=0 [turn]=0 [spare]=0)
	pool=$(mktemp -d)
	mkfifo "$pool/ended"
	exec 7<>"$pool/ended"
	while :; do
		begin any "$room"
		begin turn 1
		begin spare "$room"
		((running[any] + running[turn] + running[spare])) || break
		reap
	done
	exec 7>&-
	rm -rf "$pool"
}

# begin QUEUE ROOM: of any, turn or spare those that there is room for
begin() {
	local -n lines=$1
	local n
	while n=${begun[$1]}; ((running[$1] < $2 && n < ${#lines[@]})) && going_on; do
		in_pool "$1-$n" "${lines[n]}" </dev/null &
		begun[$1]=$((n + 1))
		running[$1]=$((running[$1] + 1))
	done
}

going_on() { ((!fail_fast || !failed)); }

# show_stage STAGE: a heading, where another stage than before begins or goes on
show_stage() {
	[[ $1 == "$shown" ]] || heading "$1"
	shown=$1
}

# in_pool NAME LINE: in a process of its own, with counts of its own
in_pool() {
	local limit label command
	IFS=$'\t' read -r stage limit label command <<<"$2"
	passed=0 failed=0 skipped=0 failures=()
	[[ $1 != spare-* ]] || renice -n 10 "$BASHPID" >/dev/null
	# shellcheck disable=SC2086 # the command is words without quotes
	run_tap "$limit" "$label" $command >"$pool/$1.out" 7>&-
	{
		echo "$passed $failed $skipped $stage"
		((!failed)) || printf '%s\n' "${failures[@]}"
	} >"$pool/$1.counts"
	echo "$1" >&7
}

# reap: waits for one of the pool to end, shows what it printed, and adds it up
reap() {
	local name p f s of names
	read -r -u 7 name
	{
		read -r p f s of
		mapfile -t names
	} <"$pool/$name.counts"
	show_stage "$of"
	cat "$pool/$name.out"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	failures+=("${names[@]}")
	running[${name%-*}]=$((running[${name%-*}] - 1))
}
