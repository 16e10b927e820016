#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317,SC2053
#
# torus-arbiter-etcd against servers that do as etcd does, and against those that do not. The real
# etcd is in tests/arbiter.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
export TORUS_FABRIC=green
arbiter=$B/torus-arbiter-etcd
servers=()
cleanup() { ((!${#servers[@]})) || kill "${servers[@]}" 2>/dev/null; }

# serve MODE [VALUE...]: sets $url; $tmp/values gets what is stored
serve() {
	: >"$tmp/values"
	"$TOP/tests/netns/fake_etcd.py" "$@" >"$tmp/values" 2>"$tmp/errors" &
	servers+=($!)
	until_true 10 grep -q . "$tmp/values" || { cat "$tmp/errors"; return 1; }
	url=http://127.0.0.1:$(head -n 1 "$tmp/values")
}
# ask ENDPOINTS EPOCH GUID ANSWER: with $time ms, within them, and some more for a busy machine
time=$((10000 * slow))
ask() {
	local said begin=${EPOCHREALTIME/./} rc=0 took
	echo "time = ${time}ms" >"$tmp/time"
	said=$(TORUS_ARBITER_ENDPOINTS=$1 "$arbiter" --config "$tmp/time" claim "$2" "$3") || rc=$?
	took=$((${EPOCHREALTIME/./} - begin))
	echo "$said, in $((took / 1000)) ms"
	cat "$tmp/errors" 2>/dev/null
	[[ $rc == 0 && $said == $4 ]] && ((took < (time + 3000 * slow) * 1000))
}
stored() { [[ $(tail -n +2 "$tmp/values" | tr '\n' ,) == "$1" ]]; }

one=00000000000000a1 two=00000000000000b2
honest() {
	serve honest && ask "$url" 5 $one granted && ask "$url" 5 $one granted &&
		ask "$url" 5 $two "refused 5 is granted to $one" && ask "$url" 4 $one "refused 5 is granted to $one" &&
		ask "$url/" 18446744073709551615 B2 granted && stored "5 $one,18446744073709551615 $two,"
}
# The other claim came first: an earlier one is overtaken, a later one stays.
raced() {
	serve race "3,$one" "4,$two" && ask "$url" 5 $one granted && stored "5 $one," &&
		serve race "3,$one" "6,$two" && ask "$url" 5 $one "refused 6 is granted to $two" && stored '' &&
		serve races "3,$one" && ask "$url" 5 $one "unknown $url: others claim at the same time" && stored ''
}
wrong() {
	local mode
	for mode in garbage text; do
		serve $mode && ask "$url" 5 $one "unknown $url: the answer is not that of etcd" || return 1
	done
	serve refusing && ask "$url" 5 $one "unknown $url: HTTP status 503" &&
		serve honest 'hello,you' && ask "$url" 5 $one 'unknown * torus/green/root does not hold EPOCH GUID' &&
		stored ''
}
# No etcd listens at port 1.
absent() {
	ask http://127.0.0.1:1 5 $one 'unknown http://127.0.0.1:1: no connection' &&
		ask 'http://[::1]:1' 5 $one 'unknown http://\[::1\]:1: *' &&
		serve closing && ask "$url" 5 $one "unknown $url: no connection"
}
silent() {
	local time=800
	serve silent && ask "$url" 5 $one "unknown $url: no answer in time"
}
# An endpoint that is down or hangs does not keep the others from answering.
others() {
	local all=http://127.0.0.1:1 time=$((2000 * slow))
	serve silent && all+=" $url" && serve honest && ask "$all $url" 5 $one granted && stored "5 $one,"
}
configured() {
	serve honest || return 1
	printf '# etcd\nendpoints = http://127.0.0.1:1 %s\ntime = 700ms\n' "$url" >"$tmp/conf"
	exits 0 granted "$arbiter" --config "$tmp/conf" claim 5 $one || return 1
	echo 'time = 1h' >"$tmp/conf"
	exits 0 "unknown $tmp/conf: line 1: time '1h'" "$arbiter" --config "$tmp/conf" claim 5 $one || return 1
	echo 'endpoint = http://127.0.0.1:1' >"$tmp/conf"
	exits 0 "unknown $tmp/conf: line 1: unknown key 'endpoint'" "$arbiter" --config "$tmp/conf" claim 5 $one &&
		exits 0 "unknown $tmp/none: No such file" "$arbiter" --config "$tmp/none" claim 5 $one &&
		ask '' 5 $one 'unknown no endpoints are configured *' &&
		ask http://localhost:2379 5 $one "unknown endpoint 'http://localhost:2379': must be *" &&
		ask https://127.0.0.1:2379 5 $one "unknown endpoint 'https:*"
}
refused() {
	exits 2 'must be: claim EPOCH GUID' "$arbiter" claim 5 &&
		exits 2 "unknown question 'ask'" "$arbiter" ask 5 $one &&
		exits 2 "EPOCH '18446744073709551616'" "$arbiter" claim 18446744073709551616 $one &&
		exits 2 "GUID 'green'" "$arbiter" claim 5 green &&
		exits 2 "unknown option '--conf-file'" "$arbiter" --conf-file claim 5 $one &&
		exits 2 'TORUS_FABRIC is not set' env -u TORUS_FABRIC "$arbiter" claim 5 $one &&
		exits 0 'usage: torus-arbiter-etcd' "$arbiter" --help
}

check "a claim is granted once, and after it only a later one" honest
check "the later of two claims at the same time is granted" raced
check "an answer that is not etcd's makes the result unknown" wrong
check "without a server the result is unknown" absent
check "a silent server makes the result unknown" silent
check "a working endpoint is found among dead ones" others
check "the configuration file is read, and its errors are reported" configured
check "wrong arguments are refused with status 2" refused
done_testing
