#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Attacks on a NIC of the kernel by a cable and by users of its node: tests/vm/inside/hostile.sh.
# EACH=600 for a long run; ATTACKS="frames" for some of them; SEED=N for other ones.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
exec "$top/tests/vm/guest" --leaks --limit $((900 + 8 * ${EACH:-10})) "${VM:-uml}" env EACH="${EACH:-10}" \
	ATTACKS="${ATTACKS-}" bash tests/vm/inside/hostile.sh
