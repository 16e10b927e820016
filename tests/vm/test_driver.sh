#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel without a manager, in a guest.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
exec "$TOP/tests/vm/guest" --leaks "$VM" bash "$TOP/tests/vm/inside/driver.sh"
