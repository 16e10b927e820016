#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Header, policy lists and YNL spec agree, and abi.py notices when one of them
# changes alone: each change below is made in a copy.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
cd "$top" || exit 2
status=0
TOP=$top python3 tests/static/abi.py || status=1

copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT

# notices FILE SED: abi.py fails once that has changed FILE
notices() {
	rm -rf "$copy/include"
	cp -r include "$copy/"
	sed -i "$2" "$copy/include/uapi/$1"
	if cmp -s "include/uapi/$1" "$copy/include/uapi/$1"; then
		echo "not ok - nothing to change in $1: $2"
		status=1
	elif TOP=$copy python3 tests/static/abi.py >/dev/null 2>&1; then
		echo "not ok - a change of $1 goes unnoticed: $2"
		status=1
	else
		echo "ok - a change of $1 is noticed: $2"
	fi
}
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
exit $status
