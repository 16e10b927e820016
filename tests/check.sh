# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# Shared by all test scripts, on the host and in guests. A script sources this first and ends
# with "done_testing".
#
#	failed		1 once a test has failed
#	told		how many tests the script has reported
#	tmp		a directory for the run, which everyone may enter; removed at the end
#	slow		how many times slower than usual this machine is, for instance because it
#			is emulated: PATIENCE in the environment
#	patient		NIC parameters for a machine that may stall for a moment: with the defaults
#			a stall looks like a silent link, and repeated ones like flapping
#	patience	the same as options of "fabricctl lab up", with longer timeouts for the lab
#			and its managers: packets for which a manager stops waiting are lost, and
#			a root that stalls is succeeded by another
#	tag		a prefix of the names of the tests
#	cleanup		a function that the script may define: removes what the script has made
#	explain		a function that the script may define: prints more about a failed test

set -u
failed=0
told=0
slow=${PATIENCE:-1}
patient=(--set "silence=$((2 * slow))s" --set "retry_time=$((2 * slow))s")
pause=0.05
[[ -z ${VM_KIND-} ]] || pause=0.3
tag=''
tmp=$(mktemp -d) || exit 2
chmod 755 "$tmp"
printf '%s\n' '[timers]' "resolve_max = $((2 * slow))s" "drain_max = $((500 * slow))ms" \
	"takeover = $((2 * slow))s" >"$tmp/patient.conf"
patience=("${patient[@]}" --timeout $((120 * slow)) --config "$tmp/patient.conf")
trap '! declare -F cleanup >/dev/null || cleanup; rm -rf "$tmp"' EXIT

say() { echo "[+] $*" >&2; }

# rest SECONDS: waits by reading a pipe to which nobody writes; a guest is slow to start "sleep". In a
# process of its own, for after that bash 5.2 may set a signal mask of its own (see tests/harness.sh).
exec {nothing}<> <(:)
rest() { (read -r -t "$1" -u "$nothing") || :; }

# check NAME COMMAND...: one test, which passes if the command exits with 0. Its output follows
# as comments. Without a command it fails. Status: 0 if it passed, else 1.
check() {
	local verdict
	told=$((told + 1))
	(($# > 1)) || set -- "$1" false
	"${@:2}" >"$tmp/.check" 2>&1
	verdict=$(($? != 0))
	if ((verdict)); then
		echo "not ok - $tag$1"
		failed=1
		! declare -F explain >/dev/null || explain >>"$tmp/.check" 2>&1
	else
		echo "ok - $tag$1"
	fi
	sed 's/^/# /' "$tmp/.check"
	return $verdict
}

# skip NAME REASON: reports a test that this machine cannot run
skip() {
	told=$((told + 1))
	echo "ok - $tag$1 # SKIP $2"
}

# adopt FILE: reports the tests in the output of another script as tests of this one. The other
# script's plan must be the last line.
adopt() {
	local n
	n=$(grep -cE '^(not )?ok ' "$1")
	told=$((told + n))
	! grep -q '^not ok ' "$1" || failed=1
	sed '/^1\.\.[0-9]*$/d' "$1"
	[[ $(tail -n 1 "$1") == "1..$n" ]] || check "all tests that were planned have run" false
}

# done_testing: ends the script with its plan. Output without a plan shows that a script ended
# early.
done_testing() {
	echo "1..$told"
	exit $failed
}

# until_true SECONDS COMMAND...: runs a command again and again until it succeeds, for at most
# SECONDS * $slow. A busy or stalled machine may have run it only a few times by then, so it is
# tried at least 5 * SECONDS times. In a guest starting a command is slow, so the pauses between
# two tries are longer.
until_true() {
	local end=$((SECONDS + $1 * slow)) left=$(($1 * 5))
	shift
	until "$@" >"$tmp/.until" 2>&1; do
		((left-- > 0 || SECONDS < end)) || { echo "still not: $*"; cat "$tmp/.until"; return 1; }
		rest "$pause"
	done
}

# answered PING...: whether each request was answered, once; ping itself is content with one answer
answered() {
	local said
	said=$("$@")
	echo "$said"
	grep -q ' received, 0% packet loss' <<<"$said"
}

# exits STATUS TEXT COMMAND...: whether the command exits with STATUS and prints TEXT. The line in
# which say() shows the command does not count, because it has the arguments that TEXT is to name.
exits() {
	local want=$1 text=$2 rc=0
	shift 2
	"$@" >"$tmp/.exits" 2>&1 || rc=$?
	cat "$tmp/.exits"
	[[ $rc == "$want" ]] || { echo "exit status $rc, not $want"; return 1; }
	[[ ! $text ]] || grep -v '^\[+\] ' "$tmp/.exits" | grep -qF -- "$text" ||
		{ echo "does not print '$text'"; return 1; }
}
