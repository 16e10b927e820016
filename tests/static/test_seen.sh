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
check "new files are checked" new_files
check "files without remarks are not checked again" no_change
check "a changed file is checked again" change
check "a file that becomes what it was is not checked again" change_back
check "a file of another name with the same content is checked" other_name
check "a file with a remark is checked each time" remark
check "files are checked again if the checker failed" failure
check "another version of the checker checks all files" other_version
check "another checker checks all files" other_checker
check "another command checks all files" other_command
check "many files are checked" many
check "a call without files succeeds" nothing
check "a text is remembered only for its checker" text
done_testing
