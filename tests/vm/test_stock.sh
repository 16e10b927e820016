#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module on Debian's own kernel, emulated: the kernel that users have, without the changes of
# timing and locking that debugging options bring. FULL=1 also runs inside/driver.sh, which
# test_driver.sh and test_next.sh run on other kernels.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
exec "$TOP/tests/vm/guest" --module "$TOP/tests/vm/rival" --limit 1500 stock tests/vm/inside/each \
	${FULL:+tests/vm/inside/driver.sh} 'tests/vm/inside/lifetime.sh 5' tests/vm/inside/{charged,ethfuzz}.sh
