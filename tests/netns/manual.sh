# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Manuals as their reader would follow them: every command, in its order, on a lab, $lab. Comments in
# the text say what hands do to the hardware meanwhile (lab:), with which status the last command of
# the next block ends (exit:, else 0), and what its output has to match (prints:). Blocks "sh on=NODE"
# run on that node. Blocks "sh host=NAME" need systemd or the driver, and are left out here. Boxes
# "ini file=NAME" are files, which are checked. Sourced after lab.sh.

state_is() { [[ $(fabricctl status --json | jq -r '.state') == "$1" ]]; }
calm() { state_is "$1" && { [[ $1 != running ]] || fabricctl status --json | jq -e '.problems == []'; }; }
settles() { until_true $((40 * slow)) calm "$1"; }

errors_at() { fabricctl links --errors --json | jq -e --arg at "$1" 'any(.[]; .quality.level != "good" and
	"\(.peer.node | map(tostring) | join(",")):\(.peer.port)" == $at)'; }

# hands ACTION [WHAT] [STATE of the fabric after it]: does what the manual asks an administrator to
# do
hands() {
	local node nodes
	case $1 in
	up) lab up 4x4 "${patience[@]}" && export TORUS_LAB=$lab && settles running ;;
	cut | mend) lab "$1" "$2" && settles "$3" ;;
	kill) lab kill --power "$2" && settles "$3" ;;
	revive | replace) lab "$1" "$2" --timeout $((40 * slow)) && settles "$3" ;;
	down) lab down && unset TORUS_LAB ;;
	settle) settles "$2" ;;
	bad) until_true $((20 * slow)) errors_at "$2" ;;
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

# follow FILE MANY: checks the manual from its first line to its last one; it has more than MANY boxes
follow() {
	local line text='' inside='' section='' name='' count=0 manual=$1
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
	check "the manual has its examples, and ends outside of one" [ -z "$inside" -a $count -gt "$2" ]
}
