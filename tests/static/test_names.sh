#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Headers declare what other files use, and no function has the name of another one of libtorus.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

judge=$PWD/tests/static/names.py

says_nothing() { python3 "$judge" "$1"; }

# says RULE LINE: of the tree in $tmp/tree
says() { (cd "$tmp/tree" && ! python3 "$judge" "$1" >"$tmp/out"); cat "$tmp/out"; grep -qxF "$2" "$tmp/out"; }

tree() {
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/include/torus" "$tmp/tree/lib" "$tmp/tree/tools/one"
	echo 'int torus_open(const char *name);' >"$tmp/tree/include/torus/torus.h"
	echo 'int torus_open(const char *name) { return 0; }' >"$tmp/tree/lib/torus.c"
	echo 'int one(void);' >"$tmp/tree/tools/one/one.h"
	printf '#include "one.h"\nint one(void) { return 1; }\n' >"$tmp/tree/tools/one/one.c"
	printf '#include "one.h"\nint main(void) { return one(); }\n' >"$tmp/tree/tools/one/main.c"
}

# A tree that keeps the rules, and then breaks them.
alone_noticed() {
	tree && (cd "$tmp/tree" && python3 "$judge" alone) || return 1
	echo 'extern const char *const one_names[];	/* ended by NULL */' >>"$tmp/tree/tools/one/one.h"
	echo 'const char *const one_names[] = { 0 };' >>"$tmp/tree/tools/one/one.c"
	says alone "tools/one/one.h: one_names is used in tools/one/one.c alone" || return 1
	tree && echo 'int main(void) { return 0; } /* one() */' >"$tmp/tree/tools/one/main.c"
	says alone "tools/one/one.h: one is used in tools/one/one.c alone"
}

nowhere_noticed() {
	tree && echo 'void two(struct two *t, void (*each)(int));' >>"$tmp/tree/tools/one/one.h"
	says alone "tools/one/one.h: two is used in no file alone"
}

# An inline function uses it for all files.
inline_is_a_use() {
	tree && cat >>"$tmp/tree/tools/one/one.h" <<-E
		int three(void);
		static inline int four(void) { return three(); }
	E
	echo 'int three(void) { return 3; }' >>"$tmp/tree/tools/one/one.c"
	(cd "$tmp/tree" && python3 "$judge" alone)
}

twice_noticed() {
	tree && (cd "$tmp/tree" && python3 "$judge" twice) || return 1
	printf 'int torus_open(struct one *one,\n\t       int flags);\n' >>"$tmp/tree/tools/one/one.h"
	says twice "tools/one/one.h: torus_open is a function of libtorus"
}

check "headers declare only what another file uses" says_nothing alone
check "no function has the name of another one of libtorus" says_nothing twice
check "a function or an object that only its own file uses is noticed" alone_noticed
check "a function that is declared and not there is noticed" nowhere_noticed
check "an inline function of a header is a use" inline_is_a_use
check "a second function of the same name is noticed" twice_noticed
done_testing
