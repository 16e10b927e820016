#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016,SC2317
#
# The packages of Debian, from a clean copy of the sources: they are built, twice with the same
# bytes, lintian has no complaint, and in a new Debian they are installed, upgraded, work, and leave
# nothing after a purge. Takes some minutes and fetches 150 MB.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$TOP" || exit 2
export TMPDIR=${TMPDIR:-/var/tmp}
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/deb/build.sh
. tests/deb/build.sh
root=$tmp/root

explain() { tail -n 8 "$tmp"/*.log; }
# Before the root is removed, what this script and the lab in it have mounted there ends.
cleanup() {
	mounted() { awk -v root="$root/" 'index($2, root) == 1 { print $2 }' /proc/mounts; }
	mounted | tac | xargs -r umount
	[[ -z $(mounted) ]] || exit 1
}

# In another directory, at another time, in another place, by another umask, and by no ccache.
reproducible() {
	local path=${PATH#/usr/lib/ccache:}
	(
		umask 002
		PATH=$path TZ=Asia/Tokyo LC_ALL=C build_packages again || exit 1
	) && (cd "$tmp/built" && sha256sum ./*.deb) >"$tmp/sums" && (cd "$tmp/again" && sha256sum -c "$tmp/sums")
}
lints() { (cd "$tmp/built" && lintian --allow-root --fail-on error,warning ./*.changes); }

# dpkg finds a file that two packages have only if both are installed.
once() {
	local f
	for f in "$tmp"/built/*.deb; do dpkg-deb -c "$f" | awk '$1 !~ /^d/ { print $6 }'; done | sort >"$tmp/files"
	[[ -s $tmp/files && -z $(uniq -d "$tmp/files") ]] || { uniq -d "$tmp/files"; return 1; }
}
# The driver is built from what its package contains.
driver() {
	local headers
	headers=$(echo /usr/src/linux-headers-*-amd64) && headers=${headers%% *} &&
		dpkg-deb -x "$tmp"/built/torus-dkms_*.deb "$tmp/dkms" &&
		make -s -C "$headers" M="$(echo "$tmp"/dkms/usr/src/torus-*)" modules >"$tmp/driver.log" 2>&1 &&
		[[ -e $(echo "$tmp"/dkms/usr/src/torus-*/torus.ko) ]]
}

new_debian() {
	mmdebstrap --variant=minbase --include=systemd "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$tmp/base.tar.gz" \
		>"$tmp/debian.log" 2>&1
}
# Installed and purged, with and without what they depend on
piuparts_agrees() {
	mkdir -p "$tmp/repository" && cp "$tmp"/built/*.deb "$tmp/repository" &&
		(cd "$tmp/repository" && dpkg-scanpackages . >Packages) 2>"$tmp/scan.log" && chmod 755 "$tmp" &&
		piuparts -b "$tmp/base.tar.gz" -d "$(. /etc/os-release && echo "$VERSION_CODENAME")" --warn-on-others \
			--bindmount="$tmp/repository" --extra-repo="deb [trusted=yes] file:$tmp/repository ./" \
			"$tmp"/built/{libtorus,torus}*[a-z0-9]_*.deb >"$tmp/piuparts.log" 2>&1
}

inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive "$@"; }
# files DIR: the packages of DIR, but for the driver's, for which this machine has no kernel
files() { (cd "$root" && find "./$1" -name '*.deb' ! -name '*-dkms_*' ! -name '*-dbgsym_*'); }
install_from() {
	local debs
	mkdir -p "$root/$1" && cp "$tmp/$1"/*.deb "$root/$1" && mapfile -t debs < <(files "$1") &&
		inside apt-get -y --no-install-recommends -o Dpkg::Options::=--force-confdef install "${debs[@]}" >"$tmp/install.log" 2>&1
}
every_path() { (cd "$root" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run \) -prune -o -print | sort); }
unpacked() {
	mkdir "$root" && tar -C "$root" -xf "$tmp/base.tar.gz" && mount -t proc proc "$root/proc" && mount -t sysfs sys "$root/sys" &&
		mkdir -p "$root/dev/net" "$root/dev/pts" && mount --bind /dev/net "$root/dev/net" && mount --bind /dev/pts "$root/dev/pts" &&
		cp /etc/resolv.conf "$root/etc/" && inside apt-get update >"$tmp/update.log" 2>&1 && every_path >"$tmp/before"
}
installs_old() {
	install_from old && inside getent group torus && [[ $(inside dpkg-query -W -f '${Version}' torus-fabric) == *~old ]]
}
# An upgrade keeps what an administrator wrote.
upgrades() {
	echo 'fabric = mine' >"$root/etc/fabricd.conf" && echo 'ports = 2' >"$root/etc/torus/torus0.conf" &&
		mkdir -p "$root/var/lib/torus" && echo x >"$root/var/lib/torus/kept" && install_from built &&
		[[ $(inside dpkg-query -W -f '${Version}' torus-fabric) != *~old ]] &&
		grep -x 'fabric = mine' "$root/etc/fabricd.conf" && [[ -e $root/var/lib/torus/kept && -e $root/etc/torus/torus0.conf ]]
}
# The tests of debian/tests, as a tester of Debian runs them. This is no machine of its own.
works() {
	autopkgtest --ignore-restrictions=isolation-machine --no-built-binaries </dev/null \
		"$(realpath --relative-to=. "$tmp/built/torus")/" -- chroot "$root" >"$tmp/autopkgtest.log" 2>&1 &&
		[[ $(sed '1,/@@ summary$/d' "$tmp/autopkgtest.log" | grep -cE '^(lab|library) +PASS$') == 2 ]]
}
purges() {
	local names
	mapfile -t names < <(inside dpkg-query -W -f '${Status} ${Package}\n' '*torus*' | sed -n 's/^install ok installed //p')
	inside apt-get -y remove "${names[@]}" >"$tmp/remove.log" 2>&1 && [[ -e $root/etc/fabricd.conf && ! -e $root/usr/sbin/fabricd ]] || return 1
	inside dpkg --purge "${names[@]}" >"$tmp/purge.log" 2>&1 || return 1
	rm -rf "${root:?}"/{built,old,tmp}
	every_path >"$tmp/after"
	# Not what the libraries of others left: libfabric, on which MPI depends, is none of ours.
	! comm -13 "$tmp/before" "$tmp/after" | grep -iE 'torus|fabric' | grep -vE 'libfabric(1|\.so)'
}

check "the tools to build packages are there" install_tools
check "packages are built" build_packages built || { done_testing; exit; }
check "packages built elsewhere have the same bytes" reproducible
check "lintian has no error and no warning" lints
check "each file is in one package" once
check "the driver builds from its package" driver
check "packages of an older version are built" build_older
check "a new Debian system is made" new_debian
check "piuparts installs and purges them" piuparts_agrees
check "the new system becomes a machine" unpacked
check "the machine installs the older packages" installs_old
check "an upgrade of the packages keeps configuration and state" upgrades
check "the tests of the packages pass in the machine" works
check "a purge of the packages leaves nothing" purges
done_testing
