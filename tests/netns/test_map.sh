#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# "fabricctl map" in a lab: costs by the rows that the NICs have, and files by which Open MPI and
# MPICH place ranks as they say.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=map$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"

# costs FILTER ARGUMENT...: prints what the jq filter makes of the answer
costs() { "$bin/fabricctl" map "${@:2}" --json --lab "$lab" | jq -c "$1"; }
file() { "$bin/fabricctl" map "$@" --lab "$lab"; }

# Each rank sends to the two beside it in a ring, in which each has the number of the one before it
# plus five. No grid of ranks is such a ring.
traffic() {
	local i
	for i in {0..11}; do
		echo "$i,$(((i + 5) % 12)),1000"
		echo "$(((i + 5) % 12)),$i,1000"
	done >"$tmp/ring.csv"
}

# The ring takes one hop to each neighbour once it is improved.
ring_costs() {
	[[ $(costs '[.given.bytes, .improved.hop_bytes, .improved.dilation]' --improve "$tmp/ring.csv") == "[24000,24000,1]" ]] ||
		{ costs . --improve "$tmp/ring.csv"; return 1; }
	costs .given "$tmp/ring.csv"
	(($(costs .given.hop_bytes "$tmp/ring.csv") > 24000))
}

# A cut cable makes a way of this placement longer. Another placement does without that cable.
cut_costs() {
	local link before cut
	file --improve --format rubik "$tmp/ring.csv" >"$tmp/best"
	before=$(costs .given.hop_bytes --from "$tmp/best" "$tmp/ring.csv")
	[[ $before == 24000 ]] || { echo "the file of the placement costs $before"; return 1; }
	link=$(costs '.given.busiest | "\(.node | map(tostring) | join(",")):\(.port)"' --from "$tmp/best" "$tmp/ring.csv" | tr -d '"')
	lab cut "$link" && until_true 20 cut_counts || return 1
	cut=$(costs .given.hop_bytes --from "$tmp/best" "$tmp/ring.csv")
	(($(costs .improved.hop_bytes --improve --from "$tmp/best" "$tmp/ring.csv") < cut))
}
cut_counts() { (($(costs .given.hop_bytes --from "$tmp/best" "$tmp/ring.csv") > 24000)); }

# placed COMMAND...: whether each rank runs on the host that the file in the format slurm names. Each
# prints its number and its host.
placed() {
	"$bin/fabricctl" lab exec --name "$lab" 0,0 -- "$@" >"$tmp/ran" 2>"$tmp/ran.err"
	sort -n "$tmp/ran" | cut -d' ' -f2 >"$tmp/is"
	diff "$tmp/wanted" "$tmp/is" || { head -n 5 "$tmp/ran.err"; return 1; }
}
# shellcheck disable=SC2016 # for the shell of the rank
open_mpi() {
	file --improve "$@" --format openmpi "$tmp/ring.csv" >"$tmp/file" && file --improve "$@" --format slurm "$tmp/ring.csv" >"$tmp/wanted" &&
		placed mpirun --oversubscribe --rankfile "$tmp/file" sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)' &&
		placed mpirun --oversubscribe -n 12 --map-by seq --hostfile "$tmp/wanted" sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)'
}
# A program that ends at once is too quick for MPICH on a busy machine: see test_lab_odd.sh.
# shellcheck disable=SC2016
mpich() {
	file --improve "$@" --format mpich "$tmp/ring.csv" >"$tmp/file" && file --improve "$@" --format slurm "$tmp/ring.csv" >"$tmp/wanted" &&
		placed mpiexec.mpich -f "$tmp/file" -n 12 sh -c 'echo $PMI_RANK $(hostname); sleep 1'
}

pairs=n1-0:2,n0-1:2,n2-1:2,n3-0:2,n2-2:2,n0-0:2
traffic
# shellcheck disable=SC2016 # for eval
check "a lab comes up" eval 'lab up 4x3 "${patience[@]}" && until_true 20 ask verify'
check "an improved placement of a ring has one hop to each neighbour" ring_costs
check "Open MPI places ranks by the rank file and by the list of hosts" open_mpi
check "MPICH places ranks by the host file" mpich
check "Open MPI places two ranks on a node by both files" open_mpi --hosts "$pairs"
check "MPICH places two ranks on a node by the host file" mpich --hosts "$pairs"
check "costs follow the rows after a cut, and improving lowers them" cut_costs
check "the lab ends" lab down
done_testing
