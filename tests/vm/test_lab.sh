#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel under the programs that people use: devices by hand, then the lab
# of tests/netns with all NICs in the kernel, and with every other one, so that each
# cable joins a NIC of the kernel and one in user space.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
status=0

# inside LIMIT SCRIPT [NAME=VALUE...]
# shellcheck disable=SC2016 # for the guest's shell
inside() {
	local limit=$1 script=$2
	shift 2
	"$TOP/tests/vm/guest" --limit "$limit" "$VM" env "$@" \
		bash -c 'insmod "$KMOD/torus.ko" && exec bash "$0"' "$TOP/$script" || status=1
}

inside 200 tests/vm/inside/device.sh
inside 400 tests/netns/test_lab.sh TORUS_BACKEND=kernel
inside 400 tests/netns/test_lab.sh TORUS_BACKEND=mixed
exit $status
