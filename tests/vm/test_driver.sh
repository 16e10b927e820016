#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# NICs of the kernel without a manager, and what becomes of their cables, in a guest.

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
VM=${VM:-uml}
# shellcheck disable=SC2016 # for the guest's shell
exec "$TOP/tests/vm/guest" --hurry --leaks --limit 1500 "$VM" bash -c '
	failed=0
	for script in driver lower; do
		bash "tests/vm/inside/$script.sh" || failed=1
		ip -all netns delete
	done
	exit $failed'
