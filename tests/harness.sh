# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Runs commands that report tests as lines "ok - NAME" and "not ok - NAME" (TAP,
# with or without numbers), prints one line for each with its duration, and
# keeps count. Sourced by tests/run.
#
# A test is skipped if its line is "ok - NAME # SKIP REASON", and not otherwise.
#
# A command must report as many tests as it plans ("1..N"; several plans add up), no fewer
# and no more: one that ended early has no plan, or another. One of $silent reports nothing
# and is itself one test, by its exit status. A command that fails without having reported a
# failure adds a failed test; so does one that a signal or the time limit has ended.
#
# What each command took goes into $logs/times: STAGE <tab> LABEL <tab> WALL_MS <tab> CPU_MS,
# where CPU is of it and of those that it waited for: not of daemons it left to themselves.
#
# The caller sets: logs (a directory), replay (words to put before a command to run it
# by hand), silent (first words of commands), in_turn, in_spare_time, fail_fast.

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
	sed "s,$PWD/,,g; s/^/    | /" < <(tail -n "${TAIL:-40}" "$log")
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
	if [[ $tap_ok == ok && $tap_name =~ ^.*[[:space:]]#\ SKIP([[:space:]]+(.*))?$ ]]; then
		skip "$1: $tap_name" "${BASH_REMATCH[2]}"
	else
		result "$tap_ok" $((t - mark)) "$1: $tap_name"
		[[ $tap_ok == ok ]] || bad=$((bad + 1))
	fi
	seen=$((seen + 1))
	mark=$t
}

# skip NAME REASON: without a reason it is a failure
skip() {
	if [[ $2 ]]; then
		skipped=$((skipped + 1))
		printf 'skip   - %s\n' "$1"
	else
		result not 0 "$1 (no reason)"
		bad=$((bad + 1))
	fi
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

# fault COMMAND: why the command that run_tap ran is a failure, beside what it has reported
fault() {
	if ((rc && took >= limit * 1000000)); then
		echo "ended by the limit of $limit s"
	elif ((rc > 128 && rc <= 192)); then
		echo "killed by SIG$(kill -l $((rc - 128)))"
	elif ((rc)); then
		((bad)) || echo "exit status $rc"
	elif [[ ! $planned ]]; then
		((!seen)) && [[ " $silent " == *" $1 "* ]] || echo "ended without a plan, after $seen tests"
	elif ((seen != planned || !seen)); then
		echo "reported $seen tests, planned $planned"
	fi
}

# run_tap LIMIT_S LABEL COMMAND...
# Only the command's end is waited for, so that a daemon it left behind with our
# output open cannot hang us.
run_tap() {
	local limit=$1 label=$2 log pid rc=0 start took mark seen=0 bad=0 planned='' why cpu_ms cpu_before
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
	took=$(($(now_us) - start))
	cpu_of_children
	printf '%s\t%s\t%d\t%d\n' "$stage" "$label" $((took / 1000)) $((cpu_ms - cpu_before)) \
		>>"$logs/times"
	why=$(fault "$1")
	if [[ $why ]]; then
		result not $(($(now_us) - mark)) "$label: $why"
	elif ((!seen)); then
		result ok "$took" "$label"
	fi
	[[ ! $why ]] && ((!bad)) || explain "$log" "$(printf '%q ' "${replay[@]}" "$@")"
}

# run_pool ROOM: run_tap for each line STAGE <tab> LIMIT_S <tab> LABEL <tab> COMMAND of standard
# input, in this order, ROOM at a time; beside them those of $in_turn (stages), which would be
# in each other's way, one at a time, and those of $in_spare_time, which only compute, ROOM
# at a time: they take what the others leave of the processors while they wait. If there is
# only one at a time at all, what it prints appears as it comes; else each one's appears
# whole when it has ended. With $fail_fast nothing is begun after a failure.
run_pool() {
	local room=$1 any=() turn=() spare=() line counted=0 all
	while IFS= read -r line; do
		case " $in_turn / $in_spare_time " in
		*" ${line%%$'\t'*} "*/*) turn+=("$line") ;;
		*/*" ${line%%$'\t'*} "*) spare+=("$line") ;;
		*) any+=("$line") ;;
		esac
	done
	all=$((${#any[@]} + ${#turn[@]} + ${#spare[@]}))
	if ((${#any[@]} + ${#spare[@]} == 0 || (room == 1 && ${#turn[@]} == 0))); then
		one_by_one < <(printf '%s\n' "${any[@]}" "${turn[@]}" "${spare[@]}")
	else
		at_once
	fi
	going_on || return 0
	((counted == all)) || result not 0 "counted $counted commands of $all"
}

one_by_one() {
	local limit label command shown=''
	while IFS=$'\t' read -r stage limit label command; do
		[[ $stage ]] || continue
		going_on || return
		show_stage "$stage"
		# shellcheck disable=SC2086 # the command is words without quotes
		run_tap "$limit" "$label" $command </dev/null
		counted=$((counted + 1))
	done
}

at_once() {
	local pool shown=''
	local -A running=([any]=0 [turn]=0 [spare]=0) begun=([any]=0 [turn]=0 [spare]=0) name_of=()
	pool=$(mktemp -d)
	while :; do
		begin any "$room"
		begin turn 1
		begin spare "$room"
		((${#name_of[@]})) || break
		reap
	done
	rm -rf "$pool"
}

# begin QUEUE ROOM: of any, turn or spare those that there is room for
begin() {
	local -n lines=$1
	local n
	while n=${begun[$1]}; ((running[$1] < $2 && n < ${#lines[@]})) && going_on; do
		in_pool "$1-$n" "${lines[n]}" </dev/null &
		name_of[$!]=$1-$n
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
	run_tap "$limit" "$label" $command >"$pool/$1.out"
	{
		echo "$passed $failed $skipped"
		((!failed)) || printf '%s\n' "${failures[@]}"
	} >"$pool/$1.counts"
}

# reap: waits for one of the pool to end, shows what it printed, and adds it up. One that is
# killed cannot say that it has ended: so it is looked whether it lives.
reap() {
	local pid name queue
	while :; do
		for pid in "${!name_of[@]}"; do
			kill -0 "$pid" 2>/dev/null || break 2
		done
		pause 0.1
	done
	name=${name_of[$pid]}
	queue=${name%-*}
	unset "name_of[$pid]"
	running[$queue]=$((running[$queue] - 1))
	local -n lines=$queue
	add_up "$pool/$name" "${lines[${name#*-}]}"
}

# add_up FILES LINE: of a command of the pool; one whose counts are not whole is a failure
add_up() {
	local label p f s names=()
	IFS=$'\t' read -r stage _ label _ <<<"$2"
	show_stage "$stage"
	cat "$1.out"
	counted=$((counted + 1))
	if { read -r p f s && mapfile -t names; } <"$1.counts" &&
		((p + f + s > 0 && ${#names[@]} == f)); then
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		failures+=("${names[@]}")
	else
		result not 0 "$label: what it counted is lost"
	fi
}
