#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Model checking of the takeover: takeover.pml as it is, and with one rule broken at a time, which must
# be found. STATES=many in the environment runs larger sizes (tests/run --states): more epochs, and
# four nodes, of which spin sees a part of the states, in bits of a table of 4 MB. With two tables in each
# of three epochs, the states of three nodes of which a NIC loses its memory are more than 60 million; with
# one they are 1.1 million, all of which it sees. Both rules about that loss, if broken, are found there.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
model=$PWD/tests/spin/takeover.pml
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/spin/search.sh
. tests/spin/search.sh
verifier=-DNOREDUCE
cd "$tmp" || exit 2

if [[ ${STATES-} == many ]]; then
	verifier='-DCOLLAPSE -DNOREDUCE'
	optimize=-O2
	expect right 'three nodes, two takeovers of a table each, a NIC loses its memory' '-DE=3 -DV=1 -DCAND=6 -DFORGETS=1'
	verifier='-DBITSTATE -DNOREDUCE'
	search='-m100000 -w25 -k2'
	expect right 'three nodes, two takeovers, the former root is one' '-DE=3 -DV=2 -DCAND=3'
	expect right 'three nodes, two takeovers by others' '-DE=3 -DV=2 -DCAND=6'
	expect right 'four nodes, one takeover' '-DN=4 -DE=2 -DV=2 -DCAND=6'
	expect right 'whoever may be called silent, rows wait' '-DE=2 -DV=2 -DBREAK_S'
	expect right 'two parts of two meet' '-DN=4 -DE=4 -DV=4 -DHUNG=0 -DPARTS=12 -DLATER=3'
	expect right 'a part of three goes on beside another' '-DN=4 -DE=3 -DV=3 -DPARTS=8 -DLATER=3 -DAPART -DCAND=6'
	expect right 'four nodes, a NIC loses its memory' '-DN=4 -DE=2 -DV=2 -DCAND=2 -DFORGETS=1'
	expect right 'three nodes, two takeovers, a NIC loses its memory' '-DE=3 -DV=2 -DCAND=6 -DFORGETS=1'
	done_testing
	exit
fi
expect right 'two nodes, two takeovers' '-DN=2 -DE=3 -DV=2'
expect right 'three nodes, a cable is lost' '-DN=3 -DE=2 -DV=2 -DCUTS=1'
expect right 'a majority gets a root' '-DN=3 -DE=4 -DV=1 -DHUNG=1'
expect right 'a majority of five gets a root' '-DN=5 -DE=4 -DV=1 -DHUNG=3 -DCAND=12'
expect right 'three nodes, a NIC loses its memory' '-DE=2 -DV=2 -DCAND=6 -DFORGETS=1'
expect right 'three nodes, two takeovers by one node, a NIC loses its memory' '-DE=3 -DV=1 -DCAND=2 -DFORGETS=1'
expect right 'an arbiter grants and refuses' '-DE=2 -DV=2 -DARBITER -DCAND=6'
expect right 'a node that no Init reaches is called' '-DN=5 -DE=4 -DV=1 -DHUNG=5 -DCAND=24 -DRING'
expect right 'a node that no Init reaches calls' '-DN=5 -DE=4 -DV=1 -DHUNG=5 -DCAND=2 -DRING'
expect right 'two parts meet' '-DE=4 -DV=3 -DHUNG=0 -DPARTS=4 -DLATER=2'
expect right 'a part goes on beside another' '-DE=3 -DV=3 -DPARTS=4 -DLATER=2 -DAPART -DCAND=3'
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
expect wrong 'found: nobody is called' '-DN=5 -DE=4 -DV=1 -DHUNG=5 -DCAND=24 -DRING -DBREAK_CALL'
expect wrong 'found: the answer to a call is a promise' '-DE=2 -DV=2 -DCAND=6 -DBREAK_ANSWER'
expect wrong 'found: a NIC without memory counts as before' '-DE=2 -DV=2 -DCAND=2 -DFORGETS=1 -DBREAK_LIFE'
expect wrong 'found: a root without memory leads on in its epoch' '-DE=2 -DV=2 -DCAND=2 -DFORGETS=1 -DBREAK_AGAIN'
expect wrong 'found: a grant takes the place of promises' '-DE=2 -DV=2 -DARBITER -DBREAK_GRANT'
expect wrong 'found: a part takes the epoch of another' '-DE=3 -DV=3 -DPARTS=4 -DLATER=2 -DAPART -DCAND=3 -DBREAK_BESIDE'
expect wrong 'found: a node stays with the root of its part' '-DE=4 -DV=3 -DHUNG=0 -DPARTS=4 -DLATER=2 -DBREAK_MERGE'
done_testing
