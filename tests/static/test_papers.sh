#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# doc/PAPERS.md lists where each claim of the papers is built and tested, and how to see it: all
# that it names exists. The checker itself finds files, tests, commands, options and states that do
# not.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
TOP=$PWD
# shellcheck source=tests/check.sh
. tests/check.sh

papers() { python3 tests/static/papers.py "$TOP" "$@"; }

# tells WHAT FROM TO: it says WHAT if FROM is replaced by TO in the file
tells() {
	sed "s#$2#$3#" doc/PAPERS.md >"$tmp/papers.md"
	! cmp -s doc/PAPERS.md "$tmp/papers.md" || { echo "# nothing has '$2'"; return 1; }
	papers "$tmp/papers.md" >"$tmp/out" && { echo "# '$3' passes"; return 1; }
	grep -qF -- "$1" "$tmp/out" || { echo "# said: $(cat "$tmp/out")"; return 1; }
}

wrong() {
	tells "there is no kernel/core/rain.c" 'kernel/core/train.c' 'kernel/core/rain.c' &&
		tells "there is no test test_cradit" test_credit test_cradit &&
		tells "'lab vbx' is no command" 'lab vb' 'lab vbx' &&
		tells "has no option --figures" 'availability --figure`' 'availability --figures`' &&
		tells "status 'done'" '| built |$' '| done |' &&
		tells "no file is named" '| C2 | for each virtual channel | `kernel/core/credit.h`' '| C2 | for each virtual channel | ' &&
		tells "E3: is inferred, and no reason is given" '^- [*][*]E3[*][*]: ' '- E3: ' &&
		tells "K15: a reason is given, but it is not inferred" '^\(| K15 .*\) inferred |$' '\1 differs |' &&
		tells "is inferred, and no test is named" '`test_grow`' '' &&
		tells "stands twice" '^| B2 |' '| B1 |' &&
		tells "columns" '| B3 | CTTR' '| B3 | x | CTTR' &&
		tells "not in backquotes" '`unit/test_retry` `unit/test_link`' 'unit/test_retry `unit/test_link`' &&
		tells "is in netns and unit: name the folder" unit/test_retry test_retry &&
		tells "there is no test vm/test_retry" unit/test_retry vm/test_retry &&
		tells "no rows" '^| [A-Z][0-9]* |' '| - |'
}

check "all files and tests that doc/PAPERS.md names exist" papers
check "a file or test that does not exist is noticed" wrong
done_testing
