#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The form of sources. User code: spaces and indentation as clang-format sets them (form.py).
# kernel/: checkpatch.pl --strict, of the kernel source that guests are built from.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/static/seen.sh
. tests/static/seen.sh

top=$PWD

# tracked PATTERN...: sources, without links and without what generate.py makes
tracked() {
	local f
	git -c safe.directory='*' ls-files "$@" | while IFS= read -r f; do
		[[ -L $f || $f == include/uapi/torus_abi.h ]] || printf '%s\n' "$f"
	done
}

# accepted FILE: prints the remarks on standard input that the file does not have; fails if any
accepted() { ! sed -E 's/:[0-9]+: indentation/: indentation/' | grep -vxFf "$1"; }

# --- clang-format --------------------------------------------------------------------

form() {
	unseen form "$(clang-format --version; cat .clang-format "$top/tests/static/form.py")" \
		python3 "$top/tests/static/form.py"
}

user_code() {
	tracked 'daemon/*.[ch]' 'lib/*.[ch]' 'tools/*.[ch]' 'tests/*.[ch]' 'include/torus/*.h' | form |
		accepted tests/static/form.txt
}

sample() { printf '%b' "$1" >"$tmp/sample.c"; cp .clang-format "$tmp"; }

# remarks SOURCE REMARK: form.py prints this remark on the source, and no other
remarks() {
	sample "$1"
	(cd "$tmp" && python3 "$top/tests/static/form.py" sample.c) >"$tmp/out"
	cat "$tmp/out"
	[[ $(<"$tmp/out") == "$2" ]]
}

form_noticed() {
	local good='int f(int new)\n{\n\tif (new && g(1,\n\t\t     new))\n\t\tnew = -1;\n\treturn new;\n}\n'
	remarks "$good" '' &&
		remarks "${good/if (new/if(new}" "sample.c: spaces: '{ if(new_ &&' should be '{ if (new_ &&'" &&
		remarks "${good/new = -1/new=-1}" "sample.c: spaces: 'new_)) new_=-1; return' should be 'new_)) new_ = -1; return'" &&
		remarks "${good/\\treturn/        return}" "sample.c:6: indentation: return new_;"
}

# --- columns -------------------------------------------------------------------------

# too_long FILE...: prints FILE:LINE of each line with more than 100 columns; fails if there is one
too_long() {
	python3 -c 'if 1:
		import sys
		found = False
		for name in sys.argv[1:]:
			with open(name, encoding="utf-8") as f:
				for n, line in enumerate(f, 1):
					if len(line.rstrip("\n").expandtabs(8)) > 100:
						print("%s:%d" % (name, n))
						found = True
		sys.exit(found)' "$@"
}

short_lines() {
	local files
	mapfile -t files < <(tracked 'daemon/*.[ch]' 'lib/*.[ch]' 'tools/*.[ch]')
	too_long "${files[@]}"
}

long_noticed() {
	printf '%100s\n\t%93s\na\t%92s\nµ%99s\n' x x x x >"$tmp/sample.c"
	! too_long "$tmp/sample.c" >"$tmp/out" && [[ $(<"$tmp/out") == "$tmp/sample.c:2" ]]
}

# --- checkpatch ------------------------------------------------------------------------

# The three files of checkpatch.pl, from the unpacked source of tests/vm/kernel or its package.
get_checkpatch() {
	local cache=${TORUS_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/torus-tests} dir
	mkdir -p "$tmp/scripts"
	for dir in "$cache"/source-*/scripts; do
		[[ -f $dir/checkpatch.pl ]] || continue
		cp "$dir"/{checkpatch.pl,spelling.txt,const_structs.checkpatch} "$tmp/scripts"
		return
	done
	[[ -f /usr/src/linux-source-6.1.tar.xz ]] || return
	tar -C "$tmp" --strip-components=1 -xf /usr/src/linux-source-6.1.tar.xz \
		linux-source-6.1/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch}
}

# Types that are not asked for: British spelling; macros of lists, whose arguments are names; BIT(),
# which freestanding sources do not have; locks, which kernel-doc describes; _Static_assert.
ignored=TYPO_SPELLING,MACRO_ARG_REUSE,BIT_MACRO,UNCOMMENTED_DEFINITION,CAMELCASE

# patches: "FILE TYPE" of what checkpatch.pl says of the files named on standard input
patches() {
	unseen checkpatch "$(cat "$tmp"/scripts/*)" perl "$tmp/scripts/checkpatch.pl" --no-tree --strict \
		--no-summary --terse --show-types --max-line-length=100 --ignore "$ignored" -f |
		sed -nE 's/^([^:]*):[0-9]*: [A-Z]*:([A-Z_]*):.*/\1 \2/p'
}

kernel_code() {
	tracked 'kernel/*.[ch]' | grep -vE '^kernel/(kunit/|genl_policy\.|req/(rules|trees)\.)' | patches |
		accepted tests/static/checkpatch.txt
}

patches_noticed() {
	printf '// SPDX-License-Identifier: GPL-2.0-only\nint f(int a)\n{\n\tif(a)\n\t\treturn a;\n\treturn 0;\n}\n' \
		>"$tmp/sample.c"
	[[ $(echo "$tmp/sample.c" | patches) == "$tmp/sample.c SPACING" ]]
}

check "lines of more than 100 columns are found" long_noticed
check "lines of daemon/, lib/ and tools/ have at most 100 columns" short_lines
if command -v clang-format >/dev/null; then
	check "wrong spaces and indentation are found" form_noticed
	check "user code has the spaces and the indentation of .clang-format" user_code
else
	skip "user code has the spaces and the indentation of .clang-format" "no clang-format"
fi
get_checkpatch
if [[ -f $tmp/scripts/checkpatch.pl ]]; then
	check "checkpatch.pl works" patches_noticed
	check "checkpatch.pl --strict accepts kernel/, but for checkpatch.txt" kernel_code
else
	skip "checkpatch.pl --strict accepts kernel/" "no kernel source"
fi
done_testing
