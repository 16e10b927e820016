#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The operations manual as its reader would follow it: every command in it, in its order, on a lab of
# 4x4. Comments in its text say what hands do to the hardware meanwhile (lab:), with which status the
# last command of the next block ends (exit:, else 0), and what its output has to match (prints:).
# Blocks "sh on=NODE" run on that node. Blocks "sh host=NAME" need systemd or the driver: the machine of
# tests/vm/test_debian.sh runs those. Boxes "ini file=NAME" are files, which are checked.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
lab=ops$$
manual=$TOP/doc/OPERATIONS.md
export PATH=$B:$PATH

state_is() { [[ $(fabricctl status --json | jq -r '.state') == "$1" ]]; }
calm() { state_is "$1" && { [[ $1 != running ]] || fabricctl status --json | jq -e '.problems == []'; }; }
settles() { until_true $((40 * slow)) calm "$1"; }

# hands ACTION [WHAT] [STATE of the fabric after it]: does what the manual asks an administrator to
# do
hands() {
	local node nodes
	case $1 in
	up) lab up 4x4 "${patience[@]}" && export TORUS_LAB=$lab && settles running ;;
	cut | mend) lab "$1" "$2" && settles "$3" ;;
	kill) lab kill --power "$2" && settles "$3" ;;
	revive | replace) lab "$1" "$2" --timeout $((40 * slow)) && settles "$3" ;;
	led) until_true $((20 * slow)) fabricctl root ;;
	blackout)
		nodes=$(fabricctl nodes --json | jq -r '.[].node | map(tostring) | join(",")')
		for node in $nodes; do lab kill --power "$node" || return 1; done
		for node in $nodes; do lab revive --no-wait "$node" || return 1; done
		settles "$2" ;;
	*) echo "the manual has no such action: $*"; return 1 ;;
	esac
}

# block COMMANDS: in the working directory of the reader
block() {
	local rc=0
	(cd "$tmp/reader" && if [[ -n $on ]]; then fabricctl lab exec "$on" -- bash -ec "$1"; else bash -ec "$1"; fi) \
		>"$tmp/printed" 2>&1 </dev/null || rc=$?
	cat "$tmp/printed"
	[[ $rc == "$status" ]] || { echo "exit status $rc, not $status"; return 1; }
	[[ -z $prints ]] || grep -qE -- "$prints" "$tmp/printed" || { echo "does not print: $prints"; return 1; }
}

# file NAME TEXT: what that program says of the file, on a host that has an address of the example
file() {
	printf '%s' "$2" >"$tmp/reader/$1"
	case $1 in
	torus0.conf) fabricctl device check "$tmp/reader/$1" ;;
	fabricd.conf) unshare -n bash -c "ip addr add 172.16.0.3/16 dev lo && ip link set lo up &&
		fabricd --dump-config -c '$tmp/reader/$1'" | grep -E '^service_address += 172\.16\.0\.3:7117' ;;
	*) echo "no test knows the file $1"; return 1 ;;
	esac
}

# Checks the manual from its first line to its last one.
follow() {
	local line text='' inside='' section='' name='' count=0
	on='' status=0 prints=''
	while IFS= read -r line <&9; do
		case $inside$line in
		'<!-- lab: '*) line=${line#*: } && check "$section: hands: ${line% -->}" hands ${line% -->} ;;
		'<!-- exit: '*) line=${line#*: } status=${line% -->} ;;
		'<!-- prints: '*) line=${line#*: } prints=${line% -->} ;;
		'## '*) section=${line#\#\# } ;;
		'```sh host='*) inside=host: ;;
		'```sh'*) inside=sh: text='' on='' && [[ $line != *on=* ]] || on=${line#*on=} ;;
		'```ini file='*) inside=ini: text='' name=${line#*file=} ;;
		'ini:```') check "$section: the file $name" file "$name" "$text" && count=$((count + 1))
			[[ $status == 0 && -z $prints ]] || check "$section: nothing is said of a file" false
			inside='' status=0 prints='' ;;
		ini:*) text+=$line$'\n' ;;
		'sh:```')
			check "$section: ${text%%$'\n'*}" block "$text"
			inside='' on='' status=0 prints='' count=$((count + 1)) ;;
		'host:```')
			[[ $status == 0 && -z $prints ]] || check "$section: nothing is said of a machine" false
			inside='' status=0 prints='' ;;
		sh:*) text+=$line$'\n' ;;
		esac
	done 9<"$manual"
	check "the manual ends outside of a box, after many" [ -z "$inside" -a $count -gt 30 ]
}

# Commands that only a whole machine can run are run there.
in_the_machine() {
	local name rc=0
	for name in $("$TOP/tests/manual" --names "$manual"); do
		grep -qE "manual $name( |\$)" "$TOP/tests/vm/debian/driver" || { echo "host=$name is run by no test"; rc=1; }
	done
	return $rc
}

mkdir "$tmp/reader"
follow
check "what needs systemd or the driver is run in a machine" in_the_machine
check "lab down" lab down
done_testing
