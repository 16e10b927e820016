#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: loads the module with its suites and reports their results, which the kernel keeps,
# one line for each case. A suite of the sources that did not run, or ran fewer cases than it
# has, is a failure.

# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
results=/sys/kernel/debug/kunit

suites() { sed -n 's/.*kunit_suite torus_[a-z]*_suite = { .name = "\([^"]*\)".*/\1/p' kernel/kunit/*.c; }

check "the driver and its KUnit suites load" insmod "$KMOD/torus.ko"
check "the module has the suites of its sources" \
	diff <(suites | sort) <(cd $results && printf '%s\n' torus-*)
awk -f tests/vm/kunit.awk $results/torus-*/results >"$tmp/suites"
adopt "$tmp/suites"
check "the driver and its KUnit suites unload" rmmod torus
done_testing
