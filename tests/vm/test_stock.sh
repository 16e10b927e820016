#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module on Debian's own kernel, emulated: what users get, without debugging's
# changes of timing and locking.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck disable=SC2016 # for the guest's shell
exec "$TOP/tests/vm/guest" --limit 1500 stock bash -c '
	failed=0
	run() { bash tests/vm/inside/"$@" || failed=1; ip -all netns delete; }
	run driver.sh
	run lifetime.sh 10
	run charged.sh
	run ethfuzz.sh
	exit $failed'
