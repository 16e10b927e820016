#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Headers declare what other files use, no function has the name of another one of libtorus, and
# static functions have names of more than one word that only their own file defines.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

judge=$PWD/tests/static/names.py

is_column_empty() { python3 "$judge" "$1"; }

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

# statics N: N more static functions, each with a name of its own
statics() {
	local i
	for ((i = 0; i < $1; i++)); do
		printf 'static int\tmake_thing_%d(void) { return 0; }\n' "$i"
	done >>"$tmp/tree/lib/torus.c"
}

# Two of 50 are 4 %, two of 100 are 2 %. Functions of tests and suites do not count.
shared_noticed() {
	local f
	tree && mkdir -p "$tmp/tree/tests" "$tmp/tree/kernel/kunit" && statics 48 || return 1
	for f in tests kernel/kunit; do
		echo 'static int make_thing_1(void) { return 0; }' >"$tmp/tree/$f/more.c"
	done
	(cd "$tmp/tree" && python3 "$judge" shared) || return 1
	for f in lib/torus.c tools/one/one.c; do
		printf 'static __attribute__((format(printf, 1, 2)))\nvoid *put_line(const char *f, ...);\n' \
			>>"$tmp/tree/$f"
	done
	says shared "names that several files define: 2 of 50 static functions, above 3%" || return 1
	says shared "tools/one/one.c: put_line" || return 1
	sed -i 's/make_thing_/do_thing_/' "$tmp/tree/lib/torus.c" && statics 50
	(cd "$tmp/tree" && python3 "$judge" shared)
}

words_noticed() {
	tree && statics 93 || return 1
	printf 'static int w%d(void)\n{\n}\n' 1 2 3 4 5 6 >>"$tmp/tree/tools/one/one.c"
	says words "names of one word: 6 of 99 static functions, above 6%" || return 1
	says words "tools/one/one.c: w1" || return 1
	echo 'static int hundredth_of_all(void) { return 0; }' >>"$tmp/tree/tools/one/one.c"
	(cd "$tmp/tree" && python3 "$judge" words)
}

check "headers declare only what another file uses" is_column_empty alone
check "no function has the name of another one of libtorus" is_column_empty twice
check "few static functions share their name with one of another file" is_column_empty shared
check "few static functions have a name of one word" is_column_empty words
check "a function or an object that only its own file uses is noticed" alone_noticed
check "a function that is declared but not defined is noticed" nowhere_noticed
check "an inline function of a header is a use" inline_is_a_use
check "a second function of the same name is noticed" twice_noticed
check "too many names that several files define are noticed" shared_noticed
check "too many names of one word are noticed" words_noticed
done_testing
