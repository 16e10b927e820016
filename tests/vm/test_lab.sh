#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The lab of tests/netns with all NICs in the kernel, and with every other one, so
# that cables join a NIC of the kernel and one in user space.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
status=0

for backend in kernel mixed; do
	# shellcheck disable=SC2016 # for the guest's shell
	TORUS_BACKEND=$backend "$TOP/tests/vm/guest" --limit 400 "$VM" \
		bash -c 'insmod "$KMOD/torus.ko" && exec bash tests/netns/test_lab.sh' || status=1
done
exit $status
