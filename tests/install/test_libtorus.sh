#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# libtorus as a user of the installed library sees it: headers, pkg-config,
# shared and static linking, symbols.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-build}
# shellcheck source=tests/check.sh
. tests/check.sh

# Also elsewhere than where the library was built for.
install_lib() {
	make -s B="$B" install-lib PREFIX="$tmp/usr" DESTDIR=
}

cat > "$tmp/user.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <torus/fabric.h>
#include <torus/map.h>
#include <torus/route.h>
#include <torus/topology.h>
#include <torus/torus.h>

int main(void)
{
	char text[TORUS_TEXT_MAX];
	struct torus_shape shape;
	uint64_t rows[16];
	uint16_t excluded[16];
	struct torus_dev *dev;
	uint32_t hops;

	memset(excluded, 0, sizeof(excluded));
	if (torus_shape_parse("4x4", &shape) || torus_nodes(&shape) != 16)
		return 1;
	if (strcmp(torus_node_text(&shape, 6, text), "2,1"))
		return 2;
	if (torus_route_rows(&shape, excluded, 0, rows) ||
	    torus_walk(&shape, excluded, 0, 6, rows[6], NULL, 0, &hops) !=
	    TORUS_WALK_ARRIVED || hops != 3)
		return 3;
	if (torus_open("unix:/nonexistent", &dev) == 0 || !*torus_error(NULL))
		return 4;
	return strcmp(torus_port_counters[TORUS_PC_TX_PACKETS].name, "tx_packets") ? 5 : 0;
}
C

# flags FOR: what pkg-config says, as an array
flags() {
	local words
	words=$(PKG_CONFIG_PATH=$tmp/usr/lib/pkgconfig pkg-config --cflags --libs "$@" libtorus) ||
		return
	read -ra flags <<< "$words"
}

shared_c() {
	flags && gcc -std=c99 -pedantic-errors -Wall -Wextra -Werror -o "$tmp/shared" \
		"$tmp/user.c" "${flags[@]}" && LD_LIBRARY_PATH=$tmp/usr/lib "$tmp/shared" &&
		readelf -d "$tmp/shared" | grep -q 'NEEDED.*\[libtorus\.so\.0\]'
}

shared_cxx() {
	flags && g++ -Wall -Wextra -Werror -o "$tmp/cxx" -x c++ "$tmp/user.c" -x none \
		"${flags[@]}" && LD_LIBRARY_PATH=$tmp/usr/lib "$tmp/cxx"
}

static_c() {
	flags --static && gcc -o "$tmp/static" "$tmp/user.c" "${flags[@]/#-ltorus/-l:libtorus.a}" &&
		env -u LD_LIBRARY_PATH "$tmp/static" && ! readelf -d "$tmp/static" | grep libtorus
}

# Each header is enough by itself, in C and in C++; mpix.h includes that of an MPI.
headers() {
	local h mpi
	read -ra mpi < <(pkg-config --cflags mpich | sed 's/-I/-isystem /g')
	for h in "$tmp"/usr/include/torus/*.h; do
		[[ -L $h ]] && { echo "$h is a link"; return 1; }
		gcc -std=c99 -Wall -Werror -fsyntax-only -I"$tmp/usr/include" "${mpi[@]}" -x c "$h" &&
			g++ -Wall -Werror -fsyntax-only -I"$tmp/usr/include" "${mpi[@]}" -x c++ "$h" || return
	done
}

declared() { # without what the headers define themselves
	grep -hoE '\btorus_[a-z0-9_]+\(|\btorus_[a-z]+_(counters|gauges)\b' \
		"$tmp"/usr/include/torus/*.h | tr -d '(' | sort -u |
		grep -vxFf <(sed -n 's/^static inline .*\b\(torus_[a-z0-9_]*\)(.*/\1/p' \
			"$tmp"/usr/include/torus/*.h)
}

# Exported is what the headers declare, all of it versioned, and nothing else.
symbols() {
	diff <(declared | sed 's/$/@@TORUS_0.1/' | sort) \
		<(nm -D --defined-only "$tmp/usr/lib/libtorus.so.0" |
			awk '$2 != "A" { print $3 }' | sort -u)
}

# The static library must not take names that its users may want.
prefixes() {
	! nm -g --defined-only "$tmp/usr/lib/libtorus.a" |
		awk 'NF == 3 && $3 !~ /^(torus|lt|tn)_/ { print $3 }' | grep .
}

check "libtorus installs into the given directories" install_lib
check "a C program links the shared libtorus" shared_c
check "a C++ program links the shared libtorus" shared_cxx
check "a C program links the static libtorus" static_c
check "libtorus headers stand alone" headers
check "libtorus exports what its headers declare" symbols
check "libtorus defines only names with its prefixes" prefixes
done_testing
