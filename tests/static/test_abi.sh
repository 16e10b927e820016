#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Header, policy lists and YNL spec agree, and abi.py notices when one of them
# changes alone: each change below is made in a copy.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

# A copy, and what abi.py says of it. That it passes without a change shows that a failure is one
# of the change.
copy() { rm -rf "$tmp/include" && cp -r include "$tmp/"; }
judge() { TOP=$tmp python3 tests/static/abi.py; }

# noticed FILE SED: abi.py fails once that has changed FILE
noticed() {
	copy
	sed -i "$2" "$tmp/include/uapi/$1"
	! cmp "include/uapi/$1" "$tmp/include/uapi/$1" || return 1
	! judge
}
notices() { check "a change of $1 is noticed: $2" noticed "$@"; }

TOP=$PWD python3 tests/static/abi.py >"$tmp/abi" || failed=1
adopt "$tmp/abi"
check "a copy without a change passes" eval 'copy && judge'
notices torus.yaml 's/max: 4095/max: 4094/'
notices torus.yaml 's/port, session, seq/port, session/'
notices torus.yaml '0,/name: carrier/s//name: carriers/'
notices torus.yaml '0,/flags: \[uns-admin-perm\]/s///'
notices torus.yaml 's/\[auto, angara/[angara, auto/'
notices torus.yaml 's/"on", dead/dead, "on"/'
notices torus_policy.h 's/X(SEQ, U16, 0, 0xfff)/X(SEQ, U32, 0, 0xfff)/'
notices torus_policy.h 's/X(NAME, TEXT, 1, /X(NAME, TEXT, 2, /'
notices torus_policy.h 's/X(FLOW_GET, GET,/X(FLOW_GET, SET,/'
notices torus.h 's/^	TORUS_A_GUID,/	TORUS_A_OTHER, TORUS_A_GUID,/'
notices torus.h 's/X(RX_FLITS, rx_flits,/X(RX_FLITS, rx_flit,/'
done_testing
