#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The C files made from include/uapi/torus.yaml are up to date, and generate.py --check notices when
# they are not: each change below is made in a copy.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

copy() {
	rm -rf "$tmp/top" && mkdir -p "$tmp/top/kernel" && cp -r include "$tmp/top/" &&
		cp -r kernel/req kernel/genl_policy.[ch] "$tmp/top/kernel/"
}
judge() { python3 "$tmp/top/include/uapi/generate.py" --check; }

# notices FILE SED: the check fails once that has changed FILE
noticed() {
	copy
	sed -i "$2" "$tmp/top/$1"
	! cmp "$1" "$tmp/top/$1" || return 1
	! judge
}
notices() { check "a change of $1 is noticed: $2" noticed "$@"; }

check "what is made from torus.yaml is up to date" eval 'copy && judge'
notices include/uapi/torus.yaml 's/max: 4095/max: 4094/'
notices include/uapi/torus.yaml 's/port, session, seq/port, session/'
notices include/uapi/torus.yaml '0,/flags: \[uns-admin-perm\]/s///'
notices include/uapi/torus_c.yaml 's/first, data/first/'
notices include/uapi/torus_abi.h 's/^	TORUS_A_GUID,/	TORUS_A_OTHER, TORUS_A_GUID,/'
notices kernel/req/rules.c 's/TORUS_U16, .min = 0, .max = 4095/TORUS_U32, .min = 0, .max = 4095/'
notices kernel/genl_policy.c 's/NLA_U16, 0, 4095/NLA_U16, 0, 4094/'
done_testing
