#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs tests/netns/test_line.sh and test_retry.sh with NICs of the kernel: worsening lines, and
# retry protocols.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
export TORUS_BACKEND=${TORUS_BACKEND:-kernel}

# shellcheck disable=SC2016 # for the guest's shell
exec "$TOP/tests/vm/guest" --limit 1500 "$VM" bash -c '
	insmod "$KMOD/torus.ko" && exec tests/vm/inside/each tests/netns/test_{line,retry}.sh'
