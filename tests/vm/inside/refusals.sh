#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The requests that the module's netlink family refuses, and the errors that it returns:
# refusals.py.

# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
load && "$B/fabricctl" device add torus0 --ports 4 >/dev/null && ip -batch - <<-END || exit 1
	link add wire mtu 9000 up type dummy
	link add thin mtu 4143 up type dummy
END
python3 "$TOP/tests/vm/inside/refusals.py"
