#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torus.ko builds without a word from compiler (W=1) and sparse, against the headers
# of every kernel that is installed, and of the newest that Debian has beside it.

set -u
cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-$PWD/build}
status=0 n=0

next=$(tests/vm/kernel next)
(($? != 3)) || echo "ok - torus.ko for a newer kernel # SKIP apt knows of none"

# Commands in the form that netlink has since 6.2, where it has it.
split_ops() {
	local headers
	headers=$(sed -n 's|^include \(.*\)/Makefile$|\1|p' "$1/Makefile")/include/net/genetlink.h
	! grep -qs '^struct genl_split_ops {' "$headers" ||
		grep -q -- -DTORUS_HAS_GENL_SPLIT_OPS "$2/kernel/.genl.o.cmd"
}

for dir in ${KDIRS:-/lib/modules/*/build ${next:+"$next/build"}}; do
	[[ -e $dir/Makefile ]] || continue
	krel=$(make -s -C "$dir" kernelrelease 2>/dev/null | tail -n 1)
	n=$((n + 1))
	# Nothing built before, so that every file is looked at. BTF would need vmlinux.
	out=$(make -s --no-print-directory B="$B/check" KREL="$krel" KDIR="$dir" SPARSE=1 \
		TORUS_CFLAGS=-Werror CONFIG_DEBUG_INFO_BTF_MODULES= modules 2>&1 |
		grep -v '^  KBUILD')
	split_ops "$dir" "$B/check/kmod-$krel" || out+='commands: not in the form of this kernel'
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
