#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# torus.ko builds without a word from compiler (W=1) and sparse, against the headers
# of every kernel that is installed, and of the newest that Debian has beside it. sparse looks at
# the same sources only once (seen.sh). The module that guests load (tests/vm/module) is not built
# once more: compiler warnings are errors there already.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-$PWD/build}
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/static/seen.sh
. tests/static/seen.sh

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

# newer_newlink KDIR OBJECTS: rtnl.c compiles with headers in which rtnl_link_ops.newlink has the
# form that it has since 6.15, made of those at hand
# shellcheck disable=SC2317 # called by check
newer_newlink() {
	local dir=$tmp/newlink header command flags
	header=$(sed -n 's|^include \(.*\)/Makefile$|\1|p' "$1/Makefile")/include/net/rtnetlink.h
	command=$(sed -n '1s/^[^ ]* := //p' "$2/kernel/soft/.rtnl.o.cmd")
	flags=$(sed 's/-Wp,-MMD,[^ ]*//; s/ -c -o .*//' <<<"$command")
	[[ $flags ]] && mkdir -p "$dir/net" && perl -0pe '
		s/(\*newlink\)\()[^;]*;/$1struct net_device *dev,
			struct rtnl_newlink_params *params, struct netlink_ext_ack *extack);/ or die;
		s/(?=struct rtnl_link_ops \{)/struct rtnl_newlink_params {
			struct net *src_net, *link_net, *peer_net;
			struct nlattr **tb, **data;
		};
		static inline struct net *rtnl_newlink_link_net(struct rtnl_newlink_params *p)
		{
			return p->link_net ? : p->src_net;
		}
		/ or die' "$header" >"$dir/net/rtnetlink.h" || return
	(cd "$1" && eval "${flags/ -nostdinc/ -nostdinc -I$dir -DTORUS_HAS_NEWLINK_PARAMS}" \
		-fsyntax-only "$OLDPWD/$2/kernel/soft/rtnl.c")
}

# bounds: DKMS builds the driver for the kernels for which it is built here, and for no others
# shellcheck disable=SC2317,SC2154 # called by check; the variable is of dkms.conf
bounds() {
	local k kernels=(6.1.0-56-amd64 6.9.7 6.12.117+deb12-amd64 6.15-rc1)
	. ./dkms.conf || return
	[[ ! $next ]] || kernels+=("$(make -s -C "$next/build" kernelrelease)")
	kernels+=("$(make -s -C "$stock/build" kernelrelease)")
	for k in "${kernels[@]}"; do
		[[ $k =~ $BUILD_EXCLUSIVE_KERNEL ]] || { echo "$k is left out"; return 1; }
	done
	for k in 5.19.0 6.0.1 6.16.0 6.20.3 6.150.1 7.1.0 16.1.0-1; do
		[[ ! $k =~ $BUILD_EXCLUSIVE_KERNEL ]] || { echo "$k is not"; return 1; }
	done
	for k in x86_64 aarch64 riscv64 ppc64le s390x; do
		[[ $k =~ $BUILD_EXCLUSIVE_ARCH ]] || { echo "$k is left out"; return 1; }
	done
	for k in i686 armv7l riscv32 ppc; do
		[[ ! $k =~ $BUILD_EXCLUSIVE_ARCH ]] || { echo "$k is not"; return 1; }
	done
}

stock=$(tests/vm/kernel stock) && next=$(tests/vm/kernel next)
case $? in
0) ;;
3) skip "torus.ko for a newer kernel" "apt knows of none" ;;
*) exit 1 ;;
esac
# The name of a kernel's folder has the version of its package.
sources=$(sparse --version; find Kbuild Makefile dkms.conf include kernel tests/vm/module -type f |
	LC_ALL=C sort | xargs -d '\n' sha256sum)
for kind in stock ${next:+next}; do
	kernel=${!kind} sparse=1
	! remembered module "$kernel $sources" || sparse=''
	judge "$kernel/build" "build/vm/kmod-$kind" "$(SPARSE=$sparse tests/vm/module "$kind" 2>&1 >/dev/null)" &&
		[[ $sparse ]] && remember module "$kernel $sources"
	[[ $kind == stock ]] ||
		check "torus.ko compiles with newlink() as in Linux 6.15 and later" newer_newlink "$kernel/build" "build/vm/kmod-$kind"
done

check "dkms.conf bounds the kernels" bounds

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
