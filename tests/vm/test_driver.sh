#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel without a manager, and changes of their cables, in a guest.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
exec "$TOP/tests/vm/guest" --hurry --leaks --limit 1500 "$VM" \
	tests/vm/inside/each tests/vm/inside/{driver,lower}.sh
