#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The harness's own test: it runs small commands, most of which fail in some way, and must count
# each as failed.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh
mkdir -p "$tmp"/{logs,pool}

# shellcheck disable=SC2317
explain() { cat "$tmp/out"; }

# script NAME: standard input, to be run
script() { { echo '#!/bin/bash'; cat; } >"$tmp/$1" && chmod +x "$tmp/$1"; }

# play STAGE/NAME...: these scripts in a pool, as tests/run plays tests; each pair, which names
# its log, runs once at a time. The last line of
# $tmp/out is then how many tests passed, failed and were skipped.
limit=600
play() {
	# shellcheck disable=SC2034,SC2030 # for the harness
	(
		export TMPDIR=$tmp/pool tmp
		logs=$tmp/logs replay=() silent="$tmp/quiet" in_turn=turn in_spare_time=spare fail_fast=${fail_fast-0} apart=apart
		computing=computes idle=${idle-600}
		stage=''
		# shellcheck source=tests/harness.sh
		. tests/harness.sh
		eval "${change-}"
		run_pool 2 < <(for one; do printf '%s\t%s\t%s\t%s\n' "${one%/*}" "$limit" "${one#*/}" "$tmp/${one#*/}"; done)
		printf 'failed: %s\n' "${failures[@]}"
		echo "$passed $failed $skipped"
	) >"$tmp/out" 2>&1
}

# counts "PASSED FAILED SKIPPED" [TEXT]: of the last play, and what it has said
counts() {
	[[ $(tail -n 1 "$tmp/out") == "$1" ]] && grep -qF -- "${2-}" "$tmp/out"
}

# expect "PASSED FAILED SKIPPED" NAME [TEXT]: of a script on standard input
expect() {
	script one
	play any/one
	check "$2" counts "$1" "${3-}"
}

expect '2 0 0' "a plan that is kept passes" <<<'echo "ok 1 - a"; echo "ok - b"; echo 1..2'
expect '2 0 0' "plans add up" <<<'echo 1..1; echo "ok 1 - a"; echo "ok - b"; echo 1..1'
expect '1 1 0' "a command that ends early, without a plan, fails" 'ended without a plan, after 1 tests' <<<'echo "ok - a"; exit 0; echo 1..1'
expect '0 1 0' "a command that ends before any test fails" 'ended without a plan, after 0 tests' <<<'exit 0'
expect '1 1 0' "fewer tests than planned is a failure" 'reported 1 tests, planned 2' <<<'echo "ok - a"; echo 1..2'
expect '2 1 0' "more tests than planned is a failure" 'reported 2 tests, planned 1' <<<'echo "ok - a"; echo "ok - b"; echo 1..1'
expect '0 1 0' "a plan of no tests is a failure" 'reported 0 tests, planned 0' <<<'echo 1..0'
expect '1 1 0' "a failed test is counted as a failure" <<<'echo "ok - a"; echo "not ok - b"; echo 1..2; exit 1'
expect '1 1 0' "a failed test counts even if the exit status is 0" <<<'echo "ok - a"; echo "not ok - b"; echo 1..2'
expect '1 1 0' "an exit status without a failed test is a failure" 'exit status 3' <<<'echo "ok - a"; echo 1..1; exit 3'
expect '0 1 0' "a command that fails without output is a failure" 'exit status 1' <<<'exit 1'

expect '0 0 1' "a skipped test is counted as skipped" <<<'echo "ok 1 - a # SKIP no b here"; echo 1..1'
expect '0 1 0' "a failure is not skipped" <<<'echo "not ok - a # SKIP no b here"; echo 1..1; exit 1'
expect '0 1 0' "a skip without a reason is a failure" <<<'echo "ok - a # SKIP"; echo 1..1'
expect '3 0 0' "a test's name that contains SKIP is no directive" <<<'printf "ok - %s\n" "a # skip b" "a #SKIP b" "a # SKIPPED"; echo 1..3'

expect '0 1 0' "a killed command is a failure" 'killed by SIGKILL' <<<'kill -KILL $$'
expect '1 1 0' "a command that is killed after its plan is a failure" 'killed by SIGSEGV' <<<'echo "ok - a"; echo 1..1; kill -SEGV $$'
limit=1
expect '0 1 0' "a command that takes too long is a failure" 'ended by the limit of 1 s' <<<'sleep 600'
# An interpreter whose main thread spins or sleeps, with a second thread that sleeps
hangs() { printf '#!/usr/bin/python3\nimport threading, time\n%s\n' "$1" >"$tmp/one" && chmod +x "$tmp/one"; }
sleeper='threading.Thread(target=lambda: time.sleep(600)).start()'
hangs "$sleeper"$'\nwhile True: pass'
play computes/one
check "a program that computes too long is a failure" counts '0 1 0' 'ended by the limit of 1 s of processor time'
threads() { grep -Ec '^    \| # ?(Thread [0-9]+ \(|thread [0-9]+ in )' "$tmp/out"; }
two_threads() { [[ $(threads) == 2 ]] && grep -q "| # $1" "$tmp/out"; }
check "the failure says where each thread is" two_threads '#[0-9]* .* in '
change='stacks_by_gdb() { false; }' play computes/one
check "without gdb the failure says in which system calls threads are" two_threads 'thread [0-9]* in .*, system call '
limit=600
hangs "$sleeper"$'\ntime.sleep(600)'
idle=2 play computes/one
check "a program that uses no processor time any more is a failure" counts '0 1 0' 'ended because nothing of it ran for 2 s'
check "the failure names its processes" grep -qF "state S: /usr/bin/python3 $tmp/one" "$tmp/out"
script one <<<'for i in {1..8}; do timeout 1 tail -f /dev/null; (for j in {1..60000}; do :; done); done; echo "ok - a"; echo 1..1'
idle=3 play computes/one
check "a program that sleeps now and then is not ended" counts '1 0 0'

script quiet <<<''
play any/quiet
check "a silent command that reports nothing passes" counts '1 0 0'
script quiet <<<'exit 1'
play any/quiet
check "a silent command that fails is a failure" counts '0 1 0' 'exit status 1'
script quiet <<<'echo "ok - a"'
play any/quiet
check "a silent command that reports a test needs a plan" counts '1 1 0' 'ended without a plan'

# --- of the pool, which goes on beside and after what went wrong -------------------

script fine <<<'echo "ok - a"; echo 1..1'
script bad <<<'echo "not ok - a"; echo 1..1; exit 1'
play any/fine turn/fine spare/fine any/bad turn/fine spare/bad more/fine
check "each command that was begun is counted once" counts '5 2 0' 'failed: spare: bad: a'
# shellcheck disable=SC2016 # for the script
script orphan <<<'kill -KILL "$(ps -o ppid= -p $PPID)"'
play any/orphan any/fine turn/fine more/fine
check "a command whose process of the pool dies is a failure" counts '3 1 0' 'orphan: what it counted is lost'
# shellcheck disable=SC2016
script full <<<'ln -s /dev/null "$(echo "$tmp"/pool/*)/any-0.counts"; echo "ok - a"; echo 1..1'
play any/full any/fine turn/fine
check "empty counts are a failure" counts '2 1 0' 'full: what it counted is lost'
# shellcheck disable=SC2016
script none <<<'mkdir "$(echo "$tmp"/pool/*)/any-0.counts"; echo "ok - a"; echo 1..1'
play any/none any/fine turn/fine
check "missing counts are a failure" counts '2 1 0' 'none: what it counted is lost'
change='run_tap() { :; }' play any/fine turn/fine
check "commands without any counts are failures" counts '0 2 0' 'fine: what it counted is lost'
change='add_up() { :; }' play any/fine turn/fine
check "commands that are not counted are a failure" counts '0 1 0' 'counted 0 commands of 2'
fail_fast=1 play turn/bad turn/fine turn/fine
check "with --fail-fast nothing is begun after a failure" counts '0 1 0'

# Commands of one queue run one at a time, and one that is apart runs beside them.
# shellcheck disable=SC2016 # for the scripts
script alone <<<'mkdir "$tmp/busy" && sleep 0.5 && rmdir "$tmp/busy" && echo "ok - a"; echo 1..1'
# shellcheck disable=SC2016
script meets <<'END'
: >"$tmp/here-$1"
there=$tmp/here-$2
. tests/check.sh
check "$1 meets $2" until_true 60 test -e "$there"
done_testing
END
beside() {
	(
		# shellcheck disable=SC2034,SC2030 # for the harness
		export TMPDIR=$tmp/pool tmp
		# shellcheck disable=SC2034 # for the harness
		logs=$tmp/logs replay=() silent='' in_turn=turn in_spare_time=spare fail_fast=0 stage='' computing='' idle=600 apart=env
		# shellcheck source=tests/harness.sh
		. tests/harness.sh
		run_pool 2 < <(printf 'turn\t60\t%s\t%s\n' a "$tmp/meets a b" b "env $tmp/meets b a" \
			c "$tmp/alone" d "$tmp/alone" e "env $tmp/one" f "env $tmp/one")
		echo "$passed $failed $skipped"
	) >"$tmp/out" 2>&1
	counts "$1"
}
script one <<<'mkdir "$tmp/apart" && sleep 0.5 && rmdir "$tmp/apart" && echo "ok - a"; echo 1..1'
check "commands that are apart run beside those of a queue, one at a time" beside '6 0 0'

# A run that is ended by a signal takes its commands with it, on whatever queue they are.
# shellcheck disable=SC2016 # for the script
script long <<<'echo $$ >>"$tmp/begun"; exec sleep 60'
begun() { [[ $(wc -l <"$tmp/begun") == 2 ]]; }
none_lives() { ! ps -o pid=,args= -p "$(paste -sd, "$tmp/begun")"; }
ended_by_signal() {
	: >"$tmp/begun"
	(
		# shellcheck disable=SC2034,SC2030 # for the harness
		export TMPDIR=$tmp/pool tmp
		# shellcheck disable=SC2034 # for the harness
		logs=$tmp/logs replay=() silent='' in_turn=turn in_spare_time=spare fail_fast=0 stage='' computing='' idle=600 apart=apart
		# shellcheck source=tests/harness.sh
		. tests/harness.sh
		trap 'stop_commands $BASHPID' EXIT
		run_pool 2 < <(printf '%s\t600\tlong\t%s\n' any "$tmp/long" turn "$tmp/long")
	) >"$tmp/out" 2>&1 &
	until_true 20 begun && kill -TERM $! && until_true 20 none_lives
}
check "a run that is ended by a signal ends its commands" ended_by_signal

# --- of check.sh -------------------------------------------------------------------

expect '1 1 1' "a script that uses check.sh is counted" <<'END'
. tests/check.sh
check a true
check b false
skip c "no c here"
done_testing
END
expect '0 1 0' "a check without a command fails" <<'END'
. tests/check.sh
check "that nothing is asked"
done_testing
END
expect '1 1 0' "a script that uses check.sh and ends early fails" 'ended without a plan' <<'END'
. tests/check.sh
check a true
exit $failed
END
expect '1 1 0' "a test may use the names of the variables of check()" 'ok     - one: a' <<'END'
. tests/check.sh
check a eval 'verdict=x name=x'
check b eval 'verdict=0 name=x; false'
done_testing
END
expect '3 0 0' "adopt counts the tests of another script" <<'END'
. tests/check.sh
check a true
printf '%s\n' "ok - b" "ok - c" 1..2 >"$tmp/told"
adopt "$tmp/told"
done_testing
END
expect '1 2 0' "adopt counts failures and an early end of another script" 'all tests that were planned have run' <<'END'
. tests/check.sh
printf '%s\n' "ok - b" "not ok - c" >"$tmp/told"
adopt "$tmp/told"
done_testing
END
check "adopt makes the script fail, too" exits 1 'not ok - c' "$tmp/one"
expect '2 3 0' "waiting without success fails once, and so does ping without all answers" 'still not: false' <<'END'
. tests/check.sh
check a until_true 0 true
check b until_true 0 false
check c answered echo '5 packets transmitted, 5 received, 0% packet loss, time 4ms'
check d answered echo '5 packets transmitted, 4 received, 20% packet loss, time 4ms'
check e answered echo '5 packets transmitted, 5 received, +1 duplicates, 0% packet loss, time 4ms'
done_testing
END
check "a failed test makes the script fail" exits 1 'not ok - b' "$tmp/one"
script refuses <<'END'
. tests/check.sh
refuse() { say "refuse $*"; echo "fie, ${1%x}" >&2; return 2; }
check a exits 2 fie refuse bx
check b exits 2 bx refuse bx
check c exits 1 '' refuse bx
done_testing
END
play any/refuses
check "an error text without the expected words is a failure" counts '1 2 0' "# does not print 'bx'"

# --- of tests/run ------------------------------------------------------------------

mkdir -p "$tmp"/run/tests/static
cp tests/{run,harness.sh,hang.sh,check.sh} "$tmp/run/tests/"
printf 'all tests test-objects fuzzers list-tests:\n' >"$tmp/run/Makefile"
echo 'echo "ok - a"; echo 1..1' | tee "$tmp"/run/tests/static/test_{a,b}.sh >/dev/null
echo 'echo "not ok - a"; echo 1..1' >"$tmp/run/tests/static/test_c.sh"
# The four builds of this run pass.
whole() { exits "$1" "$2" env TORUS_SANDBOX="$tmp/run" CCACHE_DIR= "$tmp/run/tests/run" "${@:3}"; }
check "a run with a failure exits with 1" whole 1 '6 passed, 1 failed, 0 skipped' static
rm "$tmp/run/tests/static/test_c.sh"
check "a run without failures exits with 0" whole 0 '6 passed, 0 failed, 0 skipped' static
check "a stage without tests is a failure" whole 1 'failed: install: has tests' static install

# --- of what fuzzers find ----------------------------------------------------------

mkdir -p "$tmp"/tree/tests/fuzz/corpus/fake
cp tests/check.sh "$tmp/tree/tests/" && cp tests/fuzz/run "$tmp/tree/tests/fuzz/"
echo >"$tmp/tree/tests/fuzz/corpus/fake/kept"
finding=$tmp/tree/build-log/fuzz-fake-crash-1
# A fuzzer that finds crash-1 while it may, which then fails until it is mended
script fuzzer <<END
for last; do :; done
if [[ -d \$last && -e $tmp/lucky ]]; then
	echo bad >$finding
	exit 77
fi
[[ \$last != *crash-1 || -e $tmp/mended ]]
END
script one <<<"exec $tmp/tree/tests/fuzz/run fake $tmp/fuzzer 1"
: >"$tmp/lucky"
play any/one
check "an input on which a fuzzer fails is a failure" counts '2 1 0' 'not ok - one: 1 s of fuzzing'
rm "$tmp/lucky"
play any/one
check "that input fails again in the next run" counts '3 1 0' 'not ok - one: inputs on which former runs failed'
: >"$tmp/mended"
play any/one
check "that input passes when its cause is mended" counts '4 0 0'
check "that input is kept" test -s "$finding"
done_testing
