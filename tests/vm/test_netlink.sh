#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Dumps, listeners and writers that use the module's netlink family at the same time.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
exec "$top/tests/vm/guest" "${VM:-uml}" bash tests/vm/inside/netlink.sh
