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
