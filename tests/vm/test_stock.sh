#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module on Debian's own kernel, emulated: what users get, without debugging's
# changes of timing and locking.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
status=0
"$TOP/tests/vm/guest" stock bash "$TOP/tests/vm/inside/driver.sh" || status=1
"$TOP/tests/vm/guest" --limit 500 stock bash "$TOP/tests/vm/inside/lifetime.sh" 10 || status=1
"$TOP/tests/vm/guest" stock bash "$TOP/tests/vm/inside/charged.sh" || status=1
exit $status
