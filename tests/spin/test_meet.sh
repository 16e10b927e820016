#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Model checking of roots of one epoch that meet: meet.pml as it is, and with one rule broken at a time,
# which must be found.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
model=$PWD/tests/spin/meet.pml
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/spin/search.sh
. tests/spin/search.sh
verifier=-DNOREDUCE
cd "$tmp" || exit 2

expect right 'three nodes' '-DN=3'
expect right 'three nodes, some do not reach each other' '-DN=3 -DCUTS=3'
expect right 'four nodes' ''
expect right 'four nodes, two of them do not reach each other' '-DCUTS=1'
expect wrong 'found: a node that has lost its root follows any of that number' '-DN=3 -DBREAK_LOST'
expect wrong 'found: a node that asks gives way to any root of that number' '-DN=3 -DBREAK_ASKS'
expect wrong 'found: a node that claims gives way to any root of that number' '-DN=3 -DBREAK_CLAIMS'
expect wrong 'found: a root without others gives way to one that leads some' '-DN=3 -DBREAK_ALONE'
done_testing
