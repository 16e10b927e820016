# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# The reference software of benchmarks (listed in tests/bench/peers). It is installed when it is
# needed. If that fails, the benchmark says what is left out and exits with a nonzero status.

# need_peers BENCHMARK: installs what the benchmark needs, or exits with status 3
need_peers() {
	local bench package command want=()
	while read -r bench package command; do
		[[ $bench == "$1" ]] || continue
		command -v "$command" >/dev/null || want+=("$package")
	done < <(sed 's/#.*//' "$TOP/tests/bench/peers")
	((${#want[@]})) || return 0
	mapfile -t want < <(printf '%s\n' "${want[@]}" | sort -u)
	install_peers "${want[@]}" || left_out "$1" "cannot install ${want[*]}"
	need_installed "$1"
}

need_installed() {
	local bench package command
	while read -r bench package command; do
		[[ $bench != "$1" ]] || command -v "$command" >/dev/null ||
			left_out "$1" "package $package has no $command"
	done < <(sed 's/#.*//' "$TOP/tests/bench/peers")
}

left_out() {
	echo "$1: left out: $2"
	exit 3
}

# policy-rc.d keeps their services from starting: benchmarks run them in namespaces.
install_peers() {
	local policy=/usr/sbin/policy-rc.d made='' status log
	log=$(mktemp)
	echo "installing $*" >&2
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && made=$policy
	fi
	{ apt-get -q update && DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends install "$@"; } </dev/null >"$log" 2>&1
	status=$?
	[[ -z $made ]] || rm -f "$made"
	((status == 0)) || tail -n 5 "$log" >&2
	rm -f "$log"
	return $status
}
