# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Runs commands that report tests as lines "ok - NAME" and "not ok - NAME" (TAP, with or
# without numbers), prints one line for each test with its duration, and counts them. Sourced
# by tests/run.
#
# A test is skipped if its line is "ok - NAME # SKIP REASON", and not otherwise.
#
# A command must report exactly as many tests as it plans ("1..N"; several plans add up): a
# command that ended early has printed no plan, or fewer tests than planned. A command of
# $silent reports nothing and is itself one test, by its exit status. A command that fails
# without reporting a failed test adds one; so does one that a signal ended, or watch() (hang.sh)
# because it hung.
#
# The times of each command go into $logs/times: STAGE <tab> LABEL <tab> WALL_MS <tab> CPU_MS.
# CPU_MS counts the command and the children that it waited for, but no daemons it left running.
#
# The caller sets: logs (a directory), replay (words to put before a command to run it by
# hand), silent (first words of such commands), in_turn and in_spare_time (stages, see
# run_pool), apart (a first word, see there), computing and idle (see hang.sh), fail_fast.

# shellcheck source=tests/hang.sh
. "${BASH_SOURCE[0]%/*}/hang.sh"

passed=0
failed=0
skipped=0
failures=()

heading() {
	printf '\n== %s\n' "$*"
}

# now_us: prints the microseconds since the epoch
now_us() {
	printf '%s' "${EPOCHREALTIME/[.,]/}"
}

# cpu_of_children: sets cpu_ms to the CPU time of all commands that this shell has waited for
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

# explain LOG REPLAY...: prints the end of a failed command's log and how to run it again, with
# paths relative to the checkout
explain() {
	local log=$1
	shift
	sed "s,$PWD/,,g; s/^/    | /" < <(tail -n "${TAIL:-40}" "$log")
	printf '    log: %s\n    replay: %s\n' "$log" "${*//"$PWD/"/}"
}

# tap_line LINE: whether this is a test line; sets tap_ok and tap_name
tap_line() {
	[[ $1 =~ ^(not\ )?ok([[:space:]]+[0-9]+)?([[:space:]]+-)?[[:space:]]+(.+)$ ]] || return 1
	tap_ok=ok
	[[ -n ${BASH_REMATCH[1]} ]] && tap_ok=not
	tap_name=${BASH_REMATCH[4]}
	return 0
}

# take LABEL LINE: counts a plan or a test line of a running command
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

# skip NAME REASON: counts a skipped test; without a reason it is a failure
skip() {
	if [[ $2 ]]; then
		skipped=$((skipped + 1))
		printf 'skip   - %s\n' "$1"
	else
		result not 0 "$1 (no reason)"
		bad=$((bad + 1))
	fi
}

# follow PID LABEL LOG: takes the lines of a growing log until its writer has ended. Nothing here waits
# by "read -t": bash 5.2 sets the signal mask to what happens to be on its stack when that is over
# (prevset in builtins/read.def), and with SIGCHLD blocked it would wait for ever.
follow() {
	local line
	while IFS= read -r line || [[ $line ]]; do
		take "$2" "$line"
	done < <(exec tail -n +1 -f -s 0.1 --pid="$1" "$3")
}

# fault COMMAND: prints why the command that run_tap ran failed, if the failed tests that it
# reported do not say so
fault() {
	if ((ended)); then
		hung "$ended"
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

# run_tap LIMIT_S LABEL COMMAND...: runs a command and counts its tests. It waits for the end of
# the command, not of its output: a daemon that was left behind may keep that open.
run_tap() {
	local limit=$1 label=$2 log pid rc=0 start took mark seen=0 bad=0 planned='' why cpu_ms cpu_before
	local watcher ended=0
	shift 2
	cpu_of_children
	cpu_before=$cpu_ms
	log=$logs/$(tr -c 'A-Za-z0-9._\n' '-' <<<"$stage-$label").log
	: >"$log"
	start=$(now_us)
	mark=$start
	# Appends, because watch() writes into the log, too. It counts the time; `timeout` passes a signal on
	# to the group of the command, and then kills it.
	timeout -k 10 0 "$@" </dev/null >>"$log" 2>&1 &
	pid=$!
	watch "$pid" "$log" </dev/null >/dev/null &
	watcher=$!
	follow "$pid" "$label" "$log"
	wait "$pid" || rc=$?
	kill "$watcher" 2>/dev/null
	wait "$watcher" 2>/dev/null || ended=$?
	((ended <= 5)) || ended=0
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
	((!ended)) || local TAIL=${TAIL:-440}
	[[ ! $why ]] && ((!bad)) || explain "$log" "$(printf '%q ' "${replay[@]}" "$@")"
}

# run_pool ROOM: calls run_tap for each line STAGE <tab> LIMIT_S <tab> LABEL <tab> COMMAND of
# standard input. There are four queues, each in the order of the lines: commands of the stages
# $in_turn, which would disturb each other, run one at a time; those of them that begin with the
# word $apart, which disturb no others, run one at a time beside these; those of $in_spare_time,
# which only compute, run ROOM at a time at a low priority; all others run ROOM at a time. If only
# one command runs at a time, its output appears as it comes; else that of each command appears
# when it has ended. With $fail_fast no command is begun after a failure.
run_pool() {
	local room=$1 any=() turn=() beside=() spare=() line counted=0 all
	while IFS= read -r line; do
		case " $in_turn / $in_spare_time " in
		*" ${line%%$'\t'*} "*/*)
			if [[ $line == *$'\t'"$apart "* ]]; then
				beside+=("$line")
			else
				turn+=("$line")
			fi
			;;
		*/*" ${line%%$'\t'*} "*) spare+=("$line") ;;
		*) any+=("$line") ;;
		esac
	done
	all=$((${#any[@]} + ${#turn[@]} + ${#beside[@]} + ${#spare[@]}))
	if ((${#any[@]} + ${#beside[@]} + ${#spare[@]} == 0 ||
	     (room == 1 && ${#turn[@]} + ${#beside[@]} == 0))); then
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
	local -A running=([any]=0 [turn]=0 [beside]=0 [spare]=0) name_of=()
	local -A begun=([any]=0 [turn]=0 [beside]=0 [spare]=0)
	pool=$(mktemp -d)
	while :; do
		begin any "$room"
		begin turn 1
		begin beside 1
		begin spare "$room"
		((${#name_of[@]})) || break
		reap
	done
	rm -rf "$pool"
}

# begin QUEUE ROOM: starts commands of a queue (any, turn, beside, spare) until ROOM of them run
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

# show_stage STAGE: prints a heading, if the output before was of another stage
show_stage() {
	[[ $1 == "$shown" ]] || heading "$1"
	shown=$1
}

# in_pool NAME LINE: runs one command in a process of its own, which keeps its own counts
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

# reap: waits until a process of the pool has ended, shows its output, and adds up its counts
reap() {
	local pid name queue
	while :; do
		for pid in "${!name_of[@]}"; do
			kill -0 "$pid" 2>/dev/null || break 2
		done
		wait -n "${!name_of[@]}" 2>/dev/null
	done
	name=${name_of[$pid]}
	queue=${name%-*}
	unset "name_of[$pid]"
	running[$queue]=$((running[$queue] - 1))
	local -n lines=$queue
	add_up "$pool/$name" "${lines[${name#*-}]}"
}

# add_up FILES LINE: shows and counts a command of the pool; incomplete counts are a failure
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

# stop_commands PID: ends all commands that run_tap has begun below that process. Each has a
# process group of its own, whose leader is `timeout`, so a signal to the terminal's does not
# reach it; `timeout` passes one on.
stop_commands() {
	local pid name
	while read -r pid name; do
		if [[ $name == timeout ]]; then
			kill "$pid" 2>/dev/null
		else
			stop_commands "$pid"
		fi
	done < <(ps -o pid=,comm= --ppid "$1")
}
