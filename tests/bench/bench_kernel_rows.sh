#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Writes tables of rows through the kernel's netlink family, in a guest with Debian's kernel.
#
#	bench_kernel_rows.sh
#
# The targets, 32768 rows in 20 ms and 1048576 in 500 ms, are for a real machine, not an
# emulated one.

set -u
top=$(cd "${TOP:-$(dirname "$0")/../..}" && pwd)
# shellcheck source=tests/bench/usage.sh
. "$top/tests/bench/usage.sh"
asks_help "$@"
check_count 0 "$@"
export TOP=$top B=${B:-$top/build}
echo "rows through the kernel's netlink family (guest ${VM:-stock})"
# shellcheck disable=SC2016 # for the guest's shell
exec "$top/tests/vm/guest" --no-plan --mem 1024 "${VM:-stock}" env BENCH_SAMPLES="${BENCH_SAMPLES-}" bash -c '
	set -e
	modprobe libcrc32c 2>/dev/null || true
	insmod "$KMOD/torus.ko"
	"$B/fabricctl" device add torus0 --ports 12
	"$B/tests/bench/kernel_rows" genl:torus0'
