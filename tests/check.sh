# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# What scripts that test have in common, on the host and in guests. They source it
# first and end with "done_testing".
#
#	failed		1 once a test has failed
#	told		how many tests the script has told
#	tmp		a directory of the run, which everyone may enter; removed at the end
#	slow		how many times slower than usual this machine is, as one that is
#			emulated: PATIENCE in the environment
#	patient		parameters of NICs whose links outlast a moment in which this machine stands
#			still: else that is a silence, and again and again a flap
#	patience	the same for "fabricctl lab up", which waits longer, too, and whose managers
#			do: what they give up waiting for is lost
#	tag		what the names of the tests begin with
#	cleanup		a function of the script, if it has one: ends what it has made
#	explain		likewise: prints what helps to understand a failure

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
printf '%s\n' '[timers]' "resolve_max = $((2 * slow))s" "drain_max = $((500 * slow))ms" >"$tmp/patient.conf"
patience=("${patient[@]}" --timeout $((120 * slow)) --config "$tmp/patient.conf")
trap '! declare -F cleanup >/dev/null || cleanup; rm -rf "$tmp"' EXIT

say() { echo "[+] $*" >&2; }

# rest SECONDS: nobody ever writes what this waits for. A guest is slow to start "sleep".
exec {nothing}<> <(:)
rest() { read -r -t "$1" -u "$nothing" || :; }

# check NAME COMMAND...: one test, which passes if the command ends with 0. What that
# says follows, as comments. Status: the command's verdict, 0 or 1.
check() {
	local verdict
	told=$((told + 1))
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

# skip NAME REASON: a test that this machine cannot make
skip() {
	told=$((told + 1))
	echo "ok - $tag$1 # SKIP $2"
}

# adopt FILE: what another script has told, its plan last, is told by this one
adopt() {
	local n
	n=$(grep -cE '^(not )?ok ' "$1")
	told=$((told + n))
	! grep -q '^not ok ' "$1" || failed=1
	sed '/^1\.\.[0-9]*$/d' "$1"
	[[ $(tail -n 1 "$1") == "1..$n" ]] || check "all tests that were planned have run" false
}

# done_testing: the script's end. Without the plan that is told here it has ended early.
done_testing() {
	echo "1..$told"
	exit $failed
}

# until_true SECONDS COMMAND...: polls until it succeeds; $slow times as long. On a machine
# with much else to do, or that stood still, seconds say little: it must have been asked
# often as well, five times for each. In a guest a question is so dear that it is asked
# less often.
until_true() {
	local end=$((SECONDS + $1 * slow)) left=$(($1 * 5))
	shift
	until "$@" >"$tmp/.until" 2>&1; do
		((left-- > 0 || SECONDS < end)) || { echo "still not: $*"; cat "$tmp/.until"; return 1; }
		rest "$pause"
	done
}

# exits STATUS TEXT COMMAND...: ends so, and says so
exits() {
	local want=$1 text=$2 rc=0
	shift 2
	"$@" >"$tmp/.exits" 2>&1 || rc=$?
	cat "$tmp/.exits"
	[[ $rc == "$want" ]] || { echo "exit status $rc, not $want"; return 1; }
	grep -qF -- "$text" "$tmp/.exits" || { echo "says nothing of '$text'"; return 1; }
}
