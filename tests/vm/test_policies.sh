#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink policies of the loaded module, read back from the kernel, are those of
# include/uapi/torus_policy.h. (tests/static/test_abi.sh compares that with the rest.)

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
# shellcheck disable=SC2016 # for the guest's shell
exec "$top/tests/vm/guest" "${VM:-uml}" bash -c 'insmod "$KMOD/torus.ko" &&
	python3 tests/vm/inside/policies.py >/tmp/policies &&
	python3 tests/static/abi.py /tmp/policies'
