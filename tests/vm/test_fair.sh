#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A destination for which nothing can move does not stop the others: in a guest.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
exec "$TOP/tests/vm/guest" --leaks --limit 900 "$VM" bash "$TOP/tests/vm/inside/fair.sh"
