#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# An admin's machine, a whole Debian with systemd: DKMS builds the driver for its
# kernel, the services bring a fabric up, cables and daemons fail, and after a
# reboot all of it is there again. debian/driver says what is tested.

set -u
cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-build}
status=0
tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/torus-debian-XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT

# What the driver brings along: itself, our sources, and the programs as installed.
make_data() {
	mkdir -p "$tmp/data/src" &&
	cp -a tests/vm/debian/{driver,peers,torus0.conf} "$tmp/data/" &&
	cp -a --parents Makefile Kbuild dkms.conf LICENSE include kernel lib daemon tools \
		tests/files.mk tests/*/*.mk "$tmp/data/src/" &&
	make -s B="$B" install DESTDIR="$tmp/data/dest" &&
	mke2fs -q -t ext4 -d "$tmp/data" "$tmp/data.img" 64M
}

# boot N: one run from power on to power off
boot() {
	local rc=0
	BOOT_MAX_S=400 tests/vm/debian/boot "$image" "$tmp/disk" "$tmp/data.img" "$tmp/results" \
		>"$tmp/console" 2>&1 || rc=$?
	tr -d '\r' <"$tmp/results"
	if ((rc != 33)); then
		echo "not ok - boot $1 comes to its end (status $rc)"
		tail -n 30 "$tmp/console" | tr -d '\r' | sed 's/^/# /'
		status=1
	fi
	return "$rc"
}

image=$(tests/vm/debian/image 2>"$tmp/log") && make_data 2>>"$tmp/log" &&
	cp --sparse=always "$image/disk" "$tmp/disk" || {
	echo "not ok - a machine is made"
	tail -n 30 "$tmp/log" | sed 's/^/# /'
	exit 1
}
# A machine whose first boot has failed may be worth a second one only to people.
boot 1
(($? == 33)) && boot 2
exit $status
