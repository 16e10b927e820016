#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Computing all tables of a torus: OpenSM's torus-2QoS on ibsim's model of the torus, and
# ours, in one run. OpenSM's time is from "building routing" to "tables configured" in its
# log. OpenSM recomputes everything at every event, so a link fault costs it as much.
# Our times are processor time of one core.
#
#	bench_opensm.sh [SHAPE...]	4x4x4 and 8x8x8; 16x16x16 takes minutes

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
(($#)) || set -- 4x4x4 8x8x8
for shape; do check_shape "$shape" 3 32768; done

# shellcheck source=tests/bench/peers.sh
. "$TOP/tests/bench/peers.sh"
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"
if [[ ${IN_NETNS-} != 1 ]]; then
	need_peers bench_opensm
	exec env IN_NETNS=1 unshare --net bash "$0" "$@"
fi
# shellcheck source=tests/bench/ibsim.sh
. "$TOP/tests/bench/ibsim.sh"

opensm_ms() {
	opensm_run "$1"
	between "building routing with 'torus-2QoS'" 'torus-2QoS tables configured'
}

ours() {
	"$B/fabricsim" route --shape "$1" --fabrics 5 --threads 1 --json |
		jq -r '"\(.tables_ms_all) \(.increment_ms_all)"'
}

printf 'all tables of a torus, milliseconds; OpenSM %s on ibsim beside ours\n' \
	"$(opensm --version 2>/dev/null | sed -n 's/^OpenSM //p' | head -n 1)"
printf '%-10s %12s %12s %8s %16s %8s\n' shape torus-2QoS ours ratio 'ours, one fault' ratio
for shape; do
	IFS=x read -r x y z <<<"$shape"
	net "$x" "$y" "$z"
	theirs=$(opensm_ms $((x * y * z > 1000 ? 500 : 60)))
	[[ $theirs ]] || { echo "bench_opensm: OpenSM made no tables of $shape" >&2; exit 1; }
	read -r all one <<<"$(ours "$shape")"
	sample "all tables of $shape, OpenSM" ms "$theirs"
	sample "all tables of $shape, ours" ms "$all"
	sample "one fault of $shape, ours" ms "$one"
	awk -v s="$shape" -v t="$theirs" -v a="$all" -v o="$one" 'BEGIN {
		printf "%-10s %12.3f %12.3f %7.0fx %16.4f %7.0fx\n", s, t, a, t / a, o, t / o }'
done
