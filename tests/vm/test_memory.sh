#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The driver when memory runs out, in a guest.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
"$TOP/tests/vm/guest" --limit 900 "$VM" sh -c \
	"python3 $TOP/tests/vm/inside/loadnth.py \$KMOD/torus.ko ${EVERY:-7}" || exit
exec "$TOP/tests/vm/guest" --leaks --limit $((600 + 3600 / ${EVERY:-7})) "$VM" bash "$TOP/tests/vm/inside/memory.sh"
