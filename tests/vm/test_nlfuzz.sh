#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Messages of all kinds to the module's netlink family, and requests of ethtool. COUNT=1000000
# for a long run; SEED=N for other messages.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
export TOP=$top B=${B:-$top/build}
# shellcheck disable=SC2016 # for the guest's shell
exec "$top/tests/vm/guest" --leaks --limit 1500 "${VM:-uml}" bash -c '
	COUNT=$1 tests/vm/inside/each tests/vm/inside/nlfuzz.sh &&
		COUNT=$(($1 / 15)) tests/vm/inside/each tests/vm/inside/ethfuzz.sh
	' - "${COUNT:-16000}"
