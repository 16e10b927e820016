#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torus.ko builds without a word from compiler (W=1) and sparse, against the headers
# of every kernel that is installed.

set -u
cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-$PWD/build}
status=0 n=0

for dir in ${KDIRS:-/lib/modules/*/build}; do
	[[ -e $dir/Makefile ]] || continue
	krel=$(make -s -C "$dir" kernelrelease 2>/dev/null | tail -n 1)
	n=$((n + 1))
	# Nothing built before, so that every file is looked at. BTF would need vmlinux.
	out=$(make -s --no-print-directory B="$B/check" KREL="$krel" KDIR="$dir" SPARSE=1 \
		TORUS_CFLAGS=-Werror CONFIG_DEBUG_INFO_BTF_MODULES= modules 2>&1 |
		grep -v '^  KBUILD')
	if [[ -z $out && -e $B/check/kmod-$krel/torus.ko ]]; then
		echo "ok - torus.ko for $krel: no warnings"
	else
		printf 'not ok - torus.ko for %s: no warnings\n%s\n' "$krel" "$out"
		status=1
	fi
	rm -rf "$B/check/kmod-$krel"
done
((n)) || { echo "not ok - no kernel headers to build the driver against"; status=1; }
exit $status
