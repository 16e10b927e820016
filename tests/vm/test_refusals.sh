#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the module's netlink family refuses, and how it says so.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
# shellcheck disable=SC2016 # for the guest's shell
exec "$top/tests/vm/guest" "${VM:-uml}" bash -c '. tests/vm/inside/lib.sh && load ports=4 &&
	ip link add torus0 type torus && ip link add wire mtu 9000 up type dummy &&
	ip link add thin mtu 4143 up type dummy && python3 tests/vm/inside/refusals.py'
