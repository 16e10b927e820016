#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages have what "make install" installs, each file once: the lists of files of debian/,
# from which tools/packaging makes those of RPM, and the symbols of libtorus. tests/run --deb builds
# and installs the packages.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-build}
# shellcheck source=tests/check.sh
. tests/check.sh
top=$PWD

installed() {
	local paths
	read -ra paths < <(make -s -f debian/rules paths)
	make -s B="$B" install DESTDIR="$tmp/root" "${paths[@]}" &&
		make -s dkms-install DESTDIR="$tmp/root"
}

# listed FILE...: the installed files and links that lists of debian/ name, each as often as it is named
listed() {
	local pattern found
	while read -r pattern; do
		mapfile -t found < <(compgen -G "$tmp/root/$pattern")
		((${#found[@]})) || echo "no file is called $pattern"
		((!${#found[@]})) || find "${found[@]}" ! -type d
	done < <(sed 's/#.*//; /^[[:space:]]*$/d' "$@") | sed "s|^$tmp/root/||"
}
# A program whose library is missing on this machine is not installed (tools/arbiter).
agree() {
	diff <(cd "$tmp/root" && find . ! -type d -printf '%P\n' | sort) \
		<(listed debian/*.install debian/not-installed | sort)
}
# A list that lacks a file, or has one twice, is found.
lists_can_fail() {
	cp -r debian "$tmp/" && cd "$tmp" || return 1
	sed -i '/fabricd$/d' debian/torus-fabric.install && ! agree >"$tmp/said" && grep -qx '< usr/sbin/fabricd' "$tmp/said" &&
		echo 'usr/sbin/*' >>debian/torus-fabric.install && ! agree >"$tmp/said" && grep -qx '> usr/sbin/torusemu' "$tmp/said"
	local status=$?
	cd "$top" && return "$status"
}

# One version, in dkms.conf, the changelog and the spec of RPM
versions() {
	local version
	version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
	head -n 1 debian/changelog
	[[ $(head -n 1 debian/changelog) =~ ^torus\ \("$version"[^0-9.] ]] &&
		grep -x "Version: *$version" tools/packaging/torus.spec
}

symbols() {
	diff <(awk '/@/ { sub(/@.*/, "", $1); print $1 }' debian/libtorus0.symbols | sort) \
		<(nm -D --defined-only "$tmp"/root/usr/lib/*/libtorus.so.0 | awk '{ sub(/@.*/, "", $3); print $3 }' | sort)
}

check "make install works with the paths of Debian" installed
check "each file is in one package" agree
check "a file in no package, or in two, is noticed" lists_can_fail
check "packages and driver have one version" versions
check "the symbols of libtorus are those of its package" symbols
done_testing
