#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What it costs to watch a fabric: a packed lab of 64 nodes with 12 ports each and a fabricweb at each
# node. Measured are a scrape of one node, the memory of fabricweb with 100 browsers, and the processor
# time of all managers and all fabricwebs while nobody reads, and while each node is scraped every
# 15 s.
#
#	bench_web.sh [SECONDS]		30 to 3600, how long each of the latter is measured (60)

set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/bench/usage.sh
. "$TOP/tests/bench/usage.sh"
asks_help "$@"
(($# < 2)) || usage_error "'$2' is one argument too many"
[[ ${1-} != -* ]] || usage_error "unknown option '$1'"
seconds=${1-60}
check_number SECONDS "$seconds" 30 3600
# shellcheck source=tests/bench/sample.sh
. "$TOP/tests/bench/sample.sh"
shape=2x2x2x2x2x2
lab=bw$$
run=/run/torus/$lab
tmp=$(mktemp -d)
scrapes=100 pids=()
cleanup() {
	local p
	for p in ${pids[@]+"${pids[@]}"}; do kill "$p" 2>/dev/null; done
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	rm -rf "$tmp"
}
trap cleanup EXIT

die() { echo "bench_web: $*" >&2; exit 1; }
# row TEXT VALUE WANTED
row() {
	printf '%-58s %16s   %s\n' "$@"
	sample_text "$1" "$2"
}
# spent PID...: processor time of these processes so far, in ms
spent() {
	local p
	for p; do sed 's/^.*) //' "/proc/$p/stat"; done | awk -v hz="$(getconf CLK_TCK)" '{ n += $12 + $13 } END { print int(1000 * n / hz) }'
}
median() { sort -n | awk '{ a[NR] = $1 } END { printf "%.1f", a[int((NR + 1) / 2)] }'; }

"$B/fabricctl" lab up "$shape" --name "$lab" --packed --web --json >"$tmp/up" || die "the lab does not come up"
mapfile -t urls < <(jq -r '.web[]' "$tmp/up")
mapfile -t managers < <(cut -d' ' -f1 "$run"/*/fabricd.pid)
mapfile -t webs < <(cut -d' ' -f1 "$run"/*/fabricweb.pid)
((${#urls[@]} == 64 && ${#managers[@]} == 64 && ${#webs[@]} == 64)) ||
	die "${#managers[@]} managers, ${#webs[@]} fabricwebs and ${#urls[@]} pages: must be 64 of each"

# --- one node: the last one, which is not the root
manager=${managers[63]} web=${webs[63]} url=${urls[63]}
before=$(spent "$manager" "$web")
for ((i = 0; i < scrapes; i++)); do
	curl -sS -o "$tmp/metrics" -w '%{time_total}\n' "${url}metrics" || die "no answer"
	sleep 0.3	# fabricweb keeps the manager's answer for a quarter of a second
done | awk '{ print 1000 * $1 }' >"$tmp/times"
after=$(spent "$manager" "$web")
row "a scrape, until it has come, median (ms)" "$(median <"$tmp/times")" "< 5"
row "a scrape, processor time of manager and fabricweb (ms)" "$(awk "BEGIN { printf \"%.2f\", ($after - $before) / $scrapes }")" "< 5"
row "a scrape (kB)" "$(awk "BEGIN { printf \"%.1f\", $(stat -c %s "$tmp/metrics") / 1000 }")" "< 100"
for i in {1..100}; do
	curl -sSN "${url}events" >/dev/null 2>&1 & pids+=($!)
done
for ((i = 0; i < 100; i++)); do
	(($(ss -tnH state established "( sport = :$(sed 's/.*:\([0-9]*\).*/\1/' <<<"$url") )" 2>/dev/null | wc -l) < 100)) || break
	sleep 0.1
done
row "fabricweb with 100 browsers, resident (MiB)" "$(awk '/^VmRSS:/ { printf "%.1f", $2 / 1024 }' "/proc/$web/status")" "< 12"
for p in "${pids[@]}"; do kill "$p"; done 2>/dev/null
wait "${pids[@]}" 2>/dev/null
pids=()

# --- all nodes
# share TEXT WANTED PID...: processor time of these processes in the next seconds, of one processor
share() {
	local text=$1 wanted=$2 before
	shift 2
	before=$(spent "$@")
	sleep "$seconds"
	percent=$(awk "BEGIN { printf \"%.2f\", ($(spent "$@") - $before) / 10 / $seconds }")
	row "$text (% of a processor)" "$percent" "$wanted"
}
share "64 managers that nobody asks" - "${managers[@]}"
idle=$percent
share "64 fabricwebs that nobody asks" - "${webs[@]}"
(sleep 7
while :; do
	sleep 15 & pause=$!
	for u in "${urls[@]}"; do curl -sS -o /dev/null "${u}metrics"; done
	wait "$pause"
done) & pids+=($!)
share "both, each scraped every 15 s" - "${managers[@]}" "${webs[@]}"
row "watching, the difference (% of a processor)" "$(awk "BEGIN { printf \"%.2f\", $percent - $idle }")" "< 2"
