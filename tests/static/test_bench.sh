#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The benchmarks refuse wrong arguments before they start anything, and say how they are called.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
TOP=$PWD
# shellcheck source=tests/check.sh
. tests/check.sh

# bench NAME ARGUMENT...: as a user runs it; the exit status is in $rc
bench() {
	timeout 20 bash "tests/bench/$1.sh" "${@:2}" >"$tmp/out" 2>"$tmp/err" </dev/null
	rc=$?
}

# refused NAME TEXT ARGUMENT...: with status 2, and TEXT and the usage on standard error
refused() {
	bench "$1" "${@:3}"
	[[ $rc == 2 && ! -s $tmp/out ]] && grep -qF -- "$1: $2" "$tmp/err" &&
		grep -q "^usage: $1.sh" "$tmp/err" && return
	echo "# $1 ${*:3}: exit status $rc, said: $(head -n 3 "$tmp/err")"
	return 1
}

helps() {
	local f name
	for f in tests/bench/bench_*.sh; do
		name=$(basename "$f" .sh)
		bench "$name" --help
		[[ $rc == 0 && ! -s $tmp/err ]] && grep -q "^	$name.sh" "$tmp/out" ||
			{ echo "# $name --help: exit status $rc"; return 1; }
		refused "$name" "unknown option '--nonsense'" --nonsense || return 1
	done
}

shapes() {
	local shape
	for shape in 4 4x4 4x4x4x4 4xx4 4x4x4x x 4x4x0 1x4x4 -1x4x4 abc '' 99999x2x2 16x16x8; do
		refused bench_packed "" "$shape" || return 1
	done
	refused bench_packed "shape '4x4': must be 3 sizes of 2 or more, 1024 nodes at most, such as 4x4x4" 4x4 &&
		refused bench_packed "--ups '0': must be 1 to 999" --ups 0 4x4x4 &&
		refused bench_packed "--ups needs a value" --ups &&
		refused bench_opensm "shape '64x64x64'" 4x4x4 64x64x64 &&
		refused bench_lab "shape '0x4'" 10 0x4
}

others() {
	refused bench_rma "--hops '4': must be 1 to 3" --hops 4 && refused bench_rma "--rounds needs a value" --rounds &&
		refused bench_rma "SECONDS '0'" 0 && refused bench_rma "SECONDS 'x'" x &&
		refused bench_rma "BYTES '7': must be 8 to 1048576" 1 8 7 || return 1
	refused bench_lab "CUTS 'many'" many && refused bench_lab "'x' is one argument too many" 1 4x4 x &&
		refused bench_chain "SECONDS '0': must be 1 to 3600" 0 &&
		refused bench_chain "ROUNDS '3.5'" 1 3.5 && refused bench_kernel "PAYLOAD '99999'" 3 3 99999 &&
		refused bench_kernel "--cpu needs a value" --cpu &&
		refused bench_kernel_rows "'x' is one argument too many" x &&
		refused bench_grow "'8x8': must be like 8x8:64, shape and number of nodes" 8x8 &&
		refused bench_grow "nodes of 8x8:0 '0': must be 1 to 1024" 8x8:0 &&
		refused bench_takeover "case 'ded': must be quiet, dead, root, hung or move" ded &&
		refused bench_takeover "--rounds '0'" --rounds 0 &&
		refused bench_frr "--rates '20k'" --rates 20k && refused bench_frr "--rates ''" --rates '' &&
		refused bench_frr "--shape '4x4x5'" --shape 4x4x5 &&
		refused bench_frr "--cases 'way,x'" --cases way,x && refused bench_frr "--backend needs a value" --backend &&
		refused bench_frr "--backend 'both'" --backend both && refused bench_frr "'x' is one argument" x
}

# kernel_runs OPTION...: what bench_kernel asks of a guest: its limit, SECONDS and ROUNDS
kernel_runs() {
	TOP=$tmp/top bash "$tmp/top/tests/bench/bench_kernel.sh" "$@" |
		sed -n 's/.*--limit \([0-9]*\) .*bench_kernel\.sh \([0-9]*\) \([0-9]*\) 16368$/\1 \2 \3/p'
}

# A guest may take as long as the rounds that are asked for.
kernel_limit() {
	local short long words
	mkdir -p "$tmp/top/tests/vm" && cp -r "$TOP/tests/bench" "$tmp/top/tests/" || return 1
	printf '#!/bin/sh\necho "$@"\n' >"$tmp/top/tests/vm/guest"
	chmod +x "$tmp/top/tests/vm/guest"
	short=$(kernel_runs --icount)
	long=$(kernel_runs --icount 3 3)
	words="without --icount: $(kernel_runs); with it: $short; 3 rounds of 3 s: $long; most: $(kernel_runs 3600 9999)"
	[[ $short == *" 1 1" && $(kernel_runs) == *" 3 3" && ${short%% *} -ge 1000 &&
	   ${long%% *} -ge $((4 * ${short%% *})) && $(kernel_runs 3600 9999) == "999999 3600 9999" ]] ||
		{ echo "$words"; return 1; }
}

check "a guest of bench_kernel may take as long as its rounds" kernel_limit
check "each benchmark has --help, and refuses an unknown option" helps
check "wrong shapes are refused" shapes
check "wrong numbers, unknown cases and missing values are refused" others
done_testing
