#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver when memory runs out, in a guest. It loads in a moment, so each allocation of that
# fails once; of those that its commands make every 29th, or each (EVERY=1).

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
"$TOP/tests/vm/guest" --limit 900 "$VM" sh -c \
	"python3 $TOP/tests/vm/inside/loadnth.py \$KMOD/torus.ko" || exit
exec "$TOP/tests/vm/guest" --leaks --limit $((600 + 3600 / ${EVERY:-29})) "$VM" bash "$TOP/tests/vm/inside/memory.sh"
