#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each kind of problem and of event in the sources of fabricd has its entry in fabricd(8), and each
# key of its configuration has one in fabricd.conf(5). An admin looks there for what a kind means.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

page=daemon/fabricd.8
past=tools/fabricctl/past.c

# sources: the daemon's C files on one line each
sources() {
	local file

	for file in daemon/*.c daemon/fm/*.c daemon/fm/*/*.c; do
		tr '\n\t' '  ' <"$file"
		echo
	done
}

# texts PATTERN: what PATTERN, with one group, finds in the sources
texts() { sources | grep -aoP "$1" | sort -u; }

problems() {
	texts '(fm_problem_set\(fm|fm_problem_of\(fm, [^,"]*|add_problem\(list), "\K[a-z]+'
	# of files that name their kind once
	sources | grep -aP 'fm_problem_set\(fm, (KIND|kind),' |
		grep -aoP '(define KIND|char kind\[\] =) "\K[a-z]+'
}

events() {
	texts 'fm_log(_of)?\(fm, [^"]*? "\K[a-z]+(?=",)'
	texts 'fabricd_event\([^;]*?, *"\K[a-z]+(?=", [a-z_>-]+\);)'
	texts '"kind", "\K[a-z]+'
	texts '\.kind = "\K[a-z]+(?=",)'
}

# lacks SECTION KIND...: the kinds that have no entry in SECTION of the page
lacks() {
	local section=$1 kind

	shift
	sed -n "/^\.SH $section\$/,/^\.SH /p" "$page" >"$tmp/section"
	for kind in "$@"; do
		grep -qx "\.B $kind" "$tmp/section" || echo "$kind"
	done
}

# An event that has the kind of a problem is told of there.
has_problems() {
	local all

	mapfile -t all < <(problems | sort -u)
	[ ${#all[@]} -ge 20 ] && [ -z "$(lacks PROBLEMS "${all[@]}" | tee /dev/stderr)" ]
}

has_events() {
	local all

	mapfile -t all < <(events | sort -u)
	[ ${#all[@]} -ge 10 ] || return 1
	mapfile -t all < <(lacks EVENTS "${all[@]}")
	[ -z "$(lacks PROBLEMS "${all[@]}" | tee /dev/stderr)" ]
}

# words FILE BEGIN END: the lower-case words between two patterns
words() {
	tr '\n' ' ' <"$1" | grep -aoPe "$2\K.*?(?=$3)" | grep -oE '[a-z]+' | sort -u
}

# fabricctl events takes each kind, and no other; the completion offers each.
takes_kinds() {
	local all

	all=$({ problems; events; } | sort -u)
	diff <(echo "$all") <(words "$past" 'define KINDS' '/\*') >&2 &&
		diff <(echo "$all") <(words tools/fabricctl/fabricctl.bash "--kind\) words='" "'") >&2 &&
		diff <(echo "$all") <(words tools/fabricctl/fabricctl.zsh 'kind \]\] \|\| words=\(' '\)') >&2
}

has_keys() {
	local key n=0 wrong=0

	for key in $(grep -aoP '^\t(\{ "(timers|links)?", "|TIME_KEY\()\K[a-z_0-9]+' daemon/config.c); do
		n=$((n + 1))
		grep -qP "^\.BR? $key( |\$)" daemon/fabricd.conf.5 || { echo "$key" >&2; wrong=1; }
	done
	[ "$n" -ge 30 ] && [ "$wrong" = 0 ]
}

# notices SED CHECK: CHECK fails with the page so changed
notices() {
	local page=$tmp/page

	sed "$1" daemon/fabricd.8 >"$page"
	! cmp -s daemon/fabricd.8 "$page" && ! "$2" 2>/dev/null
}

check "each kind of problem is in fabricd(8)" has_problems
check "each kind of event is in fabricd(8)" has_events
check "fabricctl events accepts each kind of event and problem" takes_kinds
check "each key is in fabricd.conf(5)" has_keys
check "a problem that the page lacks is noticed" notices '/^\.B wiring$/d' has_problems
check "an event that the page lacks is noticed" notices '/^\.B line$/d' has_events
lacks_kind() {
	local past=$tmp/past

	sed 's/ flap / /' tools/fabricctl/past.c >"$past"
	! takes_kinds 2>/dev/null
}
check "a kind that fabricctl does not accept is noticed" lacks_kind
done_testing
