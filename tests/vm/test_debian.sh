#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# An administrator's machine, a complete Debian with systemd: DKMS builds the driver for its
# kernel, the services bring a fabric up, cables and daemons fail, and all of it is removed again.
# debian/driver and debian/fabric.sh have the tests.
#
# A compiler takes minutes in an emulated machine. So DKMS runs on the machine's
# disk before it is switched on; INSIDE=1 lets the machine do it all itself. With
# INSIDE=1 it also runs hooks, which takes two minutes of processor time more, and boots once more,
# after which all must work again.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-build}
export TMPDIR=${TMPDIR:-/var/tmp} # the disk is large
# shellcheck source=tests/check.sh
. tests/check.sh

# Makes a disk with all that the driver needs: itself, our sources, and the programs as installed.
make_data() {
	mkdir -p "$tmp/data/src" &&
	cp -a tests/vm/debian/{driver,fabric.sh,peers,torus0.conf} tests/{check.sh,manual} doc/OPERATIONS.md "$tmp/data/" &&
	{ [[ -z ${INSIDE-} ]] || touch "$tmp/data/whole"; } &&
	cp -a --parents Makefile Kbuild dkms.conf LICENSE include kernel "$tmp/data/src/" &&
	make -s B="$B" install DESTDIR="$tmp/data/dest" &&
	mke2fs -q -t ext4 -d "$tmp/data" "$tmp/data.img" 64M
}

# In a mount namespace, so that nothing stays mounted in any case.
# shellcheck disable=SC2016 # for the inner shell
dkms_ahead() {
	mkdir "$tmp/mnt" && unshare -m bash -ec '
		cd "$1"
		mount -o loop disk mnt
		mount --bind /dev mnt/dev
		mount -t proc proc mnt/proc
		mkdir -p mnt/ccache "$CCACHE_DIR"
		mount --bind "$CCACHE_DIR" mnt/ccache
		cp -a data/src mnt/usr/src/torus
		chroot mnt env PATH="/usr/lib/ccache:$PATH" CCACHE_DIR=/ccache make -s -C /usr/src/torus dkms-install \
			KREL="$(basename mnt/boot/vmlinuz-* | cut -d- -f2-)"
		umount mnt/ccache
		rmdir mnt/ccache
		umount -R mnt
	' - "$tmp"
}

# boot N SECONDS: one run from power on to power off
boot() {
	local rc=0
	BOOT_MAX_S=$2 tests/vm/debian/boot "$tmp/kernel" "$image/initrd" "$tmp/disk" "$tmp/data.img" "$tmp/results" \
		>"$tmp/console" 2>&1 || rc=$?
	tr -d '\r' <"$tmp/results" >"$tmp/told"
	adopt "$tmp/told"
	echo "status $rc" >>"$tmp/console"
	check "boot $1 comes to its end" [ "$rc" = 33 ]
}
# shellcheck disable=SC2317
explain() { tail -n 30 "$tmp/console" | tr -d '\r'; }

image=$(tests/vm/debian/image 2>"$tmp/log") && make_data >>"$tmp/log" 2>&1 &&
	tests/vm/elf "$image/vmlinuz" >"$tmp/kernel" && cp --sparse=always "$image/disk" "$tmp/disk" &&
	{ [[ -n ${INSIDE-} ]] || dkms_ahead >>"$tmp/log" 2>&1; } || {
	echo "not ok - a machine is made"
	tail -n 30 "$tmp/log" | sed 's/^/# /'
	exit 1
}
if [[ -z ${INSIDE-} ]]; then
	boot 1 1200
else	# after a first boot that failed, later failures say nothing new
	boot 1 3000 && boot 2 600
fi
done_testing
