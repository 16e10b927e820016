#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Folders include only those that includes.txt allows, and includes.py notices when one does not.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

rules=tests/static/includes.txt
judge=$PWD/tests/static/includes.py

keeps_the_rules() { python3 "$judge"; }

# noticed SED WORDS: with the rules so changed, that is what it says
noticed() {
	sed "$1" $rules >"$tmp/rules"
	! cmp -s $rules "$tmp/rules" || return 1
	! python3 "$judge" "$tmp/rules" >"$tmp/out" && grep -F "$2" "$tmp/out"
}

# A tree of two folders, each of which includes the other's header.
circle_noticed() {
	mkdir -p "$tmp/tree/one" "$tmp/tree/two"
	echo '#include "two/b.h"' >"$tmp/tree/one/a.h"
	echo '#include "one/a.h"' >"$tmp/tree/two/b.h"
	printf 'one: two\ntwo: one\n' >"$tmp/circle"
	! (cd "$tmp/tree" && python3 "$judge" "$tmp/circle") >"$tmp/out" &&
		grep -F "one is in a circle of folders" "$tmp/out"
}

# The README of a folder says what belongs into it. The headers of the worlds and the ABI say it
# themselves.
readmes() {
	local folder lacks=0
	for folder in $(sed -n 's/^\([a-z][a-z_/]*\):.*/\1/p' "$1") tools; do
		[[ $folder == include/* || $folder == */@(deps|compat) || -s $folder/README.md ]] && continue
		echo "$folder has no README.md"
		lacks=1
	done
	return $lacks
}
lack_noticed() {
	printf 'kernel/core:\nkernel/core/none:\n' >"$tmp/lacks"
	! readmes "$tmp/lacks" >"$tmp/out" && grep -xF "kernel/core/none has no README.md" "$tmp/out"
}

# Without sources there is nothing that could keep a rule.
nothing_is_no_success() {
	mkdir -p "$tmp/empty"
	: >"$tmp/none"
	! (cd "$tmp/empty" && python3 "$judge" "$tmp/none")
}

check "folders include only what includes.txt allows, without circles" keeps_the_rules
check "an include that is not allowed is noticed" noticed \
	's|^daemon/fm/root: daemon/fm/node|daemon/fm/root:|' "daemon/fm/root/judge.c: may not include daemon/fm/node/"
check "a single header that is allowed does not allow the others" noticed \
	's|^lib/route: include/torus kernel/core/route.h|lib/route: include/torus|' \
	"may not include kernel/core/route.h"
check "a rule that no include needs is noticed" noticed \
	's|^lib/util:|lib/util: daemon|' "lib/util includes nothing of daemon"
check "a folder without a rule is noticed" noticed \
	'/^lib\/route:/d' "includes.txt says nothing of the folder lib/route"
check "a circle of folders is noticed" circle_noticed
check "each folder says in its README what belongs into it" readmes $rules
check "a folder without a README is noticed" lack_noticed
check "a tree without sources is a failure" nothing_is_no_success
done_testing
