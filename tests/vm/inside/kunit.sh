#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: loads the module with its suites in it and tells their results, as the
# kernel keeps them, a line for each case. A suite that is there in the sources and
# did not run, or ran fewer cases than it has, is a failure.

# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
results=/sys/kernel/debug/kunit

# told_by SUITE: its cases, and their plan
told_by() {
	awk -v suite="$1" '
		/^ *1\.\.[0-9]+$/ { sub(/.*\.\./, ""); plan = $0 }
		/^    (not )?ok / {
			bad = $1 == "not"
			sub(/^ *(not )?ok [0-9]+ (- )?/, "")
			print (bad ? "not ok - " : "ok - ") suite ": " $0
			cases++
			next
		}
		{ print "# " $0 }
		END {
			if (!cases || cases != plan) {
				print "not ok - " suite ": " cases + 0 " cases of " plan + 0 " have run"
				cases++
			}
			print "1.." cases
		}' "$results/$1/results"
}

check "load" insmod "$KMOD/torus.ko"
mapfile -t suites < <(sed -n 's/.*kunit_suite torus_[a-z]*_suite = { .name = "\([^"]*\)".*/\1/p' kernel/kunit/*.c)
check "the module has the suites of its sources" \
	diff <(printf '%s\n' "${suites[@]}" | sort) <(cd $results && printf '%s\n' torus-*)
for name in "${suites[@]}"; do
	told_by "$name" >"$tmp/suite"
	adopt "$tmp/suite"
done
check "unload" rmmod torus
done_testing
