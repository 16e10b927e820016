#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Dumps, listeners and writers that meet on the module's netlink family.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
# shellcheck disable=SC2016 # for the guest's shell
exec "$top/tests/vm/guest" "${VM:-uml}" bash -c 'insmod "$KMOD/torus.ko" ports=12 &&
	ip link add torus0 type torus && ip link add wire mtu 9000 up type dummy &&
	ip link add wire2 mtu 9000 up type dummy && python3 tests/vm/inside/netlink.py'
