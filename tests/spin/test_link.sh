#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Model checking of link retry with credits: link.pml as it is, in sizes that
# finish, and with one rule broken at a time, which must be found. Shows spin's
# trail of a failure; the command that replays it is printed.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
model=$PWD/tests/spin/link.pml
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/spin/search.sh
. tests/spin/search.sh
verifier=-DCOLLAPSE
cd "$tmp" || exit 2

expect right 'one way, three packets, two hits' '-DN0=3 -DN1=0 -DHITS=2'
expect right 'both ways, two hits' '-DN0=1 -DN1=1 -DHITS=2'
expect right 'numbers wrap both ways' '-DN0=3 -DN1=1 -DHITS=1'
expect right 'a single buffer' '-DN0=3 -DN1=1 -DHITS=1 -DSLOTS=1'
expect wrong 'found: a replay reports credits anew' '-DN0=3 -DN1=0 -DHITS=2 -DBREAK_CRP_ANEW'
expect wrong 'found: a packet ahead is accepted' '-DN0=3 -DN1=0 -DHITS=2 -DBREAK_ACCEPT_AHEAD'
expect wrong 'found: no timer' '-DN0=3 -DN1=0 -DHITS=1 -DBREAK_NO_TIMER'
expect wrong 'found: a window of all numbers' '-DN0=5 -DN1=0 -DHITS=2 -DWIN=4 -DSLOTS=4'
expect wrong 'found: an idle link complains for ever' '-DN0=2 -DN1=0 -DHITS=2 -DBREAK_IDLE_SILENT'
done_testing
