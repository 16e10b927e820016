# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash

# sample FIGURE UNIT VALUE...: prints measured values for tests/bench/run --record
sample() {
	local value
	[[ ${BENCH_SAMPLES-} ]] || return 0
	for value in "${@:3}"; do
		[[ $value =~ ^-?[0-9.]+$ ]] && printf '#\t%s\t%s\t%s\n' "$1" "$2" "$value"
	done
	return 0
}

# sample_text FIGURE TEXT: samples a text such as "12.3 ms"; "12, 34 KiB" is two figures
sample_text() {
	local word values=() unit=1 i
	for word in ${2//,/ }; do
		if [[ $word =~ ^-?[0-9.]+$ ]]; then values+=("$word"); else unit=$word; fi
	done
	((${#values[@]} != 1)) || { sample "$1" "$unit" "${values[0]}"; return; }
	for i in "${!values[@]}"; do sample "$1 [$((i + 1))]" "$unit" "${values[i]}"; done
}

# queue_drops NETNS [DEVICE]: packets that the queues of a namespace's devices dropped. Those of the
# queueing discipline are not among the device's own, and the sender of UDP is told of neither.
queue_drops() {
	local device=() own queued
	[[ -z ${2-} ]] || device=(dev "$2")
	own=$(ip -n "$1" -s -j link show "${device[@]}" | jq '[.[].stats64.tx.dropped] | add')
	queued=$(tc -n "$1" -s -j qdisc show "${device[@]}" | jq '[.[] | select(.root) | .drops] | add // 0')
	echo $((own + queued))
}
