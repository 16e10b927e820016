# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion of fabricctl(8) for bash.

_fabricctl_labs() {
	local f
	for f in /run/torus/*/lab.json; do
		[[ -e $f ]] && f=${f%/lab.json} && printf '%s\n' "${f##*/}"
	done
}

# Nodes of the lab named on the line, else of all labs, by coordinates and by name: what lies in
# /run/torus.
_fabricctl_nodes() {
	local i lab='*' d name
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == --name || ${COMP_WORDS[i]} == --lab ]] && lab=${COMP_WORDS[i + 1]}
	done
	for d in /run/torus/$lab/*/; do
		[[ -e ${d}fabricd.conf ]] || continue
		name=$(sed -nE 's/^name = (.+)$/\1/p' "${d}fabricd.conf")
		d=${d%/}
		d=${d##*/}
		printf '%s\n' "${d//./,}" ${name:+"$name"}
	done
}

# Nodes of the fabric that the command would ask: those of a lab, or those that a manager of this
# machine tells.
_fabricctl_known() {
	local nodes='' i control=() lab=''
	[[ ${COMP_WORDS[1]} != lab ]] || lab=yes
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} != --control ]] || control=(--control "${COMP_WORDS[i + 1]}")
		[[ ${COMP_WORDS[i]} != --lab && ${COMP_WORDS[i]} != --node ]] || lab=yes
	done
	[[ -z $lab && (${#control[@]} != 0 || -n ${TORUS_CONTROL-} || -S /run/fabricd/control) ]] ||
		nodes=$(_fabricctl_nodes)
	[[ -n $nodes ]] || nodes=$("${COMP_WORDS[0]}" nodes --timeout 1 "${control[@]}" 2>/dev/null |
		awk 'NR > 1 && $1 ~ /^[0-9,]+$/ { print $1; if ($2 != "-") print $2 }')
	[[ -z $nodes ]] || printf '%s\n' "$nodes"
}

# Jobs, for all commands but that which starts one.
_fabricctl_jobs() {
	[[ $1 != @(start|list) ]] || return 0
	"${COMP_WORDS[0]}" job list --timeout 1 2>/dev/null | awk 'NR > 1 && NF > 6 { print $1 }'
}

# Ports: two in each dimension that the nodes have.
_fabricctl_ports() {
	local node dims
	node=$(_fabricctl_known | sed -n 1p)
	dims=${node//[^,]/}
	for dims in $(cut -c "1-$((${#dims} + 1))" <<<xyzabc | sed 's/./& /g'); do
		printf '%s\n' "+$dims" "-$dims"
	done
}

# Kernel NICs and, after a colon, their ports; other interfaces are cables.
_fabricctl_nics() {
	grep -lsx DEVTYPE=torus /sys/class/net/*/uevent | sed 's|/uevent$||; s|.*/||'
}

_fabricctl_options() {
	"${COMP_WORDS[0]}" "$@" --help 2>/dev/null | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p'
}

# Whether the option $1 of the command in the further arguments takes a value.
_fabricctl_takes_value() {
	local option=$1
	shift
	[[ $option == -* ]] && "${COMP_WORDS[0]}" "$@" --help 2>/dev/null |
		grep -qE -- "^  (-., |    )(.*, )?$option [A-Z]|^  $option, --[a-z-]+ [A-Z]"
}

_fabricctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands='status root nodes links cabling inventory table counters metrics routes trace verify exclude include drain park events outages diff report config coord map export log regions windows link job device lab'
	local labs='up down list status exec hosts agent cut mend swap silence ber vb latency line retry kill pause revive replace traffic'
	local devices='up check owner add del list attach detach'
	local at=1 command words=''

	COMPREPLY=()
	[[ ${COMP_WORDS[1]-} == @(lab|device|link|job) ]] && at=2
	command=${COMP_WORDS[at]-}
	if ((COMP_CWORD == at)); then
		words="$commands --help --version"
		((at == 1)) || words=$labs
		[[ ${COMP_WORDS[1]-} != device ]] || words=$devices
		[[ ${COMP_WORDS[1]-} != job ]] || words='start list show hosts verify stop'
		[[ ${COMP_WORDS[1]-} != link ]] || words='down up eye retrain retry test locate module'
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return
	fi
	# Readline takes a colon for the end of a word: NODE, ":", PORT.
	[[ $cur != : ]] || { prev=: cur=''; }
	if [[ $prev == : && " ${COMP_WORDS[*]: -4} " != *" --"@(since|until)" "* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_fabricctl_ports)" -- "$cur")
		return
	fi
	if [[ $at == 2 && $command == exec ]] && ((COMP_CWORD > at + 1)); then
		[[ $prev == -- ]] && mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		return
	fi
	case $prev in
	--name | --lab) words=$(_fabricctl_labs) ;;
	--node) words=$(_fabricctl_known) ;;
	--of | --link | --at) words=$(_fabricctl_known) ;;
	--day) words='today yesterday' ;;
	--since | --until)
		if [[ ${COMP_WORDS[1]} == links ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
		fi
		words='today yesterday now -10min -1h -1d'
		;;
	--level) words='error warning info' ;;
	--kind) words='admin arbiter bootstrap candidate config dispute errors fabric flap history isolated job line
		link memory missed nic node place plan quorum recovery refused relay release root seal stall
		state step table tree wave wiring' ;;
	--how) words='box grow list' ;;
	--class) words='dac24 dac26 dac28 dac30 fr4 megtron optical' ;;
	--format) words='openmpi mpich slurm rubik' ;;
	--hosts) words=$(_fabricctl_known) ;;
	--job) words=$(_fabricctl_jobs show) ;;
	--log-level | log) words='error warning info debug' ;;
	--backend) words='user kernel mixed' ;;
	--diff)
		[[ $command == inventory ]] && mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--control | --config | --exec | --expect | --svg | --save | --output | --from | --list)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	*)
		if [[ $cur == -* ]]; then
			words=$(_fabricctl_options "${COMP_WORDS[@]:1:at}")
		elif ! _fabricctl_takes_value "$prev" "${COMP_WORDS[@]:1:at}"; then
			[[ ${COMP_WORDS[1]} != link || $command == retry ]] || command=link
			[[ ${COMP_WORDS[1]} != job ]] || command=job
			case $command in
			add) ;;
			job) words=$(_fabricctl_jobs "${COMP_WORDS[2]}") ;;
			help) words=$commands ;;
			diff) words='today yesterday now 10min 1h 1d' ;;
			export) words=slurm ;;
			root) words=move && [[ $prev != move ]] || words=$(_fabricctl_known) ;;
			check | map)
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
				return
				;;
			del | detach) words=$(_fabricctl_nics) ;;
			owner) words=$(command ls /sys/class/net) ;;
			attach) words=$(_fabricctl_nics; command ls /sys/class/net) ;;
			nodes | links | counters | metrics | routes | trace | exclude | include | drain | park | config | coord | \
				exec | cut | mend | swap | line | link | kill | pause | revive | \
				replace | traffic)
				words=$(_fabricctl_known)
				;;
			silence | ber | vb | latency)	# the cable, then what it is to do
				words=$(_fabricctl_known)
				[[ ${COMP_WORDS[*]:0:COMP_CWORD} != *:* ]] || words=''
				[[ $command != silence || -n $words ]] || words='on off'
				;;
			retry)	# the cable, then what it is to speak
				words=$(_fabricctl_known)
				[[ ${COMP_WORDS[*]:0:COMP_CWORD} != *:* ]] || words='auto angara acknak hippi'
				;;
			esac
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _fabricctl fabricctl
