#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel under fabricctl and fabricd: tests/vm/inside/device.sh.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}

# shellcheck disable=SC2016 # for the guest's shell
exec "$TOP/tests/vm/guest" --hurry --limit 900 "$VM" \
	bash -c 'insmod "$KMOD/torus.ko" && exec bash tests/vm/inside/device.sh'
