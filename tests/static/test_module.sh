#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torus.ko builds without a word from compiler (W=1) and sparse, against the headers
# of every kernel that is installed, and of the newest that Debian has beside it. The module that
# guests load (tests/vm/module) is not built once more: compiler warnings are errors there already.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-$PWD/build}
# shellcheck source=tests/check.sh
. tests/check.sh

# Commands in the form that netlink has since 6.2, where it has it.
split_ops() {
	local headers
	headers=$(sed -n 's|^include \(.*\)/Makefile$|\1|p' "$1/Makefile")/include/net/genetlink.h
	! grep -qs '^struct genl_split_ops {' "$headers" ||
		grep -q -- -DTORUS_HAS_GENL_SPLIT_OPS "$2/kernel/.genl.o.cmd"
}

# judge KDIR OBJECTS OUTPUT: of a build
judge() {
	check "torus.ko for $(make -s -C "$1" kernelrelease 2>/dev/null | tail -n 1): no warnings" \
		faultless "$@"
}

faultless() {
	! grep -v '^  KBUILD' <<<"$3" | grep . && [[ -e $2/torus.ko ]] &&
		{ split_ops "$1" "$2" || { echo "commands: not in the form of this kernel"; return 1; }; }
}

stock=$(tests/vm/kernel stock) && next=$(tests/vm/kernel next)
case $? in
0) ;;
3) skip "torus.ko for a newer kernel" "apt knows of none" ;;
*) exit 1 ;;
esac
for kind in stock ${next:+next}; do
	kernel=${!kind}
	judge "$kernel/build" "build/vm/kmod-$kind" "$(SPARSE=1 tests/vm/module "$kind" 2>&1 >/dev/null)"
done

for dir in ${KDIRS:-/lib/modules/*/build}; do
	[[ -e $dir/Makefile && ! $dir -ef $stock/build ]] || continue
	out=$B/check/kmod-${dir//\//-}
	# Nothing built before, so that every file is looked at. BTF would need vmlinux.
	said=$(make -s --no-print-directory B="$B/check" KREL="${dir//\//-}" KDIR="$dir" SPARSE=1 \
		TORUS_CFLAGS=-Werror CONFIG_DEBUG_INFO_BTF_MODULES= modules 2>&1)
	judge "$dir" "$out" "$said"
	rm -rf "$out"
done
done_testing
