#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile frames at a port of a NIC of the kernel. COUNT=1000000 for a long run; SEED=N for other
# frames.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
exec "$top/tests/vm/guest" --leaks --limit 3600 "${VM:-uml}" env COUNT="${COUNT:-1440}" \
	bash tests/vm/inside/framefuzz.sh
