#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The lab of tests/netns with all NICs in the kernel (or as TORUS_BACKEND says).

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
export TORUS_BACKEND=${TORUS_BACKEND:-kernel}

# shellcheck disable=SC2016 # for the guest's shell
exec "$TOP/tests/vm/guest" --limit 1500 "$VM" \
	bash -c 'insmod "$KMOD/torus.ko" && exec bash tests/netns/test_lab.sh'
