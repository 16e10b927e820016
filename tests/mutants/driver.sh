#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the driver does without a fabric, in one guest, with few processes: a guest takes long to
# come, and each process in it is dear. KUnit runs its suites whenever the module is loaded, so
# it is, once; what a script makes goes with its network namespace.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build} KUNIT=1
# shellcheck disable=SC2016 # for the guest's shell
exec "$top/tests/vm/guest" --leaks uml bash -c '
	insmod "$KMOD/torus.ko" &&
	awk -f tests/vm/kunit.awk /sys/kernel/debug/kunit/torus-*/results &&
	unshare -n bash tests/vm/inside/refusals.sh &&
	unshare -n bash tests/vm/inside/netlink.sh &&
	rmmod torus'
