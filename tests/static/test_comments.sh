#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Comments above functions, structures and objects name their subjects (comments.py).

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

judge=$PWD/tests/static/comments.py

sources() {
	git -c safe.directory='*' ls-files '*.[ch]' '*.sh' tests/run tests/apart | while IFS= read -r f; do
		[[ -L $f ]] || printf '%s\n' "$f"
	done
}
named() { sources | xargs -d '\n' python3 "$judge"; }
found() { [[ $(sources | wc -l) -gt 1000 ]]; }

# begun FILE...: at most 10 lines of comments in these files, also in functions, begin with such a word
begun() {
	grep -HnE '^[[:blank:]]*(/\*\*?|\*|//)[[:blank:]]+(Who|What|Of|Nobody|Else|Whether)\>' "$@" >"$tmp/begun"
	(($(wc -l <"$tmp/begun") <= 10)) || { cat "$tmp/begun"; return 1; }
}
few_begun() {
	local files
	mapfile -t files < <(sources | grep '\.[ch]$')
	begun "${files[@]}"
}
begun_noticed() {
	printf '\t/* Whether it fails. */\n\t * Of two\n%.0s' {1..5} >"$tmp/begun.c"
	printf '\t/* Often */\n\tx = y; /* Who */\n' >>"$tmp/begun.c"
	begun "$tmp/begun.c" || return 1
	printf '\t// Nobody\n' >>"$tmp/begun.c"
	! begun "$tmp/begun.c" >"$tmp/out" && (($(wc -l <"$tmp/out") == 11))
}

# remarks NAME SOURCE [LINE WORD]: the check finds this comment in the source, and no other
remarks() {
	printf '%b' "$2" >"$tmp/$1"
	(cd "$tmp" && python3 "$judge" "$1") >"$tmp/out"
	cat "$tmp/out"
	[[ $(<"$tmp/out") == "${3:+"$1:$3: begins with '$4': name the subject"}" ]]
}

noticed() {
	remarks a.c 'int a;\n/* It fails. */\nint f(void);\n' 2 It &&
		remarks a.c '/*\n * One that fails\n * is lost.\n */\nint f(void);\n' 2 One &&
		remarks a.h '/** struct s - a thing */\nstruct s;\n/** Those that fail */\nint f(void);\n' 3 Those &&
		remarks a.sh '#!/bin/bash\n\n# Nor does it\n# work.\nf() { :; }\n' 3 Nor
}
accepted() {
	remarks a.c '/* One link fails. */\nint f(void);\n/* Item */\nint g(void)\n{\n\t/* It may. */\n}\n' &&
		remarks a.sh '#!/bin/bash\n\n# A node fails, and\n# it comes back.\n'
}

check "there are sources to look at" found
check "comments at the margin begin with their subject, not with a pronoun" named
check "a comment that begins with a pronoun or a conjunction is found" noticed
check "few lines of comments begin with Who, What, Of, Nobody, Else or Whether" few_begun
check "the eleventh such line is found" begun_noticed
check "a number, a comment in a function and a second line are no pronouns" accepted
done_testing
