#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What seen.sh leaves out has not changed since the checker was silent about it.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/static/seen.sh
. tests/static/seen.sh

TORUS_TEST_CACHE=$tmp/cache
cd "$tmp" || exit 2

# A checker that notes what it looks at, and prints the lines that have "wrong" in them.
checker() {
	printf '%s\n' "$@" >>looked
	((!crashes)) && ! grep -H wrong "$@"
}
same_checker() { checker "$@"; }

# looks WANT FILE...: the checker looks at these files, of those
looks() {
	rm -f looked
	: >files
	(($# == 1)) || printf '%s\n' "${@:2}" >files
	unseen "$name" "$key" "$checker" <files >said
	rc=$?
	touch looked
	[[ $(sort looked | xargs) == "$1" ]] || { echo "it looked at: $(xargs <looked)"; return 1; }
}
name=words key='version 1' checker=checker crashes=0

new_files() { looks 'a b c' a b c && [[ $rc == 0 ]]; }
no_change() { looks '' a b c && [[ $rc == 0 ]]; }
change() { echo 'more' >>b && looks 'b' a b c && looks '' a b c; }
change_back() { cp b b.new && echo 'b' >b && looks '' a b c && mv b.new b; }
other_name() { cp a d && looks 'd' a b c d; }
remark() {
	echo 'wrong' >>c
	looks 'c' a b c && [[ $rc == 1 && $(<said) == c:wrong ]] &&
		looks 'c' a b c && [[ $rc == 1 && $(<said) == c:wrong ]]
}
failure() { echo 'new' >>a && crashes=1 looks 'a' a b && [[ $rc == 1 ]] && looks 'a' a b; }
other_version() { key='version 2' looks 'a b' a b && looks '' a b; }
other_checker() { name=signs looks 'a b' a b; }
other_command() { checker=same_checker looks 'a b' a b && checker=same_checker looks '' a b; }
# The last of 20 files is wrong: it and those that were looked at with it are looked at again.
many() {
	local n
	for n in {10..29}; do echo "$n" >"f$n"; done
	echo wrong >>f29
	looks "$(echo f{10..29})" f{10..29} && [[ $rc == 1 ]] && looks "$(echo f{26..29})" f{10..29}
}
nothing() { looks '' && [[ $rc == 0 ]]; }
text() {
	! remembered words 'text 1' && remember words 'text 1' && remembered words 'text 1' &&
		! remembered words 'text 2' && ! remembered words 'text' && ! remembered signs 'text 1' &&
		remember words 'text 2' && remembered words 'text 1' && remembered words 'text 2'
}

echo a >a && echo b >b && echo c >c
check "new files are looked at" new_files
check "those without remarks are not looked at again" no_change
check "a file that changes is" change
check "not if it becomes what it was" change_back
check "a file of another name is, with the same content" other_name
check "a remark is made again and again" remark
check "a checker that fails has not looked" failure
check "another version looks at all" other_version
check "another checker, too" other_checker
check "another command, too" other_command
check "many files" many
check "no files" nothing
check "a text is remembered for its checker" text
done_testing
