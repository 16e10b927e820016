#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tutorial and the pages for users of MPI, researchers and developers of the driver, as their
# readers would follow them (manual.sh). The lab of the tutorial is raised by its reader.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
# shellcheck source=tests/netns/manual.sh
. "$TOP/tests/netns/manual.sh"
export PATH=$B:$PATH

cleanup() { for lab in lab "guide$$"; do "$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1; done; }

# guide FILE MANY: a page whose reader is in the top folder of the repository
guide() {
	tag="$1: "
	say "doc/$1"
	follow "$TOP/doc/$1" "$2"
	tag=''
}

mkdir "$tmp/reader"
ln -s "$TOP/include" "$TOP/tools" "$tmp/reader/"
export TORUS_LAB=lab
guide TUTORIAL.md 16
guide DRIVER.md 4
lab=guide$$
guide MPI.md 11
guide RESEARCH.md 6
check "no lab is left" [ ! -e "/run/torus/$lab" -a ! -e /run/torus/lab ]
done_testing
