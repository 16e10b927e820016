#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The operations manual as its reader would follow it, on a lab of 4x4 (manual.sh). The machine of
# tests/vm/test_debian.sh runs its blocks "sh host=NAME".

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
# shellcheck source=tests/netns/manual.sh
. "$TOP/tests/netns/manual.sh"
lab=ops$$
manual=$TOP/doc/OPERATIONS.md
export PATH=$B:$PATH

# Commands that only a whole machine can run are run there.
in_the_machine() {
	local name rc=0
	for name in $("$TOP/tests/manual" --names "$manual"); do
		grep -qE "manual $name( |\$)" "$TOP"/tests/vm/debian/{driver,fabric.sh} || { echo "host=$name is run by no test"; rc=1; }
	done
	return $rc
}

mkdir "$tmp/reader"
follow "$manual" 32
check "examples that need systemd or the driver are run in a machine" in_the_machine
check "the lab ends" lab down
done_testing
