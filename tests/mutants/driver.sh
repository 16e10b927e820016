#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the driver without a fabric: in one guest, because a guest takes long to boot, and with few
# processes, because each is slow to start there. Loading the module runs its KUnit suites, so the
# module is loaded only once. All devices of a script disappear with its network namespace.

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
