#compdef fabricctl
# SPDX-License-Identifier: GPL-2.0-only
# Completion of fabricctl(8) for zsh. Commands, operands and options, and what they mean, are those
# that --help prints. Here is what may stand for a word such as NODE or LEVEL.

# "NAME:MEANING" of each command, or of those of the group $group
_fabricctl_commands() {
	$program $group --help 2>/dev/null | awk -v group="$group" '
		/:$/ { title = substr($0, 1, length($0) - 1) }
		/^  [a-z]/ {
			match($0, /[^ ]  +/)
			meaning = substr($0, RSTART + RLENGTH)
			if (group != "")
				print $2 ":" meaning
			else if ($1 != "lab" && $1 != "link" && $1 != "job" && $1 != "device")
				print $1 ":" meaning
			else if (!told[$1]++)
				print $1 ":" title
		}'
}

# The options of the command as _arguments takes them, then its operands
_fabricctl_specs() {
	$program $group $command --help 2>/dev/null | awk '
		function quoted(text) { gsub(/\\|:|\[|\]/, "\\\\&", text); return text }
		function value(word, option, plain) {
			plain = word
			gsub(/:/, ".", plain)
			gsub(/\|/, " ", plain)
			return quoted(word) ": _fabricctl_word \"" plain "\" " option
		}
		/^usage:/ {
			sub(/^.*\[OPTION\.\.\.\] */, "")
			n = split($0, operand, " ")
			if (/^NODE \| LINK/)
				operands = "*:" value("LINK", "")
			else for (i = j = 1; i <= n; i++) {
				gsub(/[][]/, "", operand[i])
				if (operand[i] ~ /^COMMAND/)
					operands = operands "\n*:::command: _normal"
				else if (operand[i] != "--")
					operands = operands "\n" j++ ":" value(operand[i], "")
			}
		}
		/^options:/ { inside = 1 }
		/^$/ { inside = 0 }
		inside && /^  (-., |    )--/ {
			short = substr($0, 3, 1) == "-" ? substr($0, 3, 2) : ""
			text = substr($0, 7)
			match(text, /^--[a-z-]+/)
			long = substr(text, 1, RLENGTH)
			text = substr(text, RLENGTH + 1)
			word = ""
			sign = "="
			if (match(text, /^\[=[^]]*\]/)) {
				word = substr(text, 3, RLENGTH - 3)
				sign = "=-"
			} else if (match(text, /^ [A-Z][^ ]*/)) {
				word = substr(text, 2, RLENGTH - 1)
			}
			if (word != "")
				text = substr(text, RLENGTH + 1)
			sub(/^ +/, "", text)
			what = "[" quoted(text) "]"
			if (word != "")
				what = what (sign == "=" ? ":" : "::") value(word, long)
			both = short == "" ? "" : "(" short " " long ")"
			if (short != "")
				print both short (word == "" ? "" : sign == "=" ? "+" : "-") what
			print both long (word == "" ? "" : sign) what
		}
		END { print operands }'
}

_fabricctl_labs() {
	local -a labs
	labs=(/run/torus/*/lab.json(N:h:t))
	compadd -a labs
}

# Sets nodes: those of the fabric that the command would ask, of a lab or of a manager of this machine
_fabricctl_find_nodes() {
	local lab=${opt_args[--lab]:-${opt_args[--name]-}} dir
	local -a control
	[[ -z ${opt_args[--control]-} ]] || control=(--control ${opt_args[--control]})
	nodes=()
	if [[ $group == lab || -n $lab || -n ${opt_args[--node]-} ||
		( $#control == 0 && -z ${TORUS_CONTROL-} && ! -S /run/fabricd/control ) ]]; then
		for dir in /run/torus/${~lab:-*}/*/fabricd.conf(N:h); do
			nodes+=(${${dir:t}//./,} $(sed -nE 's/^name = (.+)$/\1/p' $dir/fabricd.conf))
		done
	fi
	(( $#nodes )) || nodes=($($program nodes --timeout 1 $control 2>/dev/null |
		awk 'NR > 1 && $1 ~ /^[0-9,]+$/ { print $1; if ($2 != "-") print $2 }'))
}

# Two ports in each dimension that the nodes have
_fabricctl_links() {
	local -a nodes ports
	local d
	_fabricctl_find_nodes
	if ! compset -P '*:'; then
		compadd -a nodes
		return
	fi
	for d in ${(s::)"$(cut -c 1-${#${(s:,:)nodes[1]}} <<<xyzabc)"}; do ports+=(+$d -$d); done
	compadd -a ports
}

# _fabricctl_word WORD [OPTION]: what may stand for WORD, as the value of OPTION or as an operand. A
# colon in WORD is written as a point, and | as a blank.
_fabricctl_word() {
	local -a nodes words
	case $1 in
	NODE | FROM | TO | DESTINATION | HOST | HOSTS)
		_fabricctl_find_nodes
		compadd -a nodes
		return
		;;
	LINK | NODE.PORT) _fabricctl_links; return ;;
	FILE | PATH | PROGRAM) _files; return ;;
	DIR) _files -/; return ;;
	INTERFACE) words=(/sys/class/net/*(N:t)) ;;
	NAME | NAME.PORT)
		case ${2:-$group} in
		--lab | --name) _fabricctl_labs; return ;;
		--job | job)
			[[ $group$command == jobstart ]] || words=(${(f)"$($program job list --timeout 1 2>/dev/null |
				awk 'NR > 1 && NF > 6 { print $1 }')"})
			;;
		device) words=(${${(f)"$(grep -lsx DEVTYPE=torus /sys/class/net/*/uevent)"}:h:t}) ;;
		esac
		;;
	move | full | slurm | 'on off') words=(${=1}) ;;
	FORMAT) words=(openmpi mpich slurm rubik) ;;
	HOW) words=(box grow list) ;;
	PROTOCOL) words=(auto angara acknak hippi) ;;
	LEVEL)
		words=(error warning info)
		[[ ${2-} == --level ]] || words+=(debug)
		;;
	CLASS) words=(dac24 dac26 dac28 dac30 fr4 megtron optical) ;;
	KIND)
		words=(user kernel mixed)
		[[ $2 != --kind ]] || words=(admin arbiter bootstrap candidate config dispute errors fabric flap
			history isolated job line link memory missed nic node place plan quorum recovery refused relay
			release root seal stall state step table tree wave wiring)
		;;
	DATE) words=(today yesterday) ;;
	TIME) [[ $group == lab ]] || words=(today yesterday now -10min -1h -1d) ;;
	esac
	compadd -a words
}

_fabricctl() {
	local program=$words[1] group='' command
	local -a found
	local -A opt_args
	if [[ ${words[2]} == (lab|link|job|device) ]] && ((CURRENT > 2)); then
		group=$words[2]
		shift words
		((CURRENT--))
	fi
	if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
		found=(${(f)"$(_fabricctl_commands)"})
		_describe -t commands command found
		[[ -n $group ]] || compadd -- --help --version
		return
	fi
	command=$words[2]
	shift words
	((CURRENT--))
	found=(${(f)"$(_fabricctl_specs)"})
	_arguments -s -S $found
}

_fabricctl "$@"
