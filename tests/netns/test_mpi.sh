#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# The libraries for MPI programs in a lab: with them, communicators of Open MPI and MPICH are
# reordered, in C and Fortran, results stay the same, and bytes between ranks are recorded.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
lab=mpi$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
hosts=n0-0,n1-0,n2-0,n3-0,n0-1,n1-1,n2-1,n3-1
grid=(4 2)

# GCC takes MPI_UNWEIGHTED of Open MPI for an array without entries.
programs() {
	local mpi f=$TOP/tests/netns/mpi_halo
	for mpi in ompi mpich; do
		local cc=mpicc.$mpi fc=mpif90.$mpi
		[[ $mpi == mpich ]] || cc=mpicc.openmpi fc=mpif90.openmpi
		"$cc" -O1 -Wall -Werror -Wno-stringop-overread -o "$tmp/c-$mpi" "$f.c" &&
			"$cc" -O1 -Wall -Werror -I"$TOP/include" -o "$tmp/places-$mpi" "$TOP/tests/netns/mpi_places.c" \
				"$B/libtorus-$mpi.so" &&
			"$fc" -o "$tmp/mpi-$mpi" "$f.F90" && "$fc" -DF08 -o "$tmp/f08-$mpi" "$f.F90" || return 1
	done
}

# expected KIND: prints the sum that the programs in C (c) or Fortran print, computed without MPI
expected() {
	python3 - "$1" "${grid[@]}" <<-'END'
		import itertools, sys
		dims = [int(d) for d in sys.argv[2:]]
		ranks = list(itertools.product(*map(range, dims)))
		number = {at: n for n, at in enumerate(ranks)}
		def beside(at):
		    return [number[at[:d] + ((at[d] + s) % dims[d],) + at[d + 1:]] for d in range(len(dims)) for s in (-1, 1)]
		factor, modulus = (6364136223846793005, 2 ** 64) if sys.argv[1] == "c" else (48271, 2 ** 31 - 1)
		x = [n + 1 for n in range(len(ranks))]
		for _ in range(5):
		    x = [(x[n] * factor + sum(x[k] for k in beside(at))) % modulus for n, at in enumerate(ranks)]
		print(sum(x) % modulus)
	END
}

# with MPI PROGRAM NAME=VALUE...: runs a program with the library of that MPI and this environment.
# MPI_Finalize of MPICH often does not return (see test_lab_odd.sh), so there the output counts.
with() {
	local mpi=$1 program=$2 run env=("${@:3}" "TORUS_MPI_VERBOSE=1" "LD_PRELOAD=$B/libtorus-$1.so") args=() e
	if [[ $mpi == ompi ]]; then
		for e in "${env[@]}"; do args+=(-x "$e"); done
		set -- mpirun --oversubscribe --mca mpi_yield_when_idle 1 --host "$hosts" "${args[@]}"
	else
		for e in "${env[@]}"; do args+=(-genv "${e%%=*}" "${e#*=}"); done
		set -- mpiexec.mpich -hosts "$hosts" "${args[@]}"
	fi
	"$bin/fabricctl" lab exec --name "$lab" 0,0 -- "$@" "$tmp/$program-$mpi" "${grid[@]}" >"$tmp/out" 2>"$tmp/told" &
	run=$!
	until_true 60 finished "$run" "$program"
	if [[ $mpi == mpich ]]; then
		kill "$run" 2>/dev/null
		wait "$run"
		true
	else
		wait "$run"
	fi || { cat "$tmp/out" "$tmp/told"; return 1; }
}
# Without a process, or with all that the program, its library and the record of the bytes print.
# Each line comes from another process, so the order of lines says nothing.
finished() {
	local lines=3 orders=0
	case $2 in places) lines=1 ;; mpi | f08) lines=2 ;; esac
	[[ $2 == places || "${env[*]}" == *TORUS_MPI_REORDER=0* ]] || orders=$lines
	! kill -0 "$1" 2>/dev/null || [[ $(sums | wc -l) == "$lines" && $(orders) -ge $orders &&
		(! -e $tmp/begun || $(wc -l <"$tmp/traffic") -ge 25) ]]
}
# The lines of the program. When mpiexec of MPICH is ended, it may print more.
sums() { grep -E '^([a-z]+ +[0-9]+|ok)$' "$tmp/out"; }
# Prints the number of communicators that the library reported
orders() { grep -c '^torus: MPI_' "$tmp/told"; }

# The sums are those of the grid, whatever the communicator: $1 of them
right_sums() {
	local want
	want=$(expected "$2")
	[[ $(sums | wc -l) == "$1" && $(sums | awk '{ print $2 }' | sort -u) == "$want" ]] ||
		{ echo "not $1 times $want:"; cat "$tmp/out" "$tmp/told"; return 1; }
}

hop_bytes() { "$bin/fabricctl" map --hosts "$hosts" --json --lab "$lab" "$tmp/traffic" | jq -c '[.given.bytes, .given.hop_bytes, .given.dilation]'; }

# In each of the three communicators 8 ranks send 4 blocks of 1000 words of 8 bytes, 5 times. What MPI
# itself sends for sums is small and not of these kinds.
recorded() { # MPI WANTED NAME=VALUE...
	local got rc=0
	: >"$tmp/traffic" && : >"$tmp/begun"
	with "$1" c "${@:3}" "TORUS_MPI_TRAFFIC=$tmp/traffic" || rc=1
	rm "$tmp/begun"
	got=$(hop_bytes)
	echo "bytes, hop-bytes, hops: $got"
	[[ $rc == 0 && $got == "$2" ]] && right_sums 3 c
}

# The order of the list: ranks along the first dimension of the grid are two or three hops apart.
in_order() { recorded "$1" '[3840000,6720000,3]' TORUS_MPI_REORDER=0 && [[ $(grep -c '^torus: ' "$tmp/told") == 0 ]]; }
# Reordered, all are one hop apart.
reordered() {
	recorded "$1" '[3840000,3840000,1]' || return 1
	[[ $(sed -n 's/^torus: \(MPI_[A-Za-z_]*\): .* 56[0]* in order, 32[0]* reordered.*/\1/p' "$tmp/told") == \
		MPI_Cart_create$'\n'MPI_Dist_graph_create$'\n'MPI_Dist_graph_create_adjacent ]] || { cat "$tmp/told"; return 1; }
}
fortran() {
	with "$1" "$2" && right_sums 2 fortran || return 1
	[[ $(grep -c '^torus: .* 56[0]* in order, 32[0]* reordered' "$tmp/told") == 2 ]] ||
		{ cat "$tmp/told"; return 1; }
}
places() { with "$1" places && [[ $(sums) == ok ]]; }
# Without a manager to ask, ranks stay in order, and the program runs.
nowhere() {
	with ompi c TORUS_CONTROL=/nope && right_sums 3 c && [[ $(grep -c '^torus: ' "$tmp/told") == 0 ]]
}

check "test programs in C and Fortran are built" programs
# shellcheck disable=SC2016 # for eval
check "a lab comes up" eval 'lab up 4x2 "${patience[@]}" && until_true 20 ask verify'
for mpi in ompi mpich; do
	tag="$mpi: "
	check "ranks stay in order, and bytes are recorded" in_order $mpi
	check "reordered ranks get the same results over the fewest hops" reordered $mpi
	check "reordering works in Fortran with module mpi" fortran $mpi mpi
	check "reordering works in Fortran with module mpi_f08" fortran $mpi f08
	check "torus/mpix.h gives the places of processes" places $mpi
done
tag=''
check "without a manager ranks stay in order" nowhere
check "the lab ends" lab down
done_testing
