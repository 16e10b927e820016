#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# fabricweb before a manager that answers megabytes, or a byte a second, and clients that want all of
# it for themselves: nobody else is locked out, and memory is bounded. In a network of its own, so
# that clients have different addresses.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ ${WEB_NETWORK-} ]] || exec env WEB_NETWORK=1 unshare -n bash "$0" "$@"
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
program=${PROGRAM:-$B/fabricweb}
clients=$TOP/tests/netns/web_clients.py
control=$tmp/control
port=7180
pids=()

cleanup() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
}

up() {
	ip link set lo up && ip addr add 10.9.0.0/24 dev lo || return 1
	"$TOP/tests/netns/odd_manager.py" "$control" & pids+=($!)
	until_true 10 test -S "$control"
}

# serve [OPTION...]: starts fabricweb anew, process $web
serve() {
	[[ -z ${web-} ]] || { kill "$web"; wait "$web"; }
	rm -f "$tmp/log"
	"$program" --config /dev/null --listen "0.0.0.0:$port" --control "$control" "$@" 2>"$tmp/log" & web=$!
	pids+=("$web")
	until_true 10 grep -q serving "$tmp/log"
}
# get PATH [OPTION...]: status of HTTP; the answer is in $tmp/answer
get() { curl -sS -m 25 -o "$tmp/answer" -w '%{http_code}' "http://127.0.0.1:$port$1" "${@:2}"; }
gives() {
	local got
	got=$(get "${@:2}")
	[[ $got == "$1" ]] || { say "$2: $got, not $1: $(head -c 300 "$tmp/answer")"; return 1; }
}
resident() { awk '/^VmRSS:/ { print $2 }' "/proc/$web/status"; }
# crowd N PATH [HOST]: clients that read nothing, until "kill $last"
crowd() {
	: >"$tmp/crowd"
	"$clients" "$port" hold "$@" < <(exec sleep 600) >"$tmp/crowd" & pids+=($!); last=$!
	until_true 180 test -s "$tmp/crowd"
}
streams_of() { ss -Htn state established "src 10.9.0.$1" | wc -l; }

# A client that has all connections: another one gets in, and the first keeps most of them.
greedy() {
	serve && crowd 256 /events 10.9.0.4 && until_true 10 gives 200 /api/status --interface 10.9.0.9 || return 1
	say "$(streams_of 5) streams are left"
	(($(streams_of 5) > 250)) && kill "$last"
}

unread() {
	local i
	serve || return 1
	# Each asks for another part, so no answer is that of two.
	crowd 100 '/api/nodes?count={}' || return 1
	for i in {1..20}; do rest 0.2; (($(resident) < 150000)) || return 1; done
	say "100 clients read nothing of 4 MB each: $(resident) kB"
	# The same client gets no more; another one does at once, and again.
	until_true 30 gives 503 '/api/nodes?count=200' && grep -q 'has not read' "$tmp/answer" || return 1
	for i in {1..5}; do gives 200 "/api/nodes?count=30$i" --interface 10.9.0.9 || return 1; done
	kill "$last"
	# The same answer for all
	serve && crowd 200 '/api/nodes' && until_true 30 gives 200 /api/nodes && say "the same answer: $(resident) kB" &&
		(($(resident) < 60000)) && kill "$last"
}

# A manager that never ends an answer: it is given up, and so is who waits behind it.
trickle() {
	local p rc=0 waiting=()
	serve || return 1
	for p in {1..5}; do
		curl -sS -m 40 -o "$tmp/rows.$p" -w '%{http_code}\n' "http://127.0.0.1:$port/api/rows?node=$p" >"$tmp/code.$p" & waiting+=($!)
	done
	wait "${waiting[@]}"
	for p in {1..5}; do
		[[ $(<"$tmp/code.$p") == 504 ]] && jq -e '.code == "timeout"' "$tmp/rows.$p" >/dev/null || { say "$p: $(<"$tmp/code.$p")"; rc=1; }
	done
	((!rc)) && gives 200 /api/status
}

# A client whose questions would keep the manager busy for longer than any may take
questions() {
	serve && crowd 200 '/api/park?node={}' 10.9.0.4 && gives 200 /api/status --interface 10.9.0.9 -m 5 &&
		gives 200 '/api/park?node=150' --interface 10.9.0.9 -m 5 && kill "$last"
}

users_file() {
	python3 -W ignore -c 'import crypt; print("admin:change:" + crypt.crypt("secret", "$6$rounds=3000000$abcdefgh"))' >"$tmp/users" &&
		printf '%s\n' "scraper:read:sha256:$(printf %s token | sha256sum | cut -d' ' -f1)" "quick:change:$(openssl passwd -6 secret)" >>"$tmp/users"
}

# Wrong passwords of one client, whose hashes take seconds
guesses() {
	local i p=()
	users_file && serve --users "$tmp/users" --allow-changes || return 1
	rm -f "$tmp"/guess.*
	for i in 1 2 3 4; do
		curl -sS -m 60 -o /dev/null -w '%{http_code}\n' -u "admin:wrong$i" "http://127.0.0.1:$port/" >"$tmp/guess.$i" & p+=($!)
	done
	until_true 10 other_clients_wait || return 1
	gives 200 /api/status -H 'Authorization: Bearer token' && (($(cat "$tmp"/guess.* | wc -l) < 4)) || { say "a right token waits for wrong passwords"; return 1; }
	# Of those that wait from one address there is a limit, which others do not notice.
	gives 429 /api/status -u quick:secret && gives 200 /api/status -u quick:secret --interface 10.9.0.9 || return 1
	(($(cat "$tmp"/guess.* | wc -l) < 4)) || { say "a right password waits for all wrong ones"; return 1; }
	wait "${p[@]}"
	[[ $(cat "$tmp"/guess.*) == $'401\n401\n401\n401' ]] && grep -q "wrong password for 'admin' from 127.0.0.1" "$tmp/log"
}
other_clients_wait() { (($(ss -Htn state established "dport = $port" | wc -l) >= 4)); }

# The requests of a page, before its password was right once
same_password() {
	local i p=()
	users_file && serve --users "$tmp/users" || return 1
	for i in {1..8}; do
		curl -sS -m 60 -o /dev/null -w '%{http_code}\n' -u admin:secret "http://127.0.0.1:$port/" >"$tmp/same.$i" & p+=($!)
	done
	wait "${p[@]}"
	[[ $(sort -u "$tmp"/same.*) == 200 ]] || { say "$(cat "$tmp"/same.*)"; return 1; }
}

tries() {
	local i codes=''
	printf '%s\n' "quick:change:$(openssl passwd -6 secret)" >"$tmp/users"
	serve --users "$tmp/users" --allow-changes || return 1
	for i in {1..15}; do codes+=$(get / -u quick:wrong)' '; done
	[[ $codes == *429* ]] && grep -qi '^retry-after: [0-9]' <(curl -sS -m 20 -D - -o /dev/null -u quick:wrong "http://127.0.0.1:$port/") || { say "$codes"; return 1; }
	gives 200 / -u quick:secret --interface 10.9.0.9
}

logged() {
	users_file && serve --users "$tmp/users" --allow-changes || return 1
	local json='Content-Type: application/json'
	gives 401 /api/exclude -H "$json" -d '{"node":"1,0"}' && grep -q "change by '' from 127.0.0.1 is refused: a name.*1,0" "$tmp/log" &&
		gives 403 /api/exclude -H "$json" -d '{"node":"1,1"}' -u scraper:token && grep -q "change by 'scraper' from 127.0.0.1 is refused: .*only look.*1,1" "$tmp/log" &&
		gives 403 /api/exclude -H "$json" -d '{"node":"1,1"}' -u quick:secret -H 'Origin: http://evil.example' && grep -q "is refused: .*another site" "$tmp/log" &&
		gives 401 / -u nobody:wrong && grep -q 'wrong password for an unknown user from 127.0.0.1' "$tmp/log" &&
		gives 401 / -H 'Authorization: Bearer wrong' && grep -q 'wrong token or password from' "$tmp/log" || return 1
	# A client cannot write lines of its own, nor fill the log.
	gives 400 /api/exclude -H "$json" -d '{"a\nfabricweb: forged":1}' -u quick:secret && grep -q 'a?fabricweb: forged' "$tmp/log" || return 1
	for _ in {1..30}; do get / -H 'Authorization: Bearer wrong' >/dev/null; done
	(($(grep -c 'wrong token' "$tmp/log") < 20))
}

# The page asks this before it offers changes
who_am_i() {
	local opt
	users_file && for opt in --allow-changes ''; do
		serve --users "$tmp/users" $opt && gives 200 /api/user -u quick:secret &&
			[[ $(jq -c '[.user, .changes]' "$tmp/answer") == "[\"quick\",$([[ $opt ]] && echo true || echo false)]" ]] &&
			gives 200 /api/user -u scraper:token && [[ $(jq -c . "$tmp/answer") == '{"user":"scraper","changes":false}' ]] || return 1
	done
	serve && gives 200 /api/user && [[ $(jq -c . "$tmp/answer") == '{"user":null,"changes":false}' ]]
}

# A right password is not called wrong because the program ends, or the file is read again, meanwhile.
while_hashing() {
	local p
	users_file && serve --users "$tmp/users" || return 1
	get /api/user -u admin:secret >/dev/null & p=$!
	until_true 10 hashes && sed -i 's/^admin:change/admin:read/; s/abcdefgh/abcdefgi/' "$tmp/users" && kill -HUP "$web" && wait "$p"
	grep -q "password of 'admin' from 127.0.0.1 was right until" "$tmp/log" && ! grep wrong "$tmp/log" || return 1
	users_file && serve --users "$tmp/users" || return 1
	get /api/user -u admin:secret >/dev/null 2>&1 & p=$!
	until_true 10 hashes && kill "$web" && wait "$web"
	wait "$p"
	web=
	! grep wrong "$tmp/log"
}
# More than 0.1 s of the processor, which nothing else takes
hashes() { (($(cut -d" " -f14 "/proc/$web/stat") > 10)); }

# Streams of a user who is taken out of the file, or may no longer do the same, end; others do not.
users_change() {
	local gone stays
	users_file && serve --users "$tmp/users" || return 1
	curl -sSN -u quick:secret "http://127.0.0.1:$port/events" >"$tmp/gone" 2>/dev/null & gone=$!
	curl -sSN -u scraper:token "http://127.0.0.1:$port/events" >"$tmp/stays" 2>/dev/null & stays=$!
	pids+=("$gone" "$stays")
	until_true 10 grep -q hello "$tmp/gone" && until_true 10 grep -q hello "$tmp/stays" || return 1
	sed -i '/^quick/d' "$tmp/users" && kill -HUP "$web" && until_true 10 grep -q 'read again' "$tmp/log" || return 1
	until_true 10 has_ended "$gone" && ! has_ended "$stays" && grep -q "the events of 'quick'" "$tmp/log" &&
		gives 401 /api/status -u quick:secret && gives 200 /api/status -u scraper:token && kill "$stays"
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }

# The name of another site, that is resolved to an address of this machine
rebinding() {
	local host
	serve --hosts 'torus.site www' || return 1
	for host in evil.example "evil.example:$port" "$(uname -n).evil.example"; do
		gives 421 /api/status -H "Host: $host" && jq -e '.ok == false' "$tmp/answer" >/dev/null || return 1
	done
	for host in localhost "$(uname -n):$port" torus.site www 10.9.0.1 '[::1]:1'; do
		gives 200 /api/status -H "Host: $host" || return 1
	done
	gives 200 / -0 -H 'Host:' && users_file && serve --users "$tmp/users" && gives 200 /api/status -u scraper:token -H 'Host: any.example'
}

options() {
	echo 'nothing = 1' >"$tmp/bad.conf"
	"$program" --config "$tmp/bad.conf" --help >/dev/null && "$program" --config "$tmp/bad.conf" --version >/dev/null &&
		! "$program" --config /dev/null --check --listen 127.0.0.1:7180x 2>/dev/null &&
		! "$program" --config /dev/null --check --listen 127.0.0.1: 2>/dev/null || return 1
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -passout pass:secret -days 2 -subj /CN=localhost \
		-keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null || return 1
	# With a terminal to ask at, too
	script -qec "'$program' --config /dev/null --check --tls-cert '$tmp/cert.pem' --tls-key '$tmp/key.pem'" /dev/null </dev/null >"$tmp/said"
	local rc=$?
	((rc == 1)) && grep 'tls_key' "$tmp/said" && ! grep -i 'pass phrase:' "$tmp/said"
}

check "a network and a manager are prepared" up
check "a client that takes all connections does not keep others out" greedy
check "connections of clients that do not read are closed" unread
check "a manager whose answer never ends is given up" trickle
check "a client with many requests does not keep others out" questions
check "passwords whose hashes take seconds do not keep others out" guesses
check "a right password that comes eight times at once is let in" same_password
check "many passwords of one client are slowed down, not those of others" tries
check "refusals and wrong passwords are logged" logged
check "the page learns what a user may do" who_am_i
check "a right password is not called wrong if users change during its hash" while_hashing
check "streams of a removed user end, and others do not" users_change
check "a site that pretends to be this one is refused" rebinding
check "wrong options are refused, and no pass phrase is asked for" options
cleanup
done_testing
