#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs tests/netns/test_relays.sh with NICs of the kernel.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
export TORUS_BACKEND=${TORUS_BACKEND:-kernel}

# shellcheck disable=SC2016 # for the guest's shell
exec "$TOP/tests/vm/guest" --limit 1500 "$VM" \
	bash -c 'insmod "$KMOD/torus.ko" && exec bash tests/netns/test_relays.sh'
