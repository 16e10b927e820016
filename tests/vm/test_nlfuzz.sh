#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages of all kinds at the module's netlink family. COUNT=1000000 for the long
# run; SEED=N for other messages.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
exec "$top/tests/vm/guest" --limit 1500 "${VM:-uml}" env COUNT="${COUNT:-60000}" \
	bash tests/vm/inside/nlfuzz.sh
