#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# fabricctl with wrong arguments: exit statuses, error texts, JSON, pipes and full disks, and
# answers to users who are not root. One lab of 2x2.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
lab=cli$$
unset TORUS_LAB TORUS_CONTROL
export PATH=$B:$PATH

cleanup() {
	[[ ! -s $tmp/w.pid ]] || kill "$(<"$tmp/w.pid")"
	fabricctl lab down --name "$lab" >/dev/null 2>&1
}

# says STATUS PATTERN COMMAND...: whether the command exits with STATUS and prints PATTERN to
# standard error
says() {
	local want=$1 pattern=$2 rc
	shift 2
	timeout 120 "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	rc=$?
	[[ $rc == "$want" ]] && { [[ -z $pattern ]] || grep -qE -- "$pattern" "$tmp/err"; } && return
	echo "# $*: exit status $rc, wanted $want; said: $(head -n 3 "$tmp/err")"
	return 1
}

ask() { local cmd=$1; shift; says 2 "$1" fabricctl "$cmd" --lab "$lab" "${@:2}"; }
in_lab() { local cmd=$1; shift; says 2 "$1" fabricctl lab "$cmd" --name "$lab" "${@:2}"; }

usage() {
	says 2 "" fabricctl && says 2 "no command 'frob'" fabricctl frob &&
	says 2 "did you mean 'status'" fabricctl statu && says 2 "did you mean 'lab up'" fabricctl up &&
	says 2 "'x' is one argument too many" fabricctl status x &&
	says 2 "no option '--frob'" fabricctl lab up --frob &&
	says 2 "there is no lab 'nolab'" fabricctl status --lab nolab &&
	says 2 "lab name '../x'" fabricctl status --lab ../x &&
	says 5 "/nope: No such file" fabricctl status --control /nope &&
	says 2 "--timeout: 'x'.*must be 0.01 to 86400" fabricctl status --timeout x &&
	says 2 "control socket ''" fabricctl status --control '' &&
	says 0 "" fabricctl --help && says 0 "" fabricctl lab traffic --help
}

nodes_and_links() {
	local cmd
	for cmd in links counters routes park coord; do
		ask "$cmd" "node '9,0'.*must be" 9,0 && ask "$cmd" "node 'n9-9'" n9-9 || return 1
	done
	ask coord "x is 99999999999, must be 0 to 1" 99999999999,0 &&
	ask exclude "'\+z' is not a port.*one of x, y$" 0,0:+z && ask exclude "arguments are missing" &&
	ask trace "an argument is missing" 0,0 && ask events "'x'.*a time of day" --since x &&
	ask log "'loud'.*error, warning, info or debug" loud &&
	ask status "'0' is not a number.*must be 0.01" --watch=0
}

lab_arguments() {
	in_lab cut "write a node and its port" 0,0 && in_lab cut "'\+z' is not a port" 0,0:+z &&
	in_lab ber "bit error rate '1.5'.*must be" 0,0:+x 1.5 &&
	in_lab ber "'nan'" 0,0:+x nan && in_lab latency "latency '5'.*unit" 0,0:+x 5 &&
	in_lab silence "'maybe'.*on or off" 0,0:+x maybe && in_lab swap "write a node and its port" 0,0:+x 1,0 &&
	in_lab swap "are one cable" 0,0:+x 1,0:-x && in_lab swap "'\+z' is not a port" 0,0:+x 0,0:+z &&
	in_lab pause "node '7,7'" 7,7 1 && in_lab pause "'x': must be 0.01" 1,1 x && in_lab kill "node '7,7'" 7,7 &&
	in_lab kill "--power takes NIC and manager" --power --nic 1,1 &&
	in_lab traffic "are one node" 0,0 0,0 && in_lab traffic "'64'.*0 to 63" 0,0 1,1 --dscp 64 &&
	in_lab up "is up already" 2x2 &&
	says 2 "shape '0x4'" fabricctl lab up 0x4 --name "${lab}b" &&
	says 2 "--config /etc: Is a directory" fabricctl lab up 2 --name "${lab}b" --config /etc &&
	says 2 "--service '10.0.0.0/8'" fabricctl lab up 2 --name "${lab}b" --service 10.0.0.0/8 &&
	[[ ! -e /run/torus/${lab}b ]] && ! ip netns list | grep -q "^${lab}b-"
}

# A file of "lab up --config" may set keys that are alike at all nodes; other keys are refused.
config() {
	local key
	for key in fabric name shape device service_address control; do
		printf '# name = x\nmember_max = 3s\n\t%s=x\n' $key >"$tmp/own.conf"
		says 2 "--config $tmp/own.conf:3: '$key' is not allowed: lab up sets it for each node" \
			fabricctl lab up 2 --bare --name "${lab}b" --config "$tmp/own.conf" || return 1
	done
	printf 'state_dir = %s\nlog_level=error\n key_file : %s' "$tmp/kept" "$tmp/key" >"$tmp/own.conf"
	says 0 "" fabricctl lab up 2 --bare --name "${lab}b" --config "$tmp/own.conf" || return 1
	[[ $(grep -hE 'state_dir|log_level|key_file' "/run/torus/${lab}b/1/fabricd.conf") == "$(<"$tmp/own.conf")" ]] &&
		mkdir "$tmp/kept" && cp "/run/torus/${lab}b/key" "$tmp/key" &&
		says 0 "" fabricd --check --config "/run/torus/${lab}b/1/fabricd.conf" &&
		says 1 "the lab is bare, without NICs" \
			fabricctl lab traffic --name "${lab}b" 0 1 &&
		says 0 "" fabricctl lab down --name "${lab}b"
}

owners() {
	local etc=$tmp/etc
	mkdir "$etc" && printf '+x = left\nports = 4\n-y = right ; by the window\n' >"$etc/torus0.conf" &&
	echo '+x = up' >"$etc/torus1.conf" && echo nonsense >"$etc/bad.conf" || return 1
	[[ $(fabricctl device owner left -d "$etc") == torus0 &&
		$(fabricctl device owner right -d "$etc") == torus0 &&
		$(fabricctl device owner -d "$etc" -- up) == torus1 ]] || return 1
	says 1 "'--ports' is a port of no NIC in $etc" fabricctl device owner -d "$etc" -- --ports &&
	says 1 "bad.conf:1: not understood" fabricctl device owner -d "$etc" down &&
	says 1 "'up' is a port of no NIC in /nope" fabricctl device owner -d /nope up || return 1
	echo '-x = up' >"$etc/torus2.conf"
	says 2 "'up' is a port of two NICs, torus1 and torus2" fabricctl device owner -d "$etc" up
}

# Where no NIC offers remote memory, the nodes of a lab may be meant.
no_memory() {
	local command
	for command in regions windows; do
		says 5 "in a lab, 'fabricctl lab exec NODE -- fabricctl ...' asks a node" env TORUS_RUNDIR="$tmp" fabricctl $command || return 1
	done
}

# The file of a NIC is judged without a driver, and without root.
nic_file() {
	local etc=$tmp/nics f
	mkdir "$etc" && f=$etc/torus0.conf && cat >"$f" <<-'END' || return 1
		ports = 4
		bootstrap = yes
		+x = lo
		-y = later0
		park_bytes = 16M
	END
	shows 0 'torus0.conf is right' fabricctl device check "$f" && shows 0 '^\+x +lo +9000 +yes$' fabricctl device check "$f" &&
		shows 0 '^-y +later0 +9000 +not yet' fabricctl device check "$f" &&
		shows 0 '^-x +no cable +- +-$' fabricctl device check "$f" && shows 0 '^parameters park_bytes=16M$' fabricctl device check "$f" &&
		[[ $(fabricctl device check "$f" --json | jq -c '[.interface, .ports, .bootstrap, .guid, .mtu, .parameters, (.cables | map([.port, .lower, .present]))]') == \
			'["torus0",4,true,null,9000,["park_bytes=16M"],[["+x","lo",true],["+y",null,false],["-x",null,false],["-y","later0",false]]]' ]] || return 1
	printf 'ports = 3\n\n+x = a/b\n' >"$f"
	says 2 "torus0.conf:1: ports is '3', must be an even number from 2 to 12" fabricctl device check "$f" &&
		says 2 "torus0.conf:3: \+x is 'a/b', must be the name of an Ethernet device" fabricctl device check "$f" &&
		says 2 "nope.conf: No such file" fabricctl device check "$etc/nope.conf" &&
		cp "$f" "$etc/file" && says 2 "there is --interface" fabricctl device check "$etc/file" &&
		echo 'ports = 2' >"$etc/file" && shows 0 '^interface  t9$' fabricctl device check "$etc/file" --interface t9 &&
		says 2 "'..' is not a name of an interface" fabricctl device check "$etc/file" -i .. &&
		says 2 "'a b' is not a name of an interface" fabricctl device check "$etc/file" -i 'a b' &&
		says 2 "'sixteen_bytes_xx' is not a name of an interface" fabricctl device check "$etc/file" -i sixteen_bytes_xx
}

exec_status() {
	says 7 "" fabricctl lab exec --name "$lab" 0,0 -- sh -c 'exit 7' &&
	says 127 "nonesuch: No such file" fabricctl lab exec --name "$lab" 0,0 -- nonesuch &&
	says 126 "/etc/passwd: Permission denied" fabricctl lab exec --name "$lab" 0,0 -- /etc/passwd
}

json() {
	local cmd
	for cmd in status nodes links table counters verify park events config coord "routes 0,0" "trace 0,0 1,1"; do
		# shellcheck disable=SC2086
		fabricctl $cmd --lab "$lab" --json | jq -es ".[0]" >/dev/null || { echo "# $cmd"; return 1; }
		# shellcheck disable=SC2086
		! fabricctl $cmd --lab "$lab" | grep -q $'\e' || { echo "# colour in $cmd"; return 1; }
	done
	fabricctl lab list --json | jq -es ".[0]" >/dev/null &&
	fabricctl lab status --name "$lab" --json | jq -es ".[0]" >/dev/null
}

# completes WANT WORD...: whether completion of the last of these words offers WANT
completes() {
	local want=$1 COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMPREPLY=()
	_fabricctl
	[[ "${COMPREPLY[*]}" == "$want" ]] || { echo "# ${*:2}: ${COMPREPLY[*]}"; return 1; }
}

completion() {
	local all='0,0 n0-0 0,1 n0-1 1,0 n1-0 1,1 n1-1' cmd
	# shellcheck source=tools/fabricctl/fabricctl.bash
	. "$TOP/tools/fabricctl/fabricctl.bash"
	for cmd in cut swap pause kill revive replace traffic; do
		completes "$all" fabricctl lab $cmd --name "$lab" '' || return 1
	done
	completes table fabricctl ta &&
	completes "$all" fabricctl link retry '' && completes acknak fabricctl link retry 0,0:+x ac &&
	completes "$all" fabricctl lab retry --name "$lab" '' &&
	completes auto fabricctl lab retry 0,0 : +x au && completes hippi fabricctl lab retry 0,0:+x h &&
	completes 'n1-0 n1-1' fabricctl exclude --lab "$lab" n1 &&
	completes '1,0 1,1' fabricctl links --lab "$lab" 1 &&
	completes --all fabricctl table --a &&
	completes '+x -x +y -y' fabricctl exclude --lab "$lab" 1,1 : &&
	completes '-x -y' fabricctl lab cut --lab "$lab" 1,1 : - &&
	completes 'on off' fabricctl lab silence 0,0 : +x o && completes '' fabricctl lab ber 0,0:+x '' &&
	completes '' fabricctl events --since 03 : && completes '' fabricctl exclude --lab "$lab" --reason '' &&
	completes '' fabricctl exclude -r '' && completes '' fabricctl links --timeout '' && completes '' fabricctl lab line -c '' &&
	completes "$all" fabricctl exclude --force '' && completes "$all" fabricctl links --bad '' &&
	completes 'dac24 dac26 dac28 dac30' fabricctl lab line 0,0:+x --class d && completes exclude fabricctl help exc &&
	completes mpich fabricctl map --format m && completes 'n1-0 n1-1' fabricctl map --lab "$lab" --hosts n1 &&
	completes 'wave wiring' fabricctl events --kind w && on_cluster && beside_cluster
}

# zsh_offers WANT WORD...: whether an interactive zsh offers WANT for the last of the words
zsh_offers() {
	local said
	said=$("$TOP/tests/netns/zsh_completes" "$tmp/zsh/_$2" "${@:2}" | tr '\n' ' ')
	[[ $said == "$1 " ]] || { echo "# ${*:2}: $said"; return 1; }
}

zsh_completion() {
	local all='0,0 0,1 1,0 1,1 n0-0 n0-1 n1-0 n1-1'
	mkdir -p "$tmp/zsh" && cp "$TOP/tools/fabricctl/fabricctl.zsh" "$tmp/zsh/_fabricctl" &&
		cp "$TOP/tools/fabricsim/fabricsim.zsh" "$tmp/zsh/_fabricsim" &&
		cp "$TOP/tools/fabricweb/fabricweb.zsh" "$tmp/zsh/_fabricweb" &&
		zsh_offers table fabricctl ta && zsh_offers 'silence status swap' fabricctl lab s &&
		zsh_offers "$all" fabricctl lab kill --name "$lab" '' &&
		zsh_offers 'n1-0 n1-1' fabricctl exclude --lab "$lab" n1 &&
		zsh_offers '+x +y -x -y' fabricctl exclude --lab "$lab" 1,1: &&
		zsh_offers "$all" fabricctl trace --control "/run/torus/$lab/1.1/control" 0,0 '' &&
		zsh_offers acknak fabricctl link retry 0,0:+x ac && zsh_offers 'off on' fabricctl lab silence 0,0:+x o &&
		zsh_offers mpich fabricctl map --format m && zsh_offers 'wave wiring' fabricctl events --kind w && zsh_offers exclude fabricctl help exc &&
		zsh_offers 'dac24 dac26 dac28 dac30' fabricctl lab line 0,0:+x --class d &&
		zsh_offers --all fabricctl table --a && zsh_offers full fabricctl nodes --json= &&
		zsh_offers "$lab" fabricctl nodes --lab "$lab" && zsh_offers _fabricsim fabricctl device check "$tmp/zsh/_fabrics" &&
		zsh_offers 'recovery replay retry route' fabricsim r && zsh_offers 'fig3 fig4 fig5 fig6 fig7 fig8' fabricsim retry --figure f &&
		zsh_offers '--check --config --control' fabricweb --c && zsh_offers _fabricweb fabricweb --users "$tmp/zsh/_fabricw"
}

# Where there is no lab a manager tells the nodes.
on_cluster() (
	_fabricctl_nodes() { :; }
	export TORUS_CONTROL=/run/torus/$lab/0.0/control
	all='0,0 n0-0 1,0 n1-0 0,1 n0-1 1,1 n1-1'
	completes "$all" fabricctl exclude '' && completes 'n1-0 n1-1' fabricctl trace n1 &&
		completes '+x -x +y -y' fabricctl exclude n1-1 : && unset TORUS_CONTROL &&
		completes "$all" fabricctl links --control "/run/torus/$lab/1.1/control" '' &&
		TORUS_CONTROL=/nope completes '' fabricctl links ''
)

# A lab is up beside the fabric of this machine: each command completes the nodes of what it would ask.
beside_cluster() (
	_fabricctl_nodes() { echo 9,9; }
	export TORUS_CONTROL=/run/torus/$lab/0.0/control
	all='0,0 n0-0 1,0 n1-0 0,1 n0-1 1,1 n1-1'
	completes "$all" fabricctl exclude '' && completes 9,9 fabricctl exclude --lab x '' && completes 9,9 fabricctl lab cut '' &&
		unset TORUS_CONTROL && completes 9,9 fabricctl links '' &&
		completes "$all" fabricctl links --control "/run/torus/$lab/1.1/control" ''
)

outputs() {
	says 2 "No space left" bash -c "fabricctl links --lab $lab >/dev/full" &&
	says 2 "No space left" bash -c "fabricctl lab list --json >/dev/full" &&
	says 2 "Bad file descriptor" bash -c "fabricctl links --lab $lab >&-" &&
	says 0 "" bash -c "set -o pipefail; fabricctl links --lab $lab | head -n 0" &&
	says 0 "" bash -c "set -o pipefail; fabricctl status --watch=0.05 --lab $lab | head -n 1"
}

# watched CHANGE COMMAND...: whether the command, on a terminal, shows what CHANGE does
watched() {
	say "$2 $3 --watch, then $1"
	"$TOP/tests/netns/watch.py" "$@" --watch=0.1
}

# local_nic UP: what the NIC of 1,0 tells without its manager
local_nic() {
	[[ $(fabricctl links --local --lab "$lab" --node 1,0 --json |
		jq -c '[length, all(.local and .name == "n1-0" and .node == [1,0]), (map(select(.state == "up")) | length)]') == "[4,true,$1]" ]] &&
		says 0 "" fabricctl links --local --lab "$lab" --node 1,0 &&
		fabricctl counters --local --lab "$lab" --node 1,0 | grep '^delivered  '
}

# All commands that have this option, and no others.
watch() {
	local n
	n=$(grep -l '\.watch = true' "$TOP"/tools/fabricctl/*.c | wc -l)
	[[ $n == 10 ]] || { echo "$n commands have --watch, 10 are tested"; return 1; }
	watched "fabricctl exclude 0,0:+x --lab $lab" fabricctl status --lab "$lab" &&
		watched "fabricctl exclude 0,0:+y --lab $lab" fabricctl table --lab "$lab" &&
		fabricctl include 0,0:+y --lab "$lab" &&
		watched "fabricctl include 0,0:+x --lab $lab" fabricctl links --lab "$lab" &&
		watched "fabricctl lab exec --name $lab 0,0 -- ping -q -c 1 n1-1" \
			fabricctl counters --lab "$lab" &&
		watched "fabricctl lab kill 1,1 --manager --name $lab" fabricctl nodes --lab "$lab" &&
		fabricctl lab revive 1,1 --name "$lab" && until_true 20 at_rest &&
		watched "fabricctl lab kill 1,1 --manager --name $lab" fabricctl park --lab "$lab" &&
		fabricctl lab revive 1,1 --name "$lab" && until_true 20 at_rest &&
		watched "fabricctl job start w --nodes 4 --lab $lab" fabricctl job list --lab "$lab" &&
		watched "fabricctl lab kill 1,1 --manager --name $lab" fabricctl job show w --lab "$lab" &&
		fabricctl lab revive 1,1 --name "$lab" && until_true 20 at_rest &&
		fabricctl job stop w --lab "$lab" &&
		watched "fabricctl lab ber 0,0:+y 1e-12 --name $lab" fabricctl lab status --name "$lab" &&
		fabricctl lab ber 0,0:+y 0 --name "$lab" &&
		watched "torusemu --foreground --name w --ports 2 --no-tun --socket $tmp/w.nic &
			echo \$! >$tmp/w.pid" env TORUS_RUNDIR="$tmp" fabricctl device list &&
		says 0 "" bash -c "set -o pipefail; fabricctl nodes --watch=0.05 --json --lab $lab |
			head -n 3 >$tmp/frames" &&
		[[ $(jq -es 'map(length)' -c "$tmp/frames") == "[4,4,4]" ]]
}
at_rest() { fabricctl status --lab "$lab" --json | jq -e '.nodes.up == 4 and .state == "running"'; }

# The root ends, and begins anew: who watches or follows goes on with what happens then, and each event
# is shown once.
survives() {
	local pids=() rc=0
	rm -f "$tmp"/{follow,own,watch}
	fabricctl events --follow --json --lab "$lab" >"$tmp/follow" 2>"$tmp/follow.err" &
	pids+=($!)
	fabricctl events --follow --local --json --lab "$lab" --node 0,0 >"$tmp/own" 2>"$tmp/own.err" &
	pids+=($!)
	fabricctl links --watch=0.2 --json --lab "$lab" --node 0,0 >"$tmp/watch" 2>/dev/null &
	pids+=($!)
	until_true 10 test -s "$tmp/follow" -a -s "$tmp/own" -a -s "$tmp/watch" || rc=1
	fabricctl lab kill --manager 0,0 --lab "$lab" || rc=1
	until_true 10 grep -q 'is tried again for 60 s' "$tmp/own.err" || rc=1
	fabricctl lab revive 0,0 --lab "$lab" >/dev/null && until_true 20 at_rest || rc=1
	fabricctl exclude 1,1:+x --reason 'after the restart' --lab "$lab" >/dev/null || rc=1
	until_true 10 grep -q 'excluded.*1,1:+x' "$tmp/follow" || rc=1
	until_true 10 grep -q ' answers$' "$tmp/own.err" || rc=1
	until_true 10 bash -c "tail -n 1 '$tmp/watch' | jq -es '.[0] | any(.[]; .excluded == \"admin\")'" || rc=1
	fabricctl include 1,1:+x --lab "$lab" >/dev/null || rc=1
	until_true 10 grep -q 'included.*1,1:+x' "$tmp/follow" || rc=1
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	jq -es '[.[] | [.log, .seq]] | length == (unique | length)' "$tmp/follow" || rc=1
	((!rc)) || { tail -n 5 "$tmp/follow" "$tmp/follow.err" "$tmp/own" "$tmp/own.err"; tail -c 300 "$tmp/watch"; }
	return $rc
}

# drawn VARIABLE...: whether status on a terminal of this kind has colours
drawn() { script -qec "env ${*} fabricctl status --lab $lab" /dev/null | grep -q $'\e\['; }

# there REASON COMMAND...: the command on a terminal where this line is typed; counts the questions for a reason
there() { script -qec "fabricctl ${*:2} --lab $lab" /dev/null <<<"$1" | tee "$tmp/there" | grep -c 'reason, for whoever'; }
# interrupted COMMAND...: Ctrl-C at the question ends the command
interrupted() {
	: >"$tmp/there"
	{ until_true 10 grep -q 'reason, for whoever' "$tmp/there" && printf '\003'; } |
		script -qec "fabricctl $* --lab $lab" /dev/null >"$tmp/there"
	grep -q 'reason, for whoever' "$tmp/there"
}
# because REASON: that of the only exclusion, or null
because() { [[ $(fabricctl table --lab "$lab" --json | jq -c '[.orders[].reason]') == "[$1]" ]]; }
# On a terminal an exclusion without a reason is asked for one, once and before it is in force; never else.
# Whoever gives none, or ends the command, gets what he wants.
asked_why() {
	local rc=0
	[[ $(there 'fan  broken ' exclude 1,1:+x) == 1 ]] && because '"fan  broken"' || rc=1
	[[ $(there bulky exclude 1,1:+x --reason dust) == 0 ]] && because '"dust"' || rc=1
	[[ $(there 'why not' exclude 1,1:+x --json) == 0 ]] && fabricctl include 1,1:+x --lab "$lab" || rc=1
	[[ $(there '' exclude 1,1:+x) == 1 ]] && because null && fabricctl include 1,1:+x --lab "$lab" || rc=1
	[[ $(there 'new cable' drain 1,1:+x) == 1 ]] && because '"new cable"' && fabricctl include 1,1:+x --lab "$lab" || rc=1
	[[ $(there 'no such' exclude 9,9:+x) == 0 ]] && [[ $(there $'\a' exclude 1,1:+x) == 1 ]] &&
		grep -F "reason '\\x07'" "$tmp/there" && because '' || rc=1
	interrupted exclude 1,1:+x && because '' || rc=1
	says 0 "" fabricctl exclude 1,1:+x --lab "$lab" && because null || rc=1
	says 0 "" fabricctl include 1,1:+x --lab "$lab" && until_true 20 at_rest && return $rc
}

colours() {
	drawn TERM=xterm && drawn TERM=xterm NO_COLOR= && ! drawn TERM=xterm NO_COLOR=1 &&
		! drawn TERM=dumb && ! drawn -u TERM
}

not_root() {
	local as=(setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/fabricctl")
	# The build may lie where only root may look.
	chmod 755 "$tmp" && cp "$B/fabricctl" "$tmp/" || return 1
	until_true 20 says 0 "" "${as[@]}" status --lab "$lab" &&
	until_true 20 says 0 "" "${as[@]}" verify --lab "$lab" &&
	until_true 20 says 0 "" "${as[@]}" lab status --name "$lab" &&
	says 4 "only root may: .*control_group.*which is not set" "${as[@]}" exclude 0,0:+x --lab "$lab" &&
	says 4 "job start: only root may: .*job_group.*which is not set" "${as[@]}" job start x -n 1 --lab "$lab" &&
	says 4 "needs root" "${as[@]}" lab up 2 --name "${lab}b" &&
	says 4 "needs root" "${as[@]}" lab down --name "$lab" &&
	says 4 "root" "${as[@]}" lab cut 0,0:+x --name "$lab" &&
	says 4 "only root may" "${as[@]}" root move 1,0 --lab "$lab" && locked_out
}

# A socket in a directory that is not open to this user.
locked_out() {
	mkdir -m 700 "$tmp/locked" && says 4 "Permission denied; run it with sudo" "${as[@]}" status \
		--control "$tmp/locked/control"
}

# The manager of the first node hangs: others are asked, which have a root within some seconds.
hung() {
	local pid
	read -r pid _ <"/run/torus/$lab/0.0/fabricd.pid" && kill -STOP "$pid" || return 1
	until_true 20 says 0 "" bash -c "timeout 3 fabricctl root --lab $lab" || { kill -CONT "$pid"; return 1; }
	says 6 "the manager of node 0,0 of lab '$lab' .*does not answer within 3 s: it hangs" \
		fabricctl coord --lab "$lab" --node 0,0 &&
		says 6 "within 0.2 s" fabricctl status --lab "$lab" --node 0,0 --timeout 0.2 &&
		says 6 "within 0.2 s" fabricctl exclude 1,1 --lab "$lab" --node 0,0 --timeout 0.2 &&
		says 6 "within 0.2 s" fabricctl status --watch --lab "$lab" --node 0,0 --timeout 0.2
	local rc=$?
	kill -CONT "$pid"
	return $rc
}

# A link that an administrator takes out of use is a warning; an exclusion that would cut a node off
# is refused.
maintenance() {
	shows 0 "0,0:\+x is drained: the cable may be pulled" fabricctl drain 0,0:+x --lab "$lab" &&
		shows 3 "running, 1 link excluded" fabricctl status --lab "$lab" &&
		says 1 "would cut off 0,0 \('n0-0'\), and leave 6 pairs" \
			fabricctl exclude 0,0:-x 0,0:+y 0,0:-y --lab "$lab" &&
		shows 3 "1 link excluded" fabricctl status --lab "$lab" || return 1
	fabricctl include 0,0:+x --lab "$lab" && until_true 10 says 0 "" fabricctl status --lab "$lab" &&
		shows 0 "all cables are as planned" fabricctl cabling --lab "$lab" &&
		says 0 "" fabricctl inventory --save "$tmp/inventory" --lab "$lab" &&
		shows 0 "nothing has changed" fabricctl inventory --diff "$tmp/inventory" --lab "$lab" &&
		shows 0 "^n1-0:\+x " fabricctl links 1,0 --names --lab "$lab"
}
# shows STATUS PATTERN COMMAND...: as says, but to standard output
shows() { says "$1" "" "${@:3}" && grep -qE -- "$2" "$tmp/out" || { cat "$tmp/out"; return 1; }; }

# A node that is away is named, with the reason; a node that does not exist is wrong usage.
away() {
	local_nic 4 && fabricctl lab kill 1,1 --name "$lab" && until_true 10 local_nic 2 &&
		says 5 "cannot ask the manager of node 1,1 of lab '$lab'.*Connection refused.*lab status" \
			fabricctl status --lab "$lab" --node n1-1 &&
		says 5 "NIC of node 1,1: .*lab revive" fabricctl lab ber 1,1:+x 0 --name "$lab" &&
		says 5 "node '1,1' does not answer" fabricctl link eye 1,1:+x --lab "$lab" &&
		until_true 10 says 1 "node n1-1 \(1,1\) cannot become root: it is dead" \
			fabricctl root move 1,1 --lab "$lab" &&
		says 2 "n9-9" fabricctl root move n9-9 --lab "$lab" &&
		fabricctl lab revive 1,1 --name "$lab" && fabricctl lab kill 1,1 --manager --name "$lab" &&
		until_true 10 says 1 "node n1-1 \(1,1\) cannot become root: its manager does not answer; its NIC works" \
			fabricctl root move 1,1 --lab "$lab" &&
		fabricctl lab revive 1,1 --name "$lab" && until_true 20 at_rest
}

# A node that is dead keeps its name, its GUID and its address, also if the root begins anew meanwhile,
# and if all managers do.
remembered() {
	local was n
	was=$(of_11) && fabricctl lab kill 1,1 --lab "$lab" && until_true 20 dead_as "$was" &&
		fabricctl lab kill --manager 0,0 --lab "$lab" && fabricctl lab revive 0,0 --lab "$lab" &&
		until_true 20 dead_as "$was" || return 1
	for n in 0,0 1,0 0,1; do fabricctl lab kill --manager $n --lab "$lab" || return 1; done
	for n in 0,0 1,0 0,1; do fabricctl lab revive --no-wait $n --lab "$lab" || return 1; done
	until_true 20 dead_as "$was" && shows 1 "n1-1" fabricctl status --lab "$lab" &&
		shows 1 " n1-1:\+x " fabricctl links 1,1 --names --lab "$lab"
	local rc=$?
	fabricctl lab revive 1,1 --lab "$lab" && until_true 20 at_rest && return $rc
}
of_11() { fabricctl nodes 1,1 --json --lab "$lab" | jq -ec '.[0] | [.name, .guid, .service]'; }
dead_as() {
	[[ $(of_11) == "$1" && $(fabricctl nodes 1,1 --json --lab "$lab" | jq -r '.[0].state') == dead ]]
}

# Another node becomes root, on a slow machine not always the first candidate, and nodes that come
# back join there; if too few are left, that is said. The exclusion remains, for the manager of 0,1
# runs on.
root_away() {
	fabricctl exclude 0,1 --lab "$lab" && fabricctl lab kill --manager 0,0 --name "$lab" &&
		fabricctl lab kill --manager 1,1 --name "$lab" &&
		says 0 "" fabricctl lab revive 1,1 --name "$lab" &&
		until_true 20 led && fabricctl root move 1,0 --lab "$lab" && until_true 20 led_by_10 &&
		fabricctl lab kill --manager 1,0 --name "$lab" &&
		fabricctl lab kill --manager 1,1 --name "$lab" &&
		says 6 "no node is root, and too few are left to choose one" \
			fabricctl lab revive 1,1 --name "$lab" --timeout 2 &&
		says 0 "" fabricctl lab revive 0,0 --name "$lab" &&
		says 0 "" fabricctl lab revive 1,0 --name "$lab" &&
		until_true 20 all_up &&
		until_true 20 taken_out &&
		fabricctl include 0,1 --lab "$lab" && until_true 20 verified
}
# A node without links finds no root, though the others have one.
unlinked() {
	local cable
	fabricctl lab kill 1,1 --name "$lab" || return 1
	for cable in +x -x +y -y; do fabricctl lab cut 1,1:$cable --name "$lab" || return 1; done
	says 6 "no cable joins it to a node that runs, so it finds no root" \
		fabricctl lab revive 1,1 --name "$lab" --timeout 2 || return 1
	for cable in +x -x +y -y; do fabricctl lab mend 1,1:$cable --name "$lab" || return 1; done
	until_true 20 all_up && until_true 20 verified
}
# With no manager left, one alone would wait for a quorum in vain.
all_dead() {
	local n
	for n in 0,0 1,0 0,1 1,1; do fabricctl lab kill --manager $n --name "$lab" || return 1; done
	fabricctl lab revive --no-wait 1,0 --name "$lab" && fabricctl lab status --name "$lab" --json |
		jq -e '[.nodes[] | select(.manager != null) | .name] == ["n1-0"]' &&
		fabricctl lab kill --manager 1,0 --name "$lab" &&
		says 0 "no manager of lab '$lab' runs.*all 4 nodes are revived" \
			fabricctl lab revive 1,1 --name "$lab" && until_true 20 at_rest && until_true 20 verified
}
moved_back() {
	until_true 20 at_rest && says 0 "" fabricctl root move 0,0 --lab "$lab" &&
		until_true 20 at_rest
}
led() { [[ $(fabricctl root --lab "$lab" --json | jq -r .state) == leads ]]; }
led_by_10() { [[ $(fabricctl root --lab "$lab" --json | jq -c '[.node, .state]') == '[[1,0],"leads"]' ]]; }
taken_out() {
	verified && fabricctl verify --lab "$lab" | grep 'excluded   0,1' &&
		[[ $(fabricctl verify --lab "$lab" --json | jq -c .excluded) == '[[0,1]]' ]]
}
# The command reads rows node by node, so these may belong to two tables.
verified() { says 0 "" fabricctl verify --lab "$lab"; }
all_up() { fabricctl status --lab "$lab" --json | jq -e '.nodes.up == 4 and .state == "running"'; }

if ! fabricctl lab up 2x2 --name "$lab" "${patience[@]}" >"$tmp/up" 2>&1; then
	echo "not ok - a lab of 2x2 comes up"
	cat "$tmp/up"
	exit 1
fi
check "usage errors are refused" usage
check "wrong nodes, links and numbers are refused" nodes_and_links
check "wrong arguments of lab commands are refused" lab_arguments
check "lines of the user go into the configuration of managers" config
check "device owner finds the NIC of an interface" owners
check "device check reports errors of a NIC's file" nic_file
check "regions and windows name the way to the nodes of a lab" no_memory
check "lab exec returns the exit status of its command" exec_status
check "each command prints JSON, and no colour in pipes" until_true 20 json
check "completion offers nodes and other arguments of a command" completion
check "completion works in zsh, too" zsh_completion
check "--watch shows changes, and ends" watch
check "--watch and --follow continue under another root" survives
check "an exclusion on a terminal asks for a reason" asked_why
check "a terminal gets colours, unless NO_COLOR is set" colours
check "output to a full disk, a closed file or a closed pipe fails" outputs
check "exclude reports what it takes out of use and what it would cut off" maintenance
check "nodes that do not answer are named" away
check "a dead node keeps its name and GUID when managers restart" remembered
check "questions do not go to a manager that hangs" hung
check "the root moves back to the first node" moved_back
check "commands work while the root is away, and when it returns" root_away
check "lab revive reports a node without links" unlinked
check "lab revive starts all nodes if no manager is left" all_dead
check "a user who is not root may query, but not change" not_root
done_testing
