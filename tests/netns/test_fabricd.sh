#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# fabricd with real NICs and peers: a torus of namespaces that `fabricctl lab` builds, requests
# on the control socket, and what an administrator or an attacker may do to managers.
#
#	0,0 --- 1,0 --- (0,0)		0,0 is the root; every dimension of two
#	 |       |			nodes has two cables between them
#	0,1 --- 1,1 --- (0,1)

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
lab=fd$$
run=/run/torus/$lab
started=()

cleanup() {
	local p
	for p in "${started[@]}"; do
		kill -9 "$p" 2>/dev/null
	done
	"$B/fabricctl" lab down --name "$lab" >/dev/null 2>&1
}

explain() { tail -n 20 "$run"/*/fabricd.log; }

ask() { # NODE CMD...
	local node=$1
	shift
	"$TOP/tests/netns/ask" "$run/$node/control" "$@"
}

# holds FILTER: whether jq's FILTER is true for the reply on standard input; jq 1.6 succeeds
# without any input
holds() {
	local reply
	reply=$(cat)
	[[ -n $reply ]] && jq -e "$1" <<<"$reply" >/dev/null
}

# is NODE FILTER CMD...: whether jq's FILTER is true for the reply
is() {
	local node=$1 filter=$2
	shift 2
	ask "$node" "$@" | holds "$filter"
}

pid() { # NODE PROGRAM
	cut -d' ' -f1 "$run/$1/$2.pid"
}

lab() {
	"$B/fabricctl" lab "$1" --name "$lab" "${@:2}"
}

revive() { lab revive --timeout $((60 * slow)) "$1" >/dev/null; }

# daemon NODE CONFIG LOG: starts a manager in addition to the lab's; sets $last
daemon() {
	ip netns exec "$lab-$1" "$B/fabricd" --config "$2" 2>>"$3" &
	last=$!
	started+=("$last")
}

running() { # NODE
	is "$1" '.data.state == "running" and .data.root.reachable and
		.data.root.unreachable_since == null' status
}

# --- 2x2 ----------------------------------------------------------------------

commands() {
	is 0.0 '.data.shape == [2,2] and .data.nodes == {total:4,up:4,excluded:0} and .data.links.up == 8
		and .data.own.node == [0,0] and .data.problems == []' status &&
	is 1.1 '.data.own.node == [1,1] and .data.root.node == [0,0] and
		.data.service.connections >= 1' status &&
	is 1.1 '[.data[].node] == [[0,0],[1,0],[0,1],[1,1]] and
		all(.data[]; .state == "up" and .table_version >= 1)' nodes &&
	is 0.0 '(.data | length) == 16 and all(.data[]; .state == "up" and .peer and
		(.tx_packets | type) == "number" and .excluded == null)' links &&
	is 1.0 '(.data | length) == 4 and all(.data[]; .node == [0,1])' links node=0,1 &&
	is 1.0 '(.data | length) == 4 and all(.data[]; .node == [1,1])' links 'node=[1,1]' &&
	is 0.1 '(.data | length) == 4 and (.data[0].flow.injected | length) == 4' counters &&
	is 1.1 '.data.node == [0,1] and (.data.rows | length) == 4 and
		all(.data.rows[]; test("^[0-9a-f]{16}$"))' rows node=0,1 &&
	is 0.0 '(.data | length) == 4 and all(.data[]; .parked == 0 and .bytes_max > 0)' park &&
	is 0.0 '[.data[].seq] | length >= 1 and . == sort' events &&
	is 1.0 '.data.node == [0,1] and .data.own == [1,0] and .data.shape == [2,2]' \
		coord name=n0-1 &&
	is 0.1 '.data.excluded == [] and (.data.nodes | length) == 4' table
}

# Values that belong together agree: the session of a link at both of its ends, the age of its state
# with its time in that state, the length of a recovery with the time of its last step.
agrees() {
	# shellcheck disable=SC2016 # jq's variables
	is 1.1 '.data | (map({key: "\(.node)\(.port)", value: .session}) | from_entries) as $session |
		all(.[]; $session["\(.peer.node)\(.peer.port)"] == .session and .closed == false and
		(.state_changes != 3 or .state_age == .ns_up))' links &&
	is 0.0 '.data.root.address == .data.service.address and (.data.last_recovery |
		.duration_ms == .timeline.resumed and .bounded == false)' status &&
	is 0.1 '.data | all(.service | test("^172[.]30[.]0[.][1-4]:7117$")) and
		(map(.service) | unique | length == 4)' nodes
}

changes() {
	is 1.1 '.data.excluded | any(.node == [0,0] and .port == "+x" and .why == "admin")' \
		exclude node=0,0 port=+x &&
	until_true 5 is 0.0 '.data.state == "running" and .data.links.excluded == 1' status &&
	until_true 5 is 1.0 '.data | any(.port == "-x" and .excluded == "admin")' links node=1,0 &&
	is 0.0 '.data.excluded == []' include node=0,0 port=+x &&
	until_true 10 running 0.0 &&
	is 0.0 '.data.level == "debug"' log level=debug &&
	is 1.0 '.data.parked == 0' replay node=0,1
}

refusals() {
	is 0.0 '.code == "usage" and (.error | test("x is 5, must be 0 to 1"))' rows node=5,0 &&
	is 0.0 '.code == "usage" and (.error | test("nobody"))' rows node=nobody &&
	is 0.0 '.code == "usage" and (.error | test("is missing"))' rows &&
	is 1.0 '.code == "usage" and (.error | test("port .\\+z., must be \\+x to -y"))' \
		exclude node=0,0 port=+z &&
	is 0.0 '.code == "usage"' nosuch &&
	is 0.0 '.code == "usage"' status extra=1
}

# All users may ask, only root may change.
unprivileged() {
	local as=(setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/ask")
	# The checkout may be one that only its owner may enter.
	install -m 755 "$TOP/tests/netns/ask" "$tmp/" &&
	"${as[@]}" "$run/0.0/control" status | holds .ok &&
	"${as[@]}" "$run/0.0/control" exclude node=1,1 |
		holds '.code == "denied"' &&
	"${as[@]}" "$run/1.0/control" log level=debug |
		holds '.code == "denied"'
}

malformed() {
	head -c 300000 /dev/urandom >"$tmp/random"
	head -c 200000 /dev/zero | tr '\0' '[' >"$tmp/brackets"
	printf '{"cmd":"status"}\n{"cmd":\n\n[]\n{"cmd":"table"}' >"$tmp/mixed"
	ask 0.0 --raw "$tmp/random" >/dev/null 2>&1
	ask 0.0 --raw "$tmp/brackets" >"$tmp/out" 2>/dev/null
	grep -q '"usage"' "$tmp/out" || return 1
	ask 0.0 --raw "$tmp/mixed" >"$tmp/out"
	[[ $(jq -c .ok <"$tmp/out" | tr '\n' ' ') == "true false false " ]] && until_true 10 running 0.0
}

# A warning of a node is also in the root's events.
followed() {
	local out=$tmp/follow
	"$TOP/tests/netns/ask" "$run/0.0/control" --raw /dev/stdin \
		<<<'{"cmd":"events","follow":true}' >"$out" 2>/dev/null
	head -n 1 "$out" | holds '.more and (.data | length) == 1'
}

traffic() {
	answered ip netns exec "$lab-0.0" ping -q -c 5 -i 0.3 -W 20 "$1"
}

member_killed() {
	local before
	before=$(ask 0.0 rows node=1,0 | jq -c .data.rows)
	lab kill --manager 1,1 >/dev/null &&
	until_true 10 is 0.0 '.data | any(.node == [1,1] and .state == "silent")' nodes &&
	until_true 10 is 0.0 '.missing == [[1,1]] and (.data | length) == 12' links &&
	is 0.0 '.code == "unreachable"' links node=1,1 &&
	is 0.0 '.data.problems | any(.text | test("1,1"))' status &&
	traffic 10.1.1.0 &&
	revive 1,1 &&
	until_true 10 running 0.0 &&
	until_true 10 rows_of_1_0 "$before" && traffic 10.1.1.0
}
rows_of_1_0() { [[ $(ask 0.0 rows node=1,0 | jq -c .data.rows) == "$1" ]]; }

# The others keep their tables while the root is away, and accept it when it returns.
root_killed() {
	local fine=1
	lab kill --manager 0,0 >/dev/null &&
	until_true 15 is 1.1 '.data.root.reachable == false and
		.data.root.unreachable_since > 1e9' status &&
	is 1.1 '.ok and .rootless.own.node == [1,1] and (.data | map(.rootless and .node == [1,1]) == [true, true, true, true])' \
		links &&
	is 1.0 '.ok' coord &&
	traffic 10.1.1.0 && fine=0
	revive 0,0 && ((fine == 0)) &&
	until_true 15 running 0.0 &&
	until_true 15 running 1.1 &&
	until_true 10 is 1.1 '.data.node == [1,1]' coord &&
	traffic 10.1.1.0
}

cut_and_mended() {
	lab cut 0,0:+x >/dev/null &&
	until_true 5 is 0.0 '.data.state == "degraded" and .data.links.faulty == 1 and
		.data.last_recovery.lost == 0' status &&
	traffic 10.1.0.0 &&
	until_true 10 is 1.1 '.data | map(select(.excluded == "fault")) | length == 2' links &&
	is 1.1 '.data | map(.excluded) == ["fault", "fault"]' links bad=true &&
	lab mend 0,0:+x >/dev/null &&
	until_true 10 running 0.0 && traffic 10.1.0.0
}

# All users see it in the list of links and in the table; the status is for those who ask the
# root. Nothing is held for more than an hour, hold_max.
held() {
	is 1.1 '.data | map(select(.excluded == "held" and .held_ms > 0 and .held_ms <= 3600000)) |
		length == 2' links &&
	is 1.1 '.data | all(.excluded == "held" or .held_ms == null)' links &&
	is 0.0 '.data.state == "degraded" and .data.links.faulty == 1 and
		(.data.problems | map(select(.kind == "flap")) | length == 1) and
		(.data.held_links | map(select(.left_ms > 0 and .left_ms <= 3600000)) | length == 1)' status &&
	is 1.1 '.data.excluded | any(.why == "held")' table
}

# A cable that is lost again and again is held down until an administrator, or time, ends that.
flapping() {
	local i
	for ((i = 0; i < 30; i++)); do
		lab cut 0,0:+x >/dev/null && until_true 10 is 0.0 '.data.links.faulty == 1' status &&
		lab mend 0,0:+x >/dev/null || return 1
		until_true 10 is 1.1 '.data | map(select(.node == [0,0] and .port == "+x" and
			.state == "up" and .excluded != "fault")) | length == 1' links || return 1
		is 1.1 '.data | any(.excluded == "held")' links && break
	done
	until_true 10 held &&
	lab line 0,0:+x --dead 0 >/dev/null &&
	until_true 10 is 1.1 '.data | length == 2 and all(.width == 11 and .held_ms > 0)' links degraded=true &&
	is 1.1 '.data | map(.excluded) == ["held", "held"]' links bad=true brief=true &&
	lab line 0,0:+x --dead none >/dev/null &&
	traffic 10.1.0.0 &&
	is 0.0 .ok include node=0,0 port=+x &&
	until_true 10 running 0.0 && traffic 10.1.0.0 &&
	until_true 10 is 1.1 '.data | length == 2 and all(.held_ms == null)' links degraded=true &&
	is 1.1 '.data | length == 2 and all(.excluded == null and .width == 11)' links bad=true
}

nic_killed() {
	lab kill --nic 1,1 >/dev/null &&
	until_true 10 is 1.1 '.data.problems | any(.kind == "nic")' status &&
	is 1.1 '.code == "not-ready"' coord &&
	until_true 10 is 0.0 '.data.problems | any(.text == "node 1,1 ('"'n1-1'"') is dead: its NIC is gone; its manager waits for it")' status &&
	is 0.0 '.data | any(.kind == "nic" and .node == [1,1] and (.text | startswith("the NIC is gone from node '"'n1-1'"': ")))' events &&
	kill -0 "$(pid 1.1 fabricd)" &&
	revive 1,1 &&
	until_true 20 running 0.0 &&
	until_true 5 is 1.1 '.data.node == [1,1]' coord && traffic 10.1.1.0
}

# The root has the event that a port is up again, because users ask the root for events.
port_events() {
	"$B/fabricctl" link down 1,1:+x --control "$run/1.1/control" && "$B/fabricctl" link up 1,1:+x --control "$run/1.1/control" &&
	until_true 10 is 0.0 '.data | map(select(.kind == "admin" and .node == [1,1])) | length == 2 and (.[0].level != .[1].level)' events &&
	until_true 20 running 0.0
}

# A manager of 1,1 with a changed configuration replaces its own.
stranger() { # SED-SCRIPT
	lab kill --manager 1,1 >/dev/null
	sed "$1" "$run/1.1/fabricd.conf" >"$tmp/other.conf"
	: >"$tmp/other.log"
	daemon 1.1 "$tmp/other.conf" "$tmp/other.log"
}

own_again() {
	kill "$last" && wait "$last" && revive 1,1 && until_true 10 running 0.0
}

# A node with the wrong key: its neighbours accept no message of it, nor does it of them, so it
# never comes to know where the root is. Each reports so itself, and the root has an event of it.
wrong_key() {
	local fine=1
	(umask 077 && echo "this is another key altogether" >"$tmp/key")
	stranger "s|^key_file.*|key_file = $tmp/key|"
	until_true 10 is 1.0 '.data.seal.refused > 0 and (.data.problems |
		any(.kind == "seal" and (.text | test("^port .y( of node [0-9,]+)?: .*without the seal"))))' status &&
	until_true 10 is 1.1 '(.data.root.reachable | not) and .data.seal.refused > 0 and
		(.data.problems | any(.kind == "seal"))' status &&
	until_true 10 is 0.0 '.data | any(.kind == "seal" and .node == [1,0])' events &&
	until_true 10 is 0.0 '.data.nodes.up == 3 and .data.seal.refused == 0' status &&
	fine=0
	own_again && until_true 5 is 1.1 '.data.seal.refused == 0' status && return "$fine"
}

wrong_fabric() {
	local fine=1
	stranger "s|^fabric .*|fabric = somewhere-else|"
	until_true 10 is 0.0 '.data.problems | any(.text | test("1,1.*another fabric"))' status &&
	until_true 5 is 0.0 '.data | any(.kind == "fabric" and (.text | test("somewhere-else")))' \
		events &&
	fine=0
	own_again && return "$fine"
}

name_twice() {
	local fine=1
	stranger "s|^name .*|name = n1-0|"
	until_true 10 is 0.0 '.data.problems | any(.text | test("n1-0"))' status && fine=0
	own_again && return "$fine"
}

# The root refuses two things of strangers, a recorded proof and a message of another schema; each
# is counted and logged.
overheard() {
	local at port before
	before=$(ask 0.0 status | jq .data.service.refused_key)
	at=$(ask 0.0 status | jq -r .data.service.address)
	port=${at##*:}
	at=${at%:*}
	lab kill --manager 1,1 >/dev/null
	coproc ear { ip netns exec "$lab-0.0" "$TOP/tests/netns/eavesdrop.py" listen "$at" "$port" \
		"$tmp/heard"; }
	# shellcheck disable=SC2154
	started+=("$ear_PID")
	read -r -t 60 -u "${ear[0]}" || return 1
	revive 1,1 && until_true 10 running 0.0 &&
	until_true 10 test -s "$tmp/heard" &&
	ip netns exec "$lab-1.1" "$TOP/tests/netns/eavesdrop.py" say "$at" "$port" "$tmp/heard" &&
	until_true 10 is 0.0 ".data.service | .refused_key > $before and (.last_refused | test(\"n1-1\"))" \
		status &&
	until_true 10 running 0.0
}

other_schema() {
	local at
	at=$(ask 0.0 status | jq -r .data.service.address)
	ip netns exec "$lab-1.1" "$TOP/tests/netns/eavesdrop.py" schema "${at%:*}" "${at##*:}" &&
	until_true 10 is 0.0 '.data.service | .refused_schema > 0 and
		(.last_refused | test("speaks service schemas 99 to 99"))' status
}

# The NIC of 1,1 returns with its bootstrap flag set: there is a root, so it is none.
two_flags() {
	local fine=1 cmd
	mapfile -d '' -t cmd <"/proc/$(pid 1.1 torusemu)/cmdline"
	lab kill --nic 1,1 >/dev/null || return 1
	ip netns exec "$lab-1.1" "${cmd[@]}" --bootstrap 2>/dev/null &
	last=$!
	started+=("$last")
	until_true 10 is 1.1 '.data.root | .reachable and .node == [0,0]' status &&
	grep -F "another leads" "$run/1.1/fabricd.log" >/dev/null &&
	until_true 10 is 0.0 '.data | .nodes.up == 4 and
		any(.problems[].text; contains("two NICs have the bootstrap flag"))' status &&
	until_true 10 is 1.1 '.data.root.reachable' status && traffic 10.1.1.0 && fine=0
	kill "$last" && wait "$last"
	revive 1,1 && until_true 20 running 0.0 && return "$fine"
}

# A manager that is asked to end leaves nothing behind; a full disk and a full pipe end none.
ends_clean() {
	local conf=$run/1.1/fabricd.conf status
	lab kill --manager 1,1 >/dev/null
	ip netns exec "$lab-1.1" "$B/fabricd" --config "$conf" 2>/dev/full &
	last=$!
	started+=("$last")
	until_true 10 is 1.1 '.data.state == "running"' status || return 1
	ask 1.1 log level=debug >/dev/null
	kill "$last"
	wait "$last"
	status=$?
	[[ $status == 0 && ! -e $run/1.1/control ]] || return 1
	mkfifo "$tmp/pipe"
	python3 -c 'import sys, time; f = open(sys.argv[1]); time.sleep(1000)' "$tmp/pipe" &
	started+=("$!")
	sed 's/^log_level.*/log_level = debug/' "$conf" >"$tmp/loud.conf"
	ip netns exec "$lab-1.1" "$B/fabricd" --config "$tmp/loud.conf" 2>"$tmp/pipe" &
	last=$!
	started+=("$last")
	until_true 10 is 1.1 '.data.state == "running"' status || return 1
	for _ in {1..40}; do
		kill -HUP "$last"
		ask 1.1 coord >/dev/null || return 1
	done
	own_again
}

# SIGHUP changes the log level and nothing else. Errors in the file are logged, and then nothing
# changes. 1,1 is asked, by a client that sends nothing for 5 s.
silent_to() { # ADDRESS
	# shellcheck disable=SC2016
	ip netns exec "$lab-0.0" timeout 60 bash -c 'exec 3<>"/dev/tcp/$1/$2" && read -r <&3' _ \
		"${1%:*}" "${1##*:}"
	:
}

says() { # TEXT: the log of the manager that hangup() began
	grep -qF -- "$1" "$tmp/hup.log"
}

hangup() {
	local conf=$tmp/hup.conf fine=1 at
	lab kill --manager 1,1 >/dev/null
	sed 's/^log_level.*/log_level = warning/' "$run/1.1/fabricd.conf" >"$conf"
	: >"$tmp/hup.log"
	daemon 1.1 "$conf" "$tmp/hup.log"
	until_true 10 is 1.1 '.data.state == "running"' status &&
	at=$(ask 1.1 status | jq -r .data.service.address) &&
	! grep -E '^fabricd: (info|debug):' "$tmp/hup.log" &&
	sed -i 's/^log_level.*/log_level = debug/; s/^name .*/name = another/; s/^fabric .*/fabric = other/' "$conf" &&
	kill -HUP "$last" &&
	until_true 5 says 'info: config: log level is debug; other keys but address4 and address6 are read at start only' &&
	sed -i 's/^log_level.*/log_level = error\nfabrik = x/' "$conf" &&
	kill -HUP "$last" && until_true 5 says "unknown key 'fabrik'" &&
	rm "$conf" && kill -HUP "$last" && until_true 5 says 'hup.conf: No such file or directory' &&
	silent_to "$at" && until_true 10 says 'debug: service: from ' &&
	says 'did not authenticate itself in time' &&
	running 1.1 && is 1.1 '.data.own.name == "n1-1" and .data.fabric != "other"' status &&
	sed 's/^log_level.*/log_level = error/' "$run/1.1/fabricd.conf" >"$conf" && : >"$tmp/hup.log" &&
	kill -HUP "$last" && silent_to "$at" && running 1.1 && [[ ! -s $tmp/hup.log ]] && fine=0
	sed 's/^/# /' "$tmp/hup.log"
	own_again && return "$fine"
}

# SIGTERM: managers end, the NICs keep their rows, and no packet is lost.
terminated() {
	local ping fine=1
	ip netns exec "$lab-0.0" ping -q -c 60 -i 0.05 -W 20 10.1.1.0 >"$tmp/ping" &
	ping=$!
	started+=("$ping")
	kill -TERM "$(pid 1.1 fabricd)" && until_true 10 test ! -e "$run/1.1/control" &&
	kill -TERM "$(pid 0.0 fabricd)" && until_true 10 test ! -e "$run/0.0/control" &&
	traffic 10.1.1.0 && wait "$ping" && grep -q '60 received, 0% packet loss' "$tmp/ping" && fine=0
	cat "$tmp/ping"
	revive 0,0 && revive 1,1 && until_true 15 running 0.0 && until_true 15 running 1.1 &&
		return "$fine"
}

second_daemon() {
	local out
	out=$(ip netns exec "$lab-1.1" "$B/fabricd" --config "$run/1.1/fabricd.conf" 2>&1)
	[[ $? == 1 && $out == *"Address already in use"* ]] && until_true 10 running 1.1
}

# A manager that has no NIC knows nothing of the fabric, and says that.
without_nic() {
	local dir=$tmp/without pid out rc=1
	mkdir -p "$dir/state"
	sed "s|^device.*|device = unix:$dir/nic|; s|^control.*|control = $dir/sock|; s|^state_dir.*|state_dir = $dir/state|
		s|^service_address.*|service_address = 127.0.0.1:7999\nservice_loopback = on|" "$run/1.1/fabricd.conf" >"$dir/conf"
	"$B/fabricd" --config "$dir/conf" 2>"$dir/log" &
	pid=$!
	started+=("$pid")
	until_true 10 test -S "$dir/sock" || cat "$dir/log"
	out=$("$B/fabricctl" status --control "$dir/sock")
	[[ $? == 1 && $out == *": not known, because this manager has no NIC"$'\n'"nodes    not known yet"* ]] && rc=0
	echo "$out"
	kill "$pid" && wait "$pid" && return "$rc"
}

# fabricd logs to the journal if its standard error is the journal's, and only then.
journal() {
	local err=$tmp/err conf=$run/1.1/fabricd.conf rc=0
	local here=(ip netns exec "$lab-1.1" "$B/fabricd" --config "$conf")
	mkdir -p "$tmp/journal" /run/systemd/journal
	python3 - "$tmp/journal/socket" >"$tmp/journalled" <<-'PY' &
		import socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1])
		s.settimeout(120)
		print(s.recv(65536).decode(errors="replace"), flush=True)
	PY
	last=$!
	started+=("$last")
	until_true 60 test -S "$tmp/journal/socket" || return 1
	: >"$err"
	JOURNAL_STREAM=$(stat -c %d:%i "$tmp") "${here[@]}" 2>>"$err"
	grep -q 'fabricd: error: service: cannot listen' "$err" || rc=1
	: >"$err"
	# In the name space of mounts that "ip netns exec" makes.
	# shellcheck disable=SC2016
	JOURNAL_STREAM=$(stat -c %d:%i "$err") ip netns exec "$lab-1.1" sh -c \
		'mount --bind "$1" /run/systemd/journal && shift && exec "$@"' sh "$tmp/journal" \
		"$B/fabricd" --config "$conf" 2>>"$err"
	until_true 5 grep -q 'service: cannot listen' "$tmp/journalled" &&
		grep -qx 'PRIORITY=3' "$tmp/journalled" && [[ ! -s $err ]] || rc=1
	cat "$err" "$tmp/journalled"
	kill "$last" 2>/dev/null
	return $rc
}

configuration() {
	local out status
	"$B/fabricd" --check --config "$run/0.0/fabricd.conf" >/dev/null || return 1
	printf 'service_address = 1.2.3.4:5\nfabrik = x\n' >"$tmp/bad.conf"
	out=$("$B/fabricd" --check --config "$tmp/bad.conf" 2>&1)
	status=$?
	[[ $status == 2 && $out == *"bad.conf:2: unknown key 'fabrik'"* ]] || return 1
	"$B/fabricd" --no-such-option >/dev/null 2>&1
	[[ $? == 2 ]] && ! "$B/fabricd" --check extra >/dev/null 2>&1
}

# All nodes can have one configuration file: each takes its own address of the service network. The
# configuration in force is the one that it would start with, and "fabricctl config" names any
# difference. changes() has set the log level of 0,0 alone.
one_file() {
	local n net file=$tmp/one.conf
	net=$(sed -nE 's/^service_address = ([0-9]+\.[0-9]+)\..*/\1.0.0\/16/p' "$run/0.0/fabricd.conf")
	printf 'service_network = %s\nkey_file = %s\n' "$net" "$run/key" >"$file"
	for n in 0.0 1.1; do
		ip netns exec "$lab-$n" "$B/fabricd" --config "$file" --check &&
			[[ $(ip netns exec "$lab-$n" "$B/fabricd" --config "$file" --dump-config=json |
				jq -r '.config[] | select(.key == "service_address") | [.value, .source] | join(" ")') == \
				"$(sed -n 's/^service_address = //p' "$run/$n/fabricd.conf") service_network" ]] || return 1
	done
	"$B/fabricd" --config "$file" 2>"$tmp/one.err"
	[[ $? == 1 ]] && grep 'one.conf:1: service_network is .*this host has no address in it (yet)' "$tmp/one.err" &&
		[[ $("$B/fabricd" --dump-config=yaml 2>&1) == *"must be 'json'" ]] &&
		[[ $("$B/fabricctl" config 1,1 --lab "$lab" --json | jq -r '.[0].config[] | select(.key == "control").value') == "$run/1.1/control" ]] &&
		! "$B/fabricctl" config 1,1 --lab "$lab" --json | grep -F "$(<"$run/key")" &&
		[[ $("$B/fabricctl" config --diff --lab "$lab" --json | jq -r '.[].key' | sort | paste -sd' ') == "control device log_level shape state_dir" ]]
}

# The only capability of fabricd while it runs is CAP_NET_ADMIN (bit 12).
privileges() {
	local status
	status=/proc/$(pid 0.0 fabricd)/status
	grep -q '^CapEff:.*0000000000001000$' "$status" &&
	grep -q '^CapBnd:.*0000000000001000$' "$status" &&
	grep -q '^NoNewPrivs:.*1$' "$status"
}

readiness() {
	local sock=$tmp/notify conf=$run/1.1/fabricd.conf
	lab kill --manager 1,1 >/dev/null
	python3 - "$sock" >"$tmp/notified" <<-'PY' &
		import socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1])
		s.settimeout(120)
		while True:
		    text = s.recv(4096).decode()
		    print(text.replace("\n", " "), flush=True)
		    if "STOPPING=1" in text:
		        break
	PY
	started+=("$!")
	until_true 60 test -S "$sock"
	NOTIFY_SOCKET=$sock WATCHDOG_USEC=200000 ip netns exec "$lab-1.1" \
		"$B/fabricd" --config "$conf" 2>/dev/null &
	last=$!
	started+=("$last")
	until_true 10 grep -q READY=1 "$tmp/notified" &&
	until_true 10 grep -q 'STATUS=running, node 1,1' "$tmp/notified" &&
	until_true 5 bash -c "[[ \$(grep -c WATCHDOG=1 '$tmp/notified') -ge 5 ]]" &&
	kill -HUP "$last" &&
	until_true 5 grep -Eq '^RELOADING=1 MONOTONIC_USEC=[0-9]+ *$' "$tmp/notified" &&
	until_true 5 bash -c "[[ \$(grep -c READY=1 '$tmp/notified') == 2 ]]" &&
	own_again && until_true 5 grep -q STOPPING=1 "$tmp/notified"
}

small() { # KIB
	local node rss
	for node in "$run"/*.*/; do
		node=${node%/}
		rss=$(awk '/^VmRSS/ {print $2}' "/proc/$(pid "${node##*/}" fabricd)/status")
		((rss > 0 && rss < $1)) || { echo "# ${node##*/}: $rss KiB"; return 1; }
	done
}

# The root is where the tests look for it, also after they have killed it.
sed -i '1i root_priority = 0' "$tmp/patient.conf"
if ! lab up 2x2 "${patience[@]}" >"$tmp/up" 2>&1; then
	echo "not ok - a lab of 2x2 comes up"
	cat "$tmp/up"
	exit 1
fi
check "a fabric of 2x2 comes up" until_true 10 running 0.0
check "each command is answered by the root and by other nodes" until_true 10 commands
check "answers of different nodes agree" until_true 10 agrees
check "any node accepts changes" changes
check "errors name the wrong part of a request" refusals
check "malformed requests are refused, and the manager goes on" malformed
check "--follow shows new events" followed
check "users who are not root may query, but not change" unprivileged
check "--check and wrong options report errors of the configuration" configuration
check "all nodes may share one configuration file, and config shows what is in force" one_file
check "privileges are dropped" privileges
check "a second manager on a node ends with an error" second_daemon
check "a manager without a NIC says that it knows nothing" without_nic
check "the log goes to the journal or to standard error" journal
check "traffic goes on after a cable is cut, and after it is mended" cut_and_mended
check "a killed member is reported, and gets its place again" member_killed
check "nodes keep their tables while the root is away" root_killed
check "a manager works on without its NIC, and uses it again when it is back" nic_killed
check "the root has both events of a port that is taken down and up" port_events
check "a node with a wrong key is refused by its neighbours" wrong_key
check "a node of another fabric is reported" wrong_fabric
check "a recorded proof is refused and counted" overheard
check "a message of another schema is refused and counted" other_schema
check "two nodes with one name are reported" name_twice
check "a second NIC with the bootstrap flag does not lead" two_flags
check "systemd is notified of readiness, life, reload and end" readiness
check "SIGHUP changes the log level and nothing else" hangup
check "managers that end lose no packet" terminated
check "a manager ends cleanly, and a full disk or pipe does not stop it" ends_clean
lab down >/dev/null 2>&1

# --- 2x2, with a hold that lasts longer than the tests -----------------------------

printf '%s\n' 'flap_half_life = 10min' 'hold_max = 60min' >>"$tmp/patient.conf"
if ! lab up 2x2 "${patience[@]}" >"$tmp/up" 2>&1; then
	echo "not ok - a lab of 2x2 that holds comes up"
	cat "$tmp/up"
	exit 1
fi
check "a flapping cable is held down until it is included" flapping
lab down >/dev/null 2>&1
sed -i '/^flap_half_life/d; /^hold_max/d' "$tmp/patient.conf"

# --- 4x4 ----------------------------------------------------------------------

big_commands() {
	is 3.2 '(.data | length) == 64 and .missing == null' links &&
	is 2.1 '(.data | length) == 16' counters &&
	is 0.0 '.data.rows | length == 16' rows node=3,3
}

# Several managers at once, including some in the middle of the tree.
half_killed() {
	local n
	for n in 1,0 3,1 2,2 0,3; do
		lab kill --manager "$n" >/dev/null || return 1
	done
	until_true 15 is 0.0 '.data.nodes.up == 12' status &&
	until_true 10 is 0.0 '.missing | length == 4' links &&
	for n in 1,0 3,1 2,2 0,3; do
		revive "$n" || return 1
	done &&
	until_true 20 is 0.0 '.data.state == "running" and .data.nodes.up == 16' status
}

if ! lab up 4x4 "${patience[@]}" >"$tmp/up" 2>&1; then
	echo "not ok - a lab of 4x4 comes up"
	cat "$tmp/up"
	exit 1
fi
check "a fabric of 4x4 comes up" until_true 15 running 0.0
check "requests to 16 nodes are answered for all of them" until_true 10 big_commands
check "four killed managers are reported as missing and join again" half_killed
if ldd "$B/fabricd" | grep -q libasan; then
	skip "each manager has less than 6 MiB resident" "the sanitizers' shadow is resident, too"
else
	check "each manager has less than 6 MiB resident" small 6144
fi
done_testing
