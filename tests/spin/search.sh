# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the tests with spin. A script sets "model", the path of its model, sources this after
# tests/check.sh, and may set
#
#	verifier	more options for the compiler of the verifier
#	search		options of the verifier
#	optimize	how the compiler optimizes a verifier that has to look at all states. One that
#			has to find an error looks at few, and is not optimized: compiling it
#			otherwise takes ten times as long as its search

model=${model:?}
verifier=''
search='-m1000000 -w22'
optimize=-O1

# search OPTIMIZE SIZES: the verifier's verdict in $answer, their number in $states, and in $factor how many bits
# there were for each, if they are not kept whole
search() {
	rm -f pan* ./*.trail
	cp "$model" model.pml
	# shellcheck disable=SC2086 # options
	if ! { spin $2 -a model.pml && cc "$1" -DSAFETY -DMEMLIM=3000 $verifier -c pan.c && cc -o pan pan.o; } \
		>spin.log 2>&1; then
		answer=broken
		return
	fi
	# shellcheck disable=SC2086 # options
	./pan $search >pan.log 2>&1
	states=$(awk '/states, stored/ { print $1 }' pan.log)
	factor=$(awk '/^hash factor/ { print ", hash factor " $3 }' pan.log)
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

# found VERDICT SIZES. Compiling and linking are two steps, so that ccache keeps the verifier.
found() {
	local how=$optimize
	[[ $1 == right ]] || how=-O0
	search "$how" "$2"
	echo "$answer, $states states$factor"
	[[ $answer != "$1" ]] || return 0
	cat spin.log
	grep -E '^pan|errors' pan.log
	# shellcheck disable=SC2086 # options
	[[ ! -e model.pml.trail ]] || spin $2 -t -g -p model.pml 2>/dev/null | tail -60
	echo "replay: cd tests/spin && spin $2 -a ${model##*/} && cc -DSAFETY -o pan pan.c && ./pan && spin $2 -t -p -g ${model##*/}"
	return 1
}
