#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Dumps, listeners and writers that use the module's netlink family at the same time: netlink.py.

# shellcheck source=tests/vm/inside/lib.sh
. "$TOP/tests/vm/inside/lib.sh"
load && "$B/fabricctl" device add torus0 --ports 12 >/dev/null && ip -batch - <<-END || exit 1
	link add wire mtu 9000 up type dummy
	link add wire2 mtu 9000 up type dummy
END
python3 "$TOP/tests/vm/inside/netlink.py"
