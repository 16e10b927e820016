# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Ends a command that hangs, after it has written where each of its threads is into its log.
# Sourced by harness.sh.
#
# The time is counted in looks, one after the other, not by the clock: a machine that is stopped for
# a while has not looked meanwhile.
#
# The caller sets: stage, limit (seconds), computing (stages, see watch), idle (seconds, see there).

# tree PID: prints the ids of a process and of all below it
tree() {
	ps -e -o pid=,ppid= | awk -v top="$1" '
		{ above[$1] = $2 }
		END {
			for (p in above) {
				for (q = p; q != top && q in above;) q = above[q]
				if (q == top) print p
			}
		}' | sort -n
}

# activity PID: prints the processor time that a process and all below it have used, in hundredths of a
# second, and 1 if a thread of them runs or would run if it had a processor, else 0
activity() {
	local pid
	for pid in $(tree "$1"); do
		sed 's/^.*) /process /' "/proc/$pid/stat"
		sed 's/^.*) /thread /' "/proc/$pid/task/"*/stat
	done 2>/dev/null | awk '
		$1 == "process" { used += $13 + $14 + $15 + $16 }
		$1 == "thread" && $2 ~ /[RD]/ { runs = 1 }
		END { print used + 0, runs + 0 }'
}

# stacks_by_gdb PID: fails if there is no gdb or if it cannot look into the process
stacks_by_gdb() {
	timeout -k 5 30 gdb -nx -batch -p "$1" -ex 'thread apply all backtrace 30' </dev/null 2>/dev/null |
		grep -E '^(Thread |#[0-9])'
}

# stacks_by_kernel PID: for each thread the function of the kernel in which it waits, its system call
# (number, arguments, stack pointer, program counter), and the stack that it has in the kernel
stacks_by_kernel() {
	local task
	for task in "/proc/$1/task/"*; do
		printf 'thread %s in %s, system call %s\n' "${task##*/}" "$(cat "$task/wchan")" "$(cat "$task/syscall")"
		cat "$task/stack"
	done 2>/dev/null
}

# where_it_hangs PID: describes a process and all below it, in lines that are no tests
where_it_hangs() {
	local pid name state
	for pid in $(tree "$1"); do
		read -r state name < <(ps -o state=,comm= -p "$pid") || continue
		[[ $name != timeout || $pid != "$1" ]] || continue
		echo "process $pid, state $state: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		# The stack of a shell does not tell where its script is.
		case $name in
		sh | bash | dash | timeout) stacks_by_kernel "$pid" ;;
		*) stacks_by_gdb "$pid" || stacks_by_kernel "$pid" ;;
		esac
	done 2>/dev/null | head -n 400 | sed 's/^/# /'
}

# only_computes: whether the stage is one of $computing
only_computes() { [[ " $computing " == *" $stage "* ]]; }

# longest_time: prints the seconds after which a command is ended
longest_time() { only_computes && echo $((6 * limit)) || echo "$limit"; }

# watch PID LOG: looks at a command until it has ended, or ends it because it hangs. A command of the
# stages $computing, which only compute, hangs if it has used $limit seconds of processor time, if
# all its threads have slept for $idle seconds, or if it takes six times $limit. Any other one hangs
# after $limit seconds. Status: 3, 4 or 5 for the first, second and third reason, else 0.
watch() {
	local pid=$1 log=$2 look=10 slept=0 took=0 used before=0 runs most why=0
	most=$(longest_time)
	((look <= limit)) || look=$limit
	((look <= idle)) || look=$idle
	while ((!why)); do
		timeout "$look" tail -s 0.2 -f --pid="$pid" /dev/null 2>/dev/null
		(($? == 124)) || return 0
		took=$((took + look))
		if only_computes; then
			read -r used runs < <(activity "$pid")
			slept=$((runs || used != before ? 0 : slept + look))
			before=$used
			((used < limit * 100)) || why=3
			((why || slept < idle)) || why=4
		fi
		((why || took < most)) || why=5
	done
	trap '' TERM
	where_it_hangs "$pid" >>"$log"
	kill -TERM "$pid"
	return $why
}

# hung STATUS: prints why watch() has ended a command
hung() {
	case $1 in
	3) echo "ended by the limit of $limit s of processor time" ;;
	4) echo "ended because nothing of it ran for $idle s" ;;
	5) echo "ended by the limit of $(longest_time) s" ;;
	esac
}
