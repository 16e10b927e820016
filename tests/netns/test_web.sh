#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# fabricweb in a lab: every path, what fabricctl prints is what it serves, events that go on where a
# browser has stopped, users, TLS, changes, too many and odd clients, a manager that is away, hangs,
# is restarted, or is no manager.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
lab=web$$
# shellcheck source=tests/netns/lab.sh
. "$TOP/tests/netns/lab.sh"
clients=$TOP/tests/netns/web_clients.py
pids=()

# shellcheck disable=SC2317
cleanup() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
	"$B/fabricctl" lab down --name "${lab}w" >/dev/null 2>&1
}

# serve [OPTION...]: starts fabricweb on a free port, which is $port then, and its process $web
serve() {
	local tries
	for tries in {1..20}; do
		port=$((20000 + (RANDOM + $$ + tries) % 30000))
		"${program:-$bin/fabricweb}" --config /dev/null --listen "127.0.0.1:$port" --control "$control" "$@" 2>"$tmp/log.$port" &
		web=$!
		until_true 10 grep -q 'serving\|cannot listen' "$tmp/log.$port" || return 1
		kill -0 "$web" 2>/dev/null && { pids+=("$web"); return; }
	done
	return 1
}
# get PATH [OPTION...]: what curl prints
get() { curl -sS -m 20 "${@:2}" "http://127.0.0.1:$port$1"; }
# code PATH [OPTION...]: status of HTTP; the answer is in $tmp/answer
code() { get "$1" -o "$tmp/answer" -w '%{http_code}' "${@:2}"; }
# gives CODE PATH [OPTION...]
gives() {
	local got
	got=$(code "${@:2}")
	[[ $got == "$1" ]] || { say "$2: $got, not $1: $(head -c 300 "$tmp/answer")"; return 1; }
}

up() {
	lab up 3x2 "${patience[@]}" && until_true 20 is .state running && control=/run/torus/$lab/0.0/control && serve
}

every_path() {
	local p
	for p in / /metrics /api/{status,nodes,links,counters,metrics,park,events,history,coord,table,root,jobs} \
		'/api/rows?node=1,0' '/api/coord?name=n1-0' '/api/eye?node=0,0&port=%2Bx' '/api/links?node=1,1&count=2&brief=1' \
		'/api/links?degraded=1' '/api/history?last=2&level=info' '/api/nodes?full=1'; do
		gives 200 "$p" || return 1
	done
	[[ $(get '/api/nodes?full=1' | jq -c 'keys, .missing, .rootless') == $'["data","missing","rootless"]\n[]\nnull' ]] &&
		get / -D - -o /dev/null | grep -i "^content-security-policy: default-src 'none'" &&
		[[ $(get / -I -o /dev/null -w '%{http_code} %{size_download}') == '200 0' ]]
}

bad_paths() {
	local p
	for p in /none /api /api/ /api/move /api/../etc/passwd /%2e%2e/etc/passwd //; do
		gives 404 "$p" --path-as-is && jq -e '.ok == false' "$tmp/answer" >/dev/null || return 1
	done
	for p in '/api/links?x=1' '/api/links?node=%' '/api/links?node=9,9' '/api/eye?node=0,0&port=%2Bz' '/events?x=1'; do
		gives 400 "$p" && jq -e '.code == "usage"' "$tmp/answer" >/dev/null || return 1
	done
	gives 414 "/api/coord?name=$(printf 'a%.0s' {1..2100})" && gives 405 /api/status -d x &&
		gives 403 /api/exclude && gives 501 /api/status -X DELETE || return 1
	[[ $(get / -H "X: $(printf 'a%.0s' {1..9000})" -o /dev/null -w '%{http_code}') != 200 ]] &&
		[[ $(code /api/exclude -H 'Content-Type: application/json' -d "$(printf 'a%.0s' {1..20000})") == 413 ]]
}

# The parts of answers that change by themselves are left out.
still='del(.. | .state_age?, .heard_ms?, .time?, .uptime?) | walk(if type == "number" then 0 else . end)'
# "status" of fabricctl adds what it asks besides.
own='if type == "object" then del(.degraded_links?, .next?) else . end'
same_as_fabricctl() {
	local c
	for c in status nodes links counters table root coord; do
		diff <(get "/api/$c$([[ $c != links ]] || echo "?lanes=1")" | jq -S "$still") <(ask "$c" --json | jq -S "$still | $own") || { say "$c differs"; return 1; }
	done
	diff <(get /api/metrics | jq -c '[.[].name]') <(ask metrics --json | jq -c '[.[].name]') || return 1
	for c in nodes links counters coord events; do
		get "/api/$c$([[ $c != links ]] || echo "?lanes=1")" >"$tmp/$c.json" &&
			python3 "$TOP/tests/netns/schema.py" "$TOP/tools/fabricctl/schema" "$c" "$tmp/$c.json" || return 1
	done
}

parsers_read_it() {
	get /metrics >"$tmp/plain" && get /metrics -H 'Accept: application/openmetrics-text; version=1.0.0' >"$tmp/open" &&
		"$TOP/tests/netns/metrics.py" parse "$tmp/plain" "$tmp/open" &&
		[[ $(code /metrics -D "$tmp/head") == 200 ]] && grep -i '^content-type: text/plain; version=0.0.4' "$tmp/head" &&
		(($(wc -c <"$tmp/plain") < 100000))
}

# stream FILE [OPTION...]: follows the events, into that file
stream() { curl -sSN "http://127.0.0.1:$port/events" "${@:2}" >"$1" 2>/dev/null & pids+=($!); last=$!; }
last_id() { sed -n 's/^id: //p' "$1" | tail -n 1; }
lost() { grep -c "$1.*is lost" "$2"; }

reconnect() {
	local id
	stream "$tmp/first" && until_true 10 grep -q 'shape 3x2' "$tmp/first" || return 1
	ask exclude 0,0:+y >/dev/null && until_true 10 grep -q '"kind":"admin".*0,0:+y\|0,0:+y.*exclu' "$tmp/first" || return 1
	kill "$last"
	id=$(last_id "$tmp/first")
	[[ $id ]] || return 1
	lab cut 1,0:+x >/dev/null && until_true 10 is .links.faulty 1 || return 1
	# What was missed comes, once; what was seen does not.
	stream "$tmp/second" -H "Last-Event-ID: $id" && until_true 10 grep -q '1,0:+x.*is lost' "$tmp/second" &&
		[[ $(lost 1,0:+x "$tmp/second") == 1 ]] && ! grep 'shape 3x2\|^event: missed' "$tmp/second" || return 1
	lab mend 1,0:+x >/dev/null && until_true 10 is .links.faulty 0 && until_true 10 grep -q '1,0:+x.*is up' "$tmp/second" || return 1
	# All browsers share one connection to the manager.
	stream "$tmp/third" && until_true 10 grep -q 'shape 3x2' "$tmp/third" &&
		[[ $(grep '^id:' "$tmp/third" | sort | uniq -d | wc -l) == 0 ]] &&
		(($(ss -xH state connected src "$control" | wc -l) <= 6)) || return 1
	stream "$tmp/fourth" -H 'Last-Event-ID: nonsense' && until_true 10 grep -q '^event: missed' "$tmp/fourth" &&
		until_true 10 grep -q 'shape 3x2' "$tmp/fourth" || return 1
	ask include 0,0:+y >/dev/null && until_true 10 is .links.excluded 0
}

# refused_change CODE FILTER [OPTION...]
refused_change() {
	gives "$1" /api/exclude -H 'Content-Type: application/json' -d '{"node":"0,0","port":"+y"}' "${@:3}" &&
		jq -e "$2" "$tmp/answer" >/dev/null && is .links.excluded 0
}

read_only() { refused_change 403 '.code == "denied"' && is .links.excluded 0; }

users() {
	printf '%s\n' "admin:change:$(openssl passwd -6 secret)" \
		"scraper:read:sha256:$(printf %s token | sha256sum | cut -d' ' -f1)" >"$tmp/users"
	! "$bin/fabricweb" --config /dev/null --allow-changes 2>/dev/null &&
		serve --users "$tmp/users" --allow-changes && gives 401 / && gives 401 /metrics -u admin:wrong &&
		gives 200 /metrics -H 'Authorization: Bearer token' && gives 200 /metrics -u scraper:token &&
		gives 200 / -u admin:secret && refused_change 401 '.code == "denied"' &&
		refused_change 403 '.error | test("only look")' -u scraper:token &&
		refused_change 403 '.error | test("another site")' -u admin:secret -H 'Origin: http://evil.example' &&
		gives 415 /api/exclude -u admin:secret -d '{"node":"0,0"}'
}

changes() {
	local json='Content-Type: application/json'
	gives 200 /api/exclude -u admin:secret -H "$json" -d '{"node":"0,0","port":"+y","reason":"dust"}' &&
		until_true 10 is .links.excluded 1 && is '.orders[0].reason' dust &&
		grep "change by 'admin' from 127.0.0.1: done: .*\"exclude\".*dust" "$tmp/log.$port" &&
		gives 200 /api/include -u admin:secret -H "$json" -d '{"node":"0,0","port":"+y"}' &&
		until_true 10 is .links.excluded 0 || return 1
	gives 200 /api/link/down -u admin:secret -H "$json" -d '{"node":"2,0","port":"+x"}' &&
		until_true 10 is .links.faulty 1 &&
		gives 200 /api/link/up -u admin:secret -H "$json" -d '{"node":"2,0","port":"+x"}' &&
		until_true 20 is .links.faulty 0 || return 1
	gives 400 /api/exclude -u admin:secret -H "$json" -d '{"node":"9,9"}' &&
		grep "change by 'admin' .*: usage: .*9,9" "$tmp/log.$port"
}

# The right to change something is that of the process at the control socket.
rights_of_socket() {
	cp "$bin/fabricweb" "$tmp/fabricweb" && chmod 755 "$tmp/fabricweb" && chmod 644 "$tmp/users" || return 1
	mkdir -p "$tmp/unprivileged" && printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups %s "$@"\n' "$tmp/fabricweb" \
		>"$tmp/unprivileged/fabricweb" && chmod 755 "$tmp/unprivileged/fabricweb" || return 1
	program=$tmp/unprivileged/fabricweb serve --users "$tmp/users" --allow-changes && gives 200 /api/status -u admin:secret && refused_change 403 '.code == "denied"' -u admin:secret &&
		grep "change by 'admin' .*: denied: " "$tmp/log.$port"
}

tls() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
		-addext subjectAltName=IP:127.0.0.1 -keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null || return 1
	! "$bin/fabricweb" --config /dev/null --tls-cert "$tmp/cert.pem" 2>/dev/null &&
		! "$bin/fabricweb" --config /dev/null --check --tls-cert "$tmp/cert.pem" --tls-key "$tmp/cert.pem" 2>/dev/null &&
		serve --tls-cert "$tmp/cert.pem" --tls-key "$tmp/key.pem" || return 1
	local url=https://127.0.0.1:$port
	[[ $(curl -sS --cacert "$tmp/cert.pem" "$url/api/coord" | jq -c .node) == '[0,0]' ]] &&
		! curl -sS -m 5 "http://127.0.0.1:$port/" 2>/dev/null &&
		! curl -sS --tls-max 1.1 --cacert "$tmp/cert.pem" "$url/" 2>/dev/null || return 1
	# With a new certificate, the connections go on.
	curl -sSN --cacert "$tmp/cert.pem" "$url/events" >"$tmp/tls" 2>/dev/null & pids+=($!)
	until_true 10 grep -q 'shape 3x2' "$tmp/tls" && echo broken >"$tmp/cert.pem.new" && cp "$tmp/cert.pem" "$tmp/old.pem" &&
		cp "$tmp/cert.pem.new" "$tmp/cert.pem" && kill -HUP "$web" &&
		until_true 10 grep -q 'stay as they were' "$tmp/log.$port" &&
		curl -sS --cacert "$tmp/old.pem" "$url/api/coord" >/dev/null && cp "$tmp/old.pem" "$tmp/cert.pem" && kill -HUP "$web" &&
		until_true 10 grep -q 'were read again' "$tmp/log.$port" && curl -sS --cacert "$tmp/cert.pem" "$url/api/coord" >/dev/null &&
		lab cut 0,1:+x >/dev/null && until_true 10 grep -q '0,1:+x.*is lost' "$tmp/tls" && lab mend 0,1:+x >/dev/null
}

# crowd FILE VERB...: clients that stay until the end, and what they print
crowd() {
	"$clients" "$port" "${@:2}" < <(exec sleep 600) >"$1" & pids+=($!); last=$!
	until_true 180 test -s "$1"
}
resident() { awk '/^VmRSS:/ { print $2 }' "/proc/$web/status"; }

too_many() {
	serve || return 1
	crowd "$tmp/idle" idle 300 || return 1
	say "$(<"$tmp/idle") of 300 got 503, made room, and are open"
	[[ $(<"$tmp/idle") == '44 0 256' ]] || return 1
	# An idle connection gives way to a client that asks.
	until_true 10 gives 200 /api/status && kill "$last" && until_true 10 gives 200 /api/status
	# Ten thousand. Those that are idle for 3 s make room for others; the more of them do, the longer it
	# takes to connect all. Each of the others but 256 reads 503, and none is reset.
	local refused ended open
	: >"$tmp/idle"
	crowd "$tmp/idle" idle 10000 || return 1
	say "$(<"$tmp/idle") of 10000, $(resident) kB"
	read -r refused ended open <"$tmp/idle"
	((refused + ended == 9744 && open == 256)) && until_true 10 gives 200 /api/status && kill "$last" && (($(resident) < 12288))
}

# A client that is refused gives way, too, although it has made a request.
too_many_refused() {
	serve --users "$tmp/users" && : >"$tmp/idle" && crowd "$tmp/idle" refused 256 || return 1
	[[ $(<"$tmp/idle") == 256 ]] && until_true 10 gives 200 /api/status -u scraper:token && kill "$last"
}

odd_clients() {
	serve && [[ $("$clients" "$port" pipeline) == '200 200 404' ]] && [[ $("$clients" "$port" deaf) == 'held back' ]] &&
		(($(resident) < 12288)) || return 1
	local n
	n=$("$clients" "$port" slow) && say "a slow request ends after $n s" && ((n < 40)) || return 1
	head -c 100000 /dev/urandom | "$clients" "$port" raw >/dev/null
	printf 'GET /api/status HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n' | "$clients" "$port" raw >/dev/null
	printf 'POST /api/exclude HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n' | "$clients" "$port" raw >/dev/null
	# Where a proxy may find another end of the request, the connection ends, too.
	local odd
	for odd in 'HEAD / HTTP/1.1\r\nContent-Length: 4' 'HEAD / HTTP/1.1\r\nTransfer-Encoding: chunked' \
		'POST / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 4' 'POST / HTTP/1.1\r\nContent-Length : 4' \
		'POST / HTTP/1.1\r\nContent-Length\v: 4' 'POST / HTTP/1.1\r\nTransfer-Encoding\v: chunked' \
		'POST / HTTP/1.1\r\nContent-Length: +4' 'POST / HTTP/1.1\r\nTransfer-Encoding: x' \
		'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4' 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0' \
		'GET / HTTP/1.1\r\nHost: localhost'; do
		odd=${odd/HTTP\/1.1\\r/HTTP\/1.1\\r\\nHost: localhost\\r}
		[[ $(printf '%b\r\n\r\nGET / HTTP/1.1\r\n\r\n' "$odd" | "$clients" "$port" raw) == 'HTTP/1.'?' 400 Bad Request' ]] || { say "$odd"; return 1; }
	done
	# RFC 9112, 3.2: each request of HTTP/1.1 has a host.
	[[ $(printf 'GET / HTTP/1.1\r\n\r\n' | "$clients" "$port" raw) == 'HTTP/1.1 400 Bad Request' &&
		$(printf 'GET / HTTP/1.0\r\n\r\n' | "$clients" "$port" raw) == 'HTTP/1.'?' 200 OK' ]] || { say "no host"; return 1; }
	# What follows CONNECT is no request.
	[[ $(printf 'CONNECT localhost:1 HTTP/1.1\r\n\r\nGET /none HTTP/1.1\r\n\r\n' | "$clients" "$port" all) == 400 ]] || return 1
	gives 200 /api/status && kill -0 "$web"
}

browsers() {
	serve || return 1
	"$clients" "$port" events 100 "$tmp/ready" < <(exec sleep 600) >"$tmp/browsers" & pids+=($!); last=$!
	until_true 150 [ -e "$tmp/ready" ] && lab cut 2,1:+x >/dev/null && until_true 150 [ -s "$tmp/browsers" ] || return 1
	say "100 browsers: $(resident) kB"
	lab mend 2,1:+x >/dev/null && [[ $(<"$tmp/browsers") == 100 ]] && (($(resident) < 12288)) && kill "$last" &&
		until_true 20 is .state running
}

# A manager that is restarted numbers its events from 1 again; it may not be the root any more.
twice_numbered() { [[ $(grep -c '^id: 1-' "$tmp/away") == 2 ]]; }
# The manager hangs; it ends; it comes back, and the stream goes on.
away() {
	local pid
	serve && stream "$tmp/away" && until_true 10 grep -q 'shape 3x2' "$tmp/away" || return 1
	pid=$(cut -d' ' -f1 "/run/torus/$lab/0.0/fabricd.pid") && kill -STOP "$pid" || return 1
	gives 504 /api/nodes && jq -e '.code == "timeout"' "$tmp/answer" >/dev/null
	local rc=$?
	kill -CONT "$pid"
	((!rc)) && until_true 30 gives 200 /api/nodes && lab kill --manager 0,0 >/dev/null && until_true 10 gives 503 /api/nodes &&
		jq -e '.code == "unreachable"' "$tmp/answer" >/dev/null && gives 503 /metrics && gives 200 / &&
		until_true 10 grep -q '"reachable":false' "$tmp/away" && lab revive 0,0 >/dev/null &&
		until_true 30 gives 200 /api/nodes && until_true 30 grep -q '"reachable":true' "$tmp/away" &&
		until_true 30 twice_numbered
}

# Another program, or another version, at the control socket
no_manager() {
	local control=$tmp/other
	python3 -c '
import socket, sys, threading
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(20)
def talk(c):
    for line in c.makefile("rb"):
        c.sendall({b"status": b"garbage\n", b"port": b"garbage\n", b"nodes": b"{\"ok\":true}\n", b"links": b"{\"ok\":true,\"data\":[1]}\n{\"ok\":true,\"data\":[2]}\n",
                   b"root": b"{\"ok\":false,\"code\":\"strange\",\"error\":\"<b>\"}\n"}.get(line.split(b"\"")[3], b"{\"new\":{},\"data\":[],\"ok\":true}\n"))
while True:
    threading.Thread(target=talk, args=(s.accept()[0],), daemon=True).start()
' "$control" & pids+=($!)
	until_true 10 [ -S "$control" ] && serve && gives 502 /api/status && gives 502 /api/nodes && gives 500 /api/root &&
		jq -e '.code == "strange" and .error == "<b>"' "$tmp/answer" >/dev/null && gives 200 /api/table || return 1
	# A line too many is not taken for the next answer.
	local n
	for n in 1 2 3; do
		rest 0.3
		[[ $(get /api/links) == '[1]' ]] || return 1
	done
	gives 200 /metrics && kill -0 "$web" && serve --users "$tmp/users" --allow-changes &&
		gives 502 /api/link/down -u admin:secret -H 'Content-Type: application/json' -d '{"node":"2,0","port":"+x"}' &&
		grep "change by 'admin' .*: the manager's answer cannot be read: .*\"port\"" "$tmp/log.$port"
}

# Two fabrics on one host, each with its own managers and its own fabricweb
two_fabrics() {
	local other=${lab}w rc=0 first
	serve && first=$port && "$bin/fabricctl" lab up 3 --name "$other" "${patience[@]}" || return 1
	control=/run/torus/$other/0/control serve || rc=1
	[[ $(get /api/status | jq -c .shape) == '[3]' && $(port=$first get /api/status | jq -c .shape) == '[3,2]' ]] || rc=1
	[[ $(get /metrics | grep -c '^torus_link_up{') == 2 && $(port=$first get /metrics | grep -c '^torus_link_up{') == 4 ]] || rc=1
	[[ $(get '/api/history?last=100' | jq -r '.events[].text' | grep -c 'shape 3x2') == 0 ]] || rc=1
	# The end of one fabric is nothing to the other.
	"$bin/fabricctl" lab down --name "$other" && until_true 10 gives 503 /api/nodes || rc=1
	port=$first gives 200 /api/nodes && return "$rc"
}

# A page for each node, which is there as long as the lab is
lab_web() {
	local other=${lab}w urls url n=0
	"$bin/fabricctl" lab up 2x1 --name "$other" --web --json >"$tmp/lab-up.json" || return 1
	python3 "$TOP/tests/netns/schema.py" "$TOP/tools/fabricctl/schema" lab-up "$tmp/lab-up.json" &&
		mapfile -t urls < <(jq -r '.web[]' "$tmp/lab-up.json") && ((${#urls[@]} == 2)) || n=9
	for url in "${urls[@]}"; do
		[[ $(curl -sS -m 10 "${url}api/coord" | jq -c .own) == "[$n,0]" ]] && n=$((n + 1))
	done
	"$bin/fabricctl" lab down --name "$other" && ((n == 2)) && ! curl -sS -m 10 "${urls[0]}" 2>/dev/null &&
		! "$bin/fabricctl" lab up 2 --bare --web --name "$other" 2>"$tmp/said" && grep 'no managers' "$tmp/said"
}

check "a lab with fabricweb comes up" up
check "each path of the API is served, and the page has its headers" every_path
check "wrong paths, queries and bodies are refused" bad_paths
check "answers equal those of fabricctl --json and meet the schemas" same_as_fabricctl
check "the parsers of Prometheus read both formats" parsers_read_it
check "a browser that connects again misses nothing, and gets nothing twice" reconnect
check "nothing can be changed unless that is allowed" read_only
check "only users with the right password or token are let in" users
check "changes are made and logged" changes
check "changes need the rights of the control socket" rights_of_socket
check "TLS works, also after the certificate is replaced" tls
check "more connections than allowed do no harm" too_many
check "256 connections without a user do not keep users out" too_many_refused
check "pipelined, slow, deaf and malformed clients do no harm" odd_clients
check "100 browsers take less than 12 MiB" browsers
check "answers show whether the manager hangs, has ended or is back" away
check "answers that no manager can have sent are refused" no_manager
check "two fabrics on one host are served apart" two_fabrics
check "lab up --web serves the page" lab_web
cleanup
done_testing
