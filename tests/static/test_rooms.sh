#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The rooms of the manager, as daemon/fm/README.md describes them: without this the parts
# would grow together again, one include at a time, and none could be understood or tested alone.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

# silent COMMAND...: it has nothing to say
silent() {
	"$@" >"$tmp/silent" 2>&1
	[[ ! -s $tmp/silent ]] || { cat "$tmp/silent"; return 1; }
}

# includes DIR: "FILE INCLUDED" for each include of a header of the manager in DIR
includes() {
	(cd "$1" && awk -F '"' '/^[ \t]*#[ \t]*include[ \t]*"/ {
		sub(/^daemon\/fm\//, "", $2)
		print FILENAME, $2
	}' ./*.[ch] ./*/*.[ch]) | sed 's|^\./||'
}

# Prints includes that the rooms of daemon/fm must not have. Files outside of the rooms may use all,
# but headers no root/.
wrong_rooms() {
	includes "$1" | awk '
		function room(f) { return f ~ /\// ? substr(f, 1, index(f, "/") - 1) : "" }
		room($1) == "node" && room($2) == "root" ||
		room($1) == "" && $1 ~ /h$/ && room($2) ~ /node|root/ ||
		room($1) == "wire" && room($2) !~ "^(wire|lib)$" { print $1 " includes " $2 }'
}

# A file and its header are one.
circles() {
	includes "$1" | awk '
		function part(f) { sub(/\.[ch]$/, "", f); return f }
		{ a = part($1); b = part($2) }
		$1 ~ /\// && a != b { print b, a }' | { tsort >/dev/null; } 2>&1
}

# Each .c file has a header, which somebody who reads it can keep in mind. Lines that only explain
# do not count, so that no comment is made cryptic to fit.
# wire/msg.h is no such part: it lists all messages.
headers() {
	local f lines
	for f in "$1"/*/*.c; do
		[[ -e ${f%c}h ]] || echo "$f has no header"
	done
	for f in "$1"/*/*.h; do
		[[ $f != */wire/msg.h ]] || continue
		lines=$(grep -vcE '^[[:space:]]*(/?\*|$)' "$f")
		((lines < 80)) || echo "$f has $lines lines"
	done
}

# dependence CHECK DIR: what rooms.py says of DIR
dependence() { python3 tests/static/rooms.py "$@"; }

# The checks see what they are to see.
faults_seen() {
	local d=$tmp/fm
	rm -rf "$d"
	cp -r daemon/fm "$d" || return 1
	echo '#include "daemon/fm/root/statements.h"' >>"$d/node/rows.h"
	[[ $(wrong_rooms "$d") == 'node/rows.h includes root/statements.h' ]] || return 1
	echo '#include "daemon/fm/node/log.h"' >>"$d/wire/init.c"
	[[ $(wrong_rooms "$d") == *'wire/init.c includes node/log.h'* ]] || return 1
	[[ -z $(circles "$d") ]] || return 1
	echo '#include "daemon/fm/node/member.h"' >>"$d/node/table.c"
	[[ $(circles "$d") == *node/table* ]] || return 1
	echo 'bool f(const struct fm *fm) { return fm_discover_shape(0, 0); }' >>"$d/node/rows.c"
	[[ $(dependence calls "$d") == 'node/rows.c calls fm_discover_shape() and'*root/discover.h ]] ||
		return 1
	echo 'bool g(const struct fm *fm) { return fm_node(fm, 0); }' >>"$d/node/rows.c"
	[[ $(dependence up "$d") == 'node/rows.c calls fm_node() of status.c' ]] || return 1
	echo '#include "daemon/fm/root/join.h"' >>"$d/root/tally.c"
	[[ $(dependence order "$d") == *'table includes member.h,'*'tally includes join.h, which is below it'* ]] ||
		return 1
	yes 'int f(void);' | head -n 80 >>"$d/node/rows.h"
	: >"$d/node/new.c"
	[[ $(headers "$d") == *'new.c has no header'*'rows.h has '* ]]
}

check 'root/ includes node/, both include wire/, and nothing the other way' silent wrong_rooms daemon/fm
check 'no two files of the manager include each other, in whatever way' silent circles daemon/fm
check 'no file of a room calls fm.c or status.c, which stand on the rooms' dependence up daemon/fm
check 'each file includes the headers of all functions that it calls' dependence calls daemon/fm
check 'a file of node/ or root/ uses only files above it in the README.md there' dependence order daemon/fm
check 'each file of the manager has a short header' silent headers daemon/fm
check 'a wrong include, a hidden one, a circle and a long header are noticed' faults_seen
done_testing
