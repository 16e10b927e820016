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
cd "$tmp" || exit 2

# search SIZES: the verifier's verdict in $answer, "states" in $states
search() {
	rm -f pan* ./*.trail
	cp "$model" link.pml
	# shellcheck disable=SC2086 # options
	if ! { spin $1 -a link.pml && cc -O2 -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c; } \
		>spin.log 2>&1; then
		answer=broken
		return
	fi
	./pan -m1000000 -w22 >pan.log 2>&1
	states=$(awk '/states, stored/ { print $1 }' pan.log)
	if grep -q 'errors: 0$' pan.log && ! grep -q 'max search depth too small\|out of memory' pan.log; then
		answer=right
	elif grep -q '^pan:1:' pan.log; then
		answer=wrong
	else
		answer=broken
	fi
}

# expect VERDICT NAME SIZES
expect() { check "$2 ($3)" found "$1" "$3"; }

# found VERDICT SIZES
found() {
	search "$2"
	echo "$answer, $states states"
	[[ $answer != "$1" ]] || return 0
	cat spin.log
	grep -E '^pan|errors' pan.log
	[[ ! -e link.pml.trail ]] || spin -t -g -p link.pml 2>/dev/null | tail -60
	echo "replay: cd tests/spin && spin $2 -a link.pml && cc -DSAFETY -o pan pan.c && ./pan && spin -t -p -g link.pml"
	return 1
}

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
