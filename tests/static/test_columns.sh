#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each column that a simulation prints with --csv is described in its section of fabricsim(1).

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

page=tools/fabricsim/fabricsim.1

# described PAGE COMMAND [OPTION...]
described() {
	local page=$1 column missing=0
	shift
	"$B/fabricsim" "$@" --csv >"$tmp/csv" || return 1
	awk -v command="$1" '/^\.SS /{ on = ($2 == command) } on' "$page" >"$tmp/section"
	head -1 "$tmp/csv" | tr , '\n' >"$tmp/columns"
	while read -r column; do
		grep -qw -- "$column" "$tmp/section" || { echo "# $1: $column is not on the page"; missing=1; }
	done <"$tmp/columns"
	[[ $(wc -l <"$tmp/columns") -gt 5 ]] && return $missing
}
noticed() {
	sed 's/increment_ms_all//' $page >"$tmp/page"
	! described "$tmp/page" route --fabrics 1 --shape 3x3 >"$tmp/out" && grep -Fx '# route: increment_ms_all is not on the page' "$tmp/out"
}

check "columns of flow" described $page flow --shape 4 --cycles 50 --warmup 10 --seeds 1 --load 0.1
check "columns of route" described $page route --fabrics 1 --shape 3x3
check "columns of recovery" described $page recovery --shape 2x2 --cost
check "columns of train" described $page train --length 100
check "columns of train --lanes" described $page train --length 100 --lanes
check "columns of train --life" described $page train --length 100 --life 1
check "columns of train --months" described $page train --length 100 --months 1
check "columns of retry" described $page retry --ber 1e-5 --messages 50
check "columns of retry --retries" described $page retry --retries 0 --messages 50
check "columns of availability" described $page availability --nodes 64
check "columns of translate" described $page translate
check "columns of address" described $page address --shape 4x4 --as-written
check "columns of grow" described $page grow --nodes 8
check "columns of availability --monte-carlo" described $page availability --nodes 64 --monte-carlo --seeds 2 --states 5
check "a column that the page lacks is noticed" noticed
done_testing
