#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages in an administrator's machine, the Debian with systemd of tests/vm/debian: apt installs
# older ones, for whose driver DKMS builds; the machine boots, a fabric of it and three others comes
# up, the packages are upgraded under traffic, and purged. tests/deb/guest has the tests.
#
# apt and the compiler run on the machine's disk before it is switched on, because they take minutes
# in an emulated machine. For the same reason the upgrade is without that of the driver, which needs
# a boot anyway (torus-dkms). The older packages are the present ones with a lower version.
# PACKAGES=DIR in the environment: takes the packages from there, and builds none.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$TOP" || exit 2
export TMPDIR=${TMPDIR:-/var/tmp} # the disk is large
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/deb/build.sh
. tests/deb/build.sh
wanted=(torus-dkms torus-fabric libtorus0)

explain() {
	tail -n 20 "$tmp"/*.log
	[[ ! -e $tmp/console ]] || tail -n 30 "$tmp/console" | tr -d '\r'
}

packages_new() {
	[[ -n ${PACKAGES-} ]] || { install_tools && build_packages built && PACKAGES=$tmp/built; }
}
# lower_version DEB: the same package with a lower version, in $tmp/old
lower_version() {
	rm -rf "$tmp/unpacked" && mkdir -p "$tmp/old" && dpkg-deb -R "$1" "$tmp/unpacked" &&
		sed -i 's/^Version: .*/&~old/' "$tmp/unpacked/DEBIAN/control" && dpkg-deb -b "$tmp/unpacked" "$tmp/old" >>"$tmp/old.log"
}
packages_old() {
	local p
	for p in "${wanted[@]}"; do lower_version "$PACKAGES/$p"_[0-9]*.deb || return 1; done
}

machine() {
	local p
	mkdir -p "$tmp/data/new" && cp -a tests/vm/debian/{fabric.sh,peers,torus0.conf} tests/{check.sh,manual} doc/OPERATIONS.md "$tmp/data/" &&
		cp tests/deb/guest "$tmp/data/driver" || return 1
	for p in torus-fabric libtorus0; do cp "$PACKAGES/$p"_[0-9]*.deb "$tmp/data/new" || return 1; done
	mke2fs -q -t ext4 -d "$tmp/data" "$tmp/data.img" 64M && image=$(tests/vm/debian/image 2>"$tmp/image.log") &&
		tests/vm/elf "$image/vmlinuz" >"$tmp/kernel" && cp --sparse=always "$image/disk" "$tmp/disk"
}

# In a mount namespace, so that nothing stays mounted in any case.
# shellcheck disable=SC2016 # for the inner shell
apt_installs() {
	mkdir "$tmp/mnt" && unshare -m bash -ec '
		cd "$1"
		mount -o loop disk mnt
		mount --bind /dev mnt/dev
		mount -t proc proc mnt/proc
		cp --remove-destination /etc/resolv.conf mnt/etc/
		mkdir -p mnt/ccache "$CCACHE_DIR"
		mount --bind "$CCACHE_DIR" mnt/ccache
		cp -a old mnt/old
		in_it() { chroot mnt env DEBIAN_FRONTEND=noninteractive PATH="/usr/lib/ccache:$PATH" CCACHE_DIR=/ccache "$@"; }
		in_it apt-get -q update
		in_it sh -c "apt-get -q -y --no-install-recommends install /old/*.deb"
		in_it dkms status torus | grep ": installed"
		rm -r mnt/old mnt/etc/resolv.conf
		umount mnt/ccache
		rmdir mnt/ccache
		umount -R mnt
	' - "$tmp" >"$tmp/apt.log" 2>&1
}

runs() {
	local rc=0
	BOOT_MAX_S=1200 tests/vm/debian/boot "$tmp/kernel" "$image/initrd" "$tmp/disk" "$tmp/data.img" "$tmp/results" \
		>"$tmp/console" 2>&1 || rc=$?
	tr -d '\r' <"$tmp/results" >"$tmp/told"
	echo "status $rc" >>"$tmp/console"
	((rc == 33))
}

check "packages are built" packages_new || { done_testing; exit; }
check "the same packages get a lower version" packages_old
check "a machine is made" machine || { done_testing; exit; }
check "apt installs the older packages, and DKMS builds the driver" apt_installs || { done_testing; exit; }
check "the machine comes to its end" runs
adopt "$tmp/told"
done_testing
