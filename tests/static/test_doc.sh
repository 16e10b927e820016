#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# One command makes HTML of the documents and manual pages (make doc), and notices links that lead
# nowhere.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

made() {
	make -s doc B="$tmp/build" && [ -s "$tmp/build/doc/index.html" ] &&
		grep -q 'href="man/fabricctl.8.html"' "$tmp/build/doc/index.html" &&
		grep -q 'id="replace-a-cable"' "$tmp/build/doc/doc/OPERATIONS.html" &&
		grep -q 'href="../man/fabricctl.8.html"' "$tmp/build/doc/doc/OPERATIONS.html" &&
		grep -q 'href="TUTORIAL.html"' "$tmp/build/doc/doc/RESEARCH.html"
}

# Each document in doc/ is in the package of either kind.
packaged() {
	diff <(ls doc/*.md) <(grep '^doc/' debian/torus-doc.docs) &&
		diff <(ls doc/*.md) <(sed -n 's/^%doc //p' tools/packaging/torus.spec | tr ' ' '\n' | grep '^doc/')
}

# notices TEXT LINE: that is an error, once the tutorial has that line
notices() {
	rm -rf "$tmp/top" && mkdir -p "$tmp/top/doc" && cp README.md "$tmp/top/" && cp doc/* "$tmp/top/doc/" &&
		echo "$2" >>"$tmp/top/doc/TUTORIAL.md" || return 1
	! "$tmp/top/doc/pages.py" "$tmp/out" 2>"$tmp/said" && grep -F -- "$1" "$tmp/said"
}

check "make doc works" made
check "all documents are in the package torus-doc" packaged
check "a link to a file that does not exist is noticed" notices 'doc/TUTORIAL.html: there is no doc/NONE.html' '[x](NONE.md)'
check "a link to a heading that does not exist is noticed" notices 'doc/OPERATIONS.html has no heading #none' '[x](OPERATIONS.md#none)'
done_testing
