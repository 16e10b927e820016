#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The requests that the module's netlink family refuses, and the errors that it returns:
# refusals.py.

# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
load ports=4 && ip -batch - <<-END || exit 1
	link add torus0 type torus
	link add wire mtu 9000 up type dummy
	link add thin mtu 4143 up type dummy
END
python3 "$TOP/tests/vm/inside/refusals.py"
