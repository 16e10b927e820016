#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The parking segment is full and the host waits; its namespace must be able to end: in a guest.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
exec "$TOP/tests/vm/guest" --leaks --limit 900 "$VM" bash "$TOP/tests/vm/inside/stall.sh"
