#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torus.ko builds without a word from compiler (W=1) and sparse, against the headers
# of every kernel that is installed, and of the newest that Debian has beside it. What
# guests load (tests/vm/module) is not built once more: what the compiler has to say
# of that is an error already.

set -u
cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-$PWD/build}
status=0

# Commands in the form that netlink has since 6.2, where it has it.
split_ops() {
	local headers
	headers=$(sed -n 's|^include \(.*\)/Makefile$|\1|p' "$1/Makefile")/include/net/genetlink.h
	! grep -qs '^struct genl_split_ops {' "$headers" ||
		grep -q -- -DTORUS_HAS_GENL_SPLIT_OPS "$2/kernel/.genl.o.cmd"
}

# judge KDIR OBJECTS OUTPUT: of a build
judge() {
	local krel out=$3
	krel=$(make -s -C "$1" kernelrelease 2>/dev/null | tail -n 1)
	out=$(grep -v '^  KBUILD' <<<"$out")
	split_ops "$1" "$2" || out+='commands: not in the form of this kernel'
	if [[ -z $out && -e $2/torus.ko ]]; then
		echo "ok - torus.ko for $krel: no warnings"
	else
		printf 'not ok - torus.ko for %s: no warnings\n%s\n' "$krel" "$out"
		status=1
	fi
}

stock=$(tests/vm/kernel stock) && next=$(tests/vm/kernel next)
case $? in
0) ;;
3) echo "ok - torus.ko for a newer kernel # SKIP apt knows of none" ;;
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
exit $status
