#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The requests that the module's netlink family refuses, and the errors that it returns.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
exec "$top/tests/vm/guest" "${VM:-uml}" bash tests/vm/inside/refusals.sh
