#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs, cables, namespaces and the module go away while in use, in a guest.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
exec "$TOP/tests/vm/guest" --leaks --module "$TOP/tests/vm/rival" --limit $((300 + 20 * ${ROUNDS:-8})) "$VM" \
	bash "$TOP/tests/vm/inside/lifetime.sh" "${ROUNDS:-8}"
