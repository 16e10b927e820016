#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Remote memory by /dev/torus in a guest: tests/vm/inside/rma.sh. ROUNDS=N: more of hostile
# processes; SEED=N: others.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
exec "$TOP/tests/vm/guest" --leaks --limit 900 "$VM" env "ROUNDS=${ROUNDS:-60}" \
	"SEED=${SEED:-1}" bash "$TOP/tests/vm/inside/rma.sh"
