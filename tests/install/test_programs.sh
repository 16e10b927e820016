#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The programs as installed: all there, with manuals, and a lab can be raised
# from where they were put.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-build}
# shellcheck source=tests/check.sh
. tests/check.sh
lab=ti$$
cleanup() { "$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; }

installed() {
	make -s B="$B" install DESTDIR="$tmp"
}

# Exactly these files, none of them empty, and no link that leads nowhere. Where there is no libquorum,
# there is no torus-arbiter-corosync.
complete() {
	diff - <(cd "$tmp" && find -L etc usr -type f -size +0 ! -name torus-arbiter-corosync \
		! -path 'usr/share/fabricctl/schema/*' | LC_ALL=C sort) <<-'END'
		etc/fabricd.conf
		etc/fabricweb.conf
		usr/bin/fabricctl
		usr/bin/fabricsim
		usr/bin/fabricweb
		usr/include/torus/fabric.h
		usr/include/torus/map.h
		usr/include/torus/mpix.h
		usr/include/torus/reply.h
		usr/include/torus/rma.h
		usr/include/torus/route.h
		usr/include/torus/topology.h
		usr/include/torus/torus.h
		usr/include/torus/torus_abi.h
		usr/include/torus/torus_rma.h
		usr/include/torus/uapi.h
		usr/lib/libtorus.a
		usr/lib/libtorus.so
		usr/lib/libtorus.so.0
		usr/lib/libtorus.so.0.1.0
		usr/lib/pkgconfig/libtorus.pc
		usr/lib/systemd/network/70-torus.network
		usr/lib/systemd/system/fabricd.service
		usr/lib/systemd/system/fabricweb.service
		usr/lib/systemd/system/fabricweb@.service
		usr/lib/systemd/system/torus-hook.service
		usr/lib/systemd/system/torus-nic@.service
		usr/lib/torus/libtorus-mpich.so
		usr/lib/torus/libtorus-ompi.so
		usr/lib/udev/rules.d/70-torus.rules
		usr/lib/udev/rules.d/90-torus-ports.rules
		usr/libexec/torus/slurm-epilog
		usr/libexec/torus/slurm-hook
		usr/libexec/torus/slurm-prolog
		usr/libexec/torus/torus-arbiter-etcd
		usr/sbin/fabricd
		usr/sbin/torusemu
		usr/share/bash-completion/completions/fabricctl
		usr/share/bash-completion/completions/fabricsim
		usr/share/bash-completion/completions/fabricweb
		usr/share/doc/fabricctl/torus.dashboard.json
		usr/share/doc/fabricctl/torus.rules.yml
		usr/share/doc/fabricctl/torus0.conf
		usr/share/doc/fabricd/fabricd.conf
		usr/share/doc/fabricweb/fabricweb.conf
		usr/share/man/man1/fabricsim.1
		usr/share/man/man3/libtorus-rma.3
		usr/share/man/man3/libtorus.3
		usr/share/man/man4/torus.4
		usr/share/man/man5/fabricd.conf.5
		usr/share/man/man5/fabricweb.conf.5
		usr/share/man/man5/torus-nic.conf.5
		usr/share/man/man7/fabricd-control.7
		usr/share/man/man7/libtorus-mpi.7
		usr/share/man/man7/torus-arbiter.7
		usr/share/man/man8/fabricctl.8
		usr/share/man/man8/fabricd.8
		usr/share/man/man8/fabricweb.8
		usr/share/man/man8/torusemu.8
		usr/share/zsh/site-functions/_fabricctl
		usr/share/zsh/site-functions/_fabricsim
		usr/share/zsh/site-functions/_fabricweb
	END
}

schemas() { diff -r tools/fabricctl/schema "$tmp/usr/share/fabricctl/schema"; }

version() {
	local p
	for p in "$tmp"/usr/bin/{fabricctl,fabricsim,fabricweb} "$tmp"/usr/sbin/{fabricd,torusemu} "$tmp"/usr/libexec/torus/torus-*; do
		"$p" --version || return 1
	done
}

works() {
	local PATH=$tmp/usr/bin:$tmp/usr/sbin:$PATH
	fabricctl lab up --name "$lab" 2x2 --timeout $((120 * slow)) && until_true 20 fabricctl verify --lab "$lab" &&
		fabricctl lab exec --name "$lab" 0,0 -- ping -q -c 1 -W 20 n1-1 &&
		fabricctl lab down --name "$lab"
}

# Uninstalling leaves files that were written by hand, and those of other packages.
uninstalled() {
	local left
	mkdir -p "$tmp/etc/torus" && echo >"$tmp/etc/torus/torus0.conf" && echo >"$tmp/usr/bin/other"
	make -s B="$B" uninstall DESTDIR="$tmp" || return 1
	left=$(cd "$tmp" && find etc usr ! -type d | sort | tr '\n' ' ')
	[[ $left == 'etc/fabricd.conf etc/fabricweb.conf etc/torus/torus0.conf usr/bin/other ' ]] ||
		{ echo "left: $left"; return 1; }
}

# The threshold of systemd-analyze is in tenths.
sandboxed() {
	local unit copy=$tmp/units
	mkdir -p "$copy"
	for unit in fabricd.service fabricweb.service fabricweb@.service torus-hook.service torus-nic@.service; do
		cp "$tmp/usr/lib/systemd/system/$unit" "$copy/${unit/@/@torus0}" || return 1
	done
	for unit in "$copy"/*; do
		systemd-analyze security --offline=true --no-pager --threshold=30 "$unit" >"$tmp/out" 2>&1 ||
			{ tail -n 30 "$tmp/out"; return 1; }
		tail -n 1 "$tmp/out"
	done
}

check "make install works" installed
check "programs, library, manuals, units and completions are there" complete
check "the schemas of all answers are there" schemas
check "programs print their version" version
check "a lab runs from the installed programs" works
check "services are confined: exposure at most 3.0" sandboxed
check "make uninstall removes all files" uninstalled
done_testing
