#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The KUnit suites of the module (kernel/kunit/), each case as a test.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build} KUNIT=1
exec "$top/tests/vm/guest" --leaks "${VM:-uml}" bash tests/vm/inside/kunit.sh
