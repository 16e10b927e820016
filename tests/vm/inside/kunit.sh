#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: loads the module with its suites in it and tells their results, as the
# kernel keeps them, a line for each case. A suite that is there in the sources and
# did not run, or ran fewer cases than it has, is a failure.

set -u
results=/sys/kernel/debug/kunit
status=0

insmod "$KMOD/torus.ko" || exit
for name in $(sed -n 's/.*kunit_suite torus_[a-z]*_suite = { .name = "\([^"]*\)".*/\1/p' kernel/kunit/*.c); do
	awk -v suite="$name" '
		/^ *1\.\.[0-9]+$/ { sub(/.*\.\./, ""); plan = $0 }
		/^    (not )?ok / {
			bad = $1 == "not"
			sub(/^ *(not )?ok [0-9]+ (- )?/, "")
			print (bad ? "not ok - " : "ok - ") suite ": " $0
			cases++
			failed += bad
			next
		}
		{ print "# " $0 }
		END {
			if (!cases || cases != plan) {
				print "not ok - " suite ": " cases + 0 " cases of " plan + 0 " have run"
				failed++
			}
			exit !!failed
		}' "$results/$name/results" || status=1
done
rmmod torus || status=1
exit $status
