#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Model checking of the takeover: takeover.pml as it is, and with one rule broken at a time, which must
# be found. STATES=many in the environment runs larger sizes (tests/run --states): more epochs, and
# four nodes, of which spin sees most states, but not all.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
model=$PWD/tests/spin/takeover.pml
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/spin/search.sh
. tests/spin/search.sh
verifier='-DCOLLAPSE -DNOREDUCE'
cd "$tmp" || exit 2

if [[ ${STATES-} == many ]]; then
	verifier='-DBITSTATE -DNOREDUCE'
	search='-m100000 -w25 -k2'
	expect right 'three nodes, two takeovers, the former root is one' '-DE=3 -DV=2 -DCAND=3'
	expect right 'three nodes, two takeovers by others' '-DE=3 -DV=2 -DCAND=6'
	expect right 'four nodes, one takeover' '-DN=4 -DE=2 -DV=2 -DCAND=6'
	expect right 'whoever may be called silent, rows wait' '-DE=2 -DV=2 -DBREAK_S'
	done_testing
	exit
fi
expect right 'two nodes, two takeovers' '-DN=2 -DE=3 -DV=2'
expect right 'three nodes, a cable is lost' '-DN=3 -DE=2 -DV=2 -DCUTS=1'
expect right 'a majority gets a root' '-DN=3 -DE=4 -DV=1 -DHUNG=1'
expect right 'a majority of five gets a root' '-DN=5 -DE=4 -DV=1 -DHUNG=3 -DCAND=12'
expect wrong 'found: a minority gets none' '-DN=3 -DE=4 -DV=1 -DHUNG=3'
expect wrong 'found: no quorum to claim' '-DE=2 -DV=2 -DBREAK_C'
expect wrong 'found: no quorum that took a table' '-DE=2 -DV=2 -DBREAK_TAKEN'
expect wrong 'found: a quorum of the latest table only' '-DE=2 -DV=2 -DBREAK_LATEST'
expect wrong 'found: half without who made the table' '-DN=2 -DE=3 -DV=2 -DBREAK_HALF'
expect wrong 'found: a claim that reached all asks for no quorum' '-DN=2 -DE=3 -DV=2 -DBREAK_ALONE'
expect wrong 'found: a root takes a later epoch, and asks nobody' '-DE=2 -DV=2 -DCAND=2 -DBREAK_RAISE'
expect wrong 'found: the NIC does orders of a former root' '-DE=2 -DV=2 -DBREAK_ESTALE'
expect wrong 'found: an epoch is taken again' '-DE=2 -DV=2 -DBREAK_EPOCH'
expect wrong 'found: a promise before the NIC obeys' '-DE=2 -DV=2 -DBREAK_PROMISE'
done_testing
