#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fabricweb links OpenSSL 3, whose licence does not go with GPL-2.0 alone: no such file may be part
# of it. Its page is small, and names no other server.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-$PWD/build}
# shellcheck source=tests/check.sh
. tests/check.sh

silent() {
	"$@" >"$tmp/silent" 2>&1 && [[ ! -s $tmp/silent ]] || { cat "$tmp/silent"; return 1; }
}

# The sources that the linked program was made of, by its debugging information
linked() {
	readelf --debug-dump=info --dwarf-depth=1 "$1" | sed -n 's/.*DW_AT_name.*: \(.*\.c\)$/\1/p' | sort -u
}

# The same with the headers that these include, without generated ones, which come from the specification
parts() {
	local c
	while IFS= read -r c; do
		echo "$c"
		sed -e 's/^[^:]*://' -e 's/\\$//' "$B/${c%.c}.o.d" | tr -s ' ' '\n'
	done < <(linked "$1") | grep -E '^[a-z].*\.[ch]$' | grep -v "/gen/" | sort -u
}

incompatible() {
	local f n=0
	while IFS= read -r f; do
		n=$((n + 1))
		head -n 5 "$f" | grep -qE 'SPDX.*(-or-later|WITH Linux-syscall-note)' || echo "$1: $f"
	done < <(parts "$1")
	((n > 15)) || echo "only $n sources found in $1"
}

# fabricctl has files under GPL-2.0 alone, so the same check must complain.
noticed() { incompatible "$B/fabricctl" | grep -q ': tools/fabricctl/main.c$'; }

page_small() {
	local size
	size=$(cat tools/fabricweb/page/* | wc -c)
	((size < 150000)) || echo "the page has $size bytes"
}
elsewhere() { grep -nHE '(https?:)?//[a-z0-9.-]+\.[a-z]' tools/fabricweb/page/* | grep -v 'http://www.w3.org/2000/svg'; :; }

check "all files of fabricweb have licences compatible with OpenSSL" silent incompatible "$B/fabricweb"
check "a file with an incompatible licence is noticed" noticed
check "the page has less than 150 kB" silent page_small
check "the page loads nothing from elsewhere" silent elsewhere
done_testing
