#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The netlink policies of the loaded module, read back from the kernel, are those of
# include/uapi/torus.yaml.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
exec "$top/tests/vm/guest" "${VM:-uml}" bash tests/vm/inside/policies.sh
