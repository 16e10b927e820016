#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Model checking of the growth of a partition: grow.pml as it is, and with one rule broken at a time,
# which must be found.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
model=$PWD/tests/spin/grow.pml
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/spin/search.sh
. tests/spin/search.sh
verifier=-DCOLLAPSE
cd "$tmp" || exit 2

expect right 'all of a ring' '-DTOTAL=4'
expect right 'more than there are' '-DTOTAL=5 -DCHORD=1'
expect right 'three of a ring with a chord' '-DTOTAL=3 -DCHORD=1'
expect right 'a cable is cut, or a node dies' '-DTOTAL=4 -DFAULTS=1'
expect right 'two faults' '-DTOTAL=4 -DFAULTS=2'
expect right 'a member ends it' '-DTOTAL=4 -DCHORD=1 -DSTOPS=1'
expect right 'a member ends it, and a fault' '-DTOTAL=4 -DSTOPS=1 -DFAULTS=1'
expect wrong 'found: the whole subtree is counted again' '-DTOTAL=5 -DCHORD=1 -DBREAK_DELTA'
expect wrong 'found: a member answers its own parent' '-DTOTAL=5 -DCHORD=1 -DBREAK_ASKED'
expect wrong 'found: a loss after the number is borne' '-DTOTAL=4 -DFAULTS=1 -DBREAK_START'
expect wrong 'found: RELEASE along the tree alone' '-DTOTAL=4 -DFAULTS=1 -DBREAK_TREE'
done_testing
