#compdef fabricsim
# SPDX-License-Identifier: GPL-2.0-only
# Completion of fabricsim(1) for zsh. Commands and options, and what they mean, are those that --help
# prints.

# "NAME:MEANING" of each command
_fabricsim_commands() {
	$program --help 2>/dev/null | awk '/^  [a-z]/ { match($0, /[^ ]  +/); print $1 ":" substr($0, RSTART + RLENGTH) }'
}

# The options of the command as _arguments takes them
_fabricsim_specs() {
	$program $command --help 2>/dev/null | awk '
		function quoted(text) { gsub(/\\|:|\[|\]/, "\\\\&", text); return text }
		/^usage:.* FILE/ { print "1:FILE:_files" }
		/^options:/ { inside = 1 }
		/^$/ { inside = 0 }
		inside && /^  (-., |    )--/ {
			short = substr($0, 3, 1) == "-" ? substr($0, 3, 2) : ""
			text = substr($0, 7)
			match(text, /^--[a-z-]+/)
			long = substr(text, 1, RLENGTH)
			text = substr(text, RLENGTH + 1)
			word = match(text, /^ [A-Z][^ ]*/) ? substr(text, 2, RLENGTH - 1) : ""
			if (word != "")
				text = substr(text, RLENGTH + 1)
			sub(/^ +/, "", text)
			action = word ~ /FILE/ ? "_files" : " _fabricsim_word " long
			what = "[" quoted(text) "]" (word == "" ? "" : ":" word ":" action)
			both = short == "" ? "" : "(" short " " long ")"
			if (short != "")
				print both short (word == "" ? "" : "+") what
			print both long (word == "" ? "" : "=") what
		}'
}

# _fabricsim_word OPTION: what its value may be
_fabricsim_word() {
	local -a words
	case $1 in
	--class) words=(dac24 dac26 dac28 dac30 fr4 megtron optical) ;;
	--policy) words=(bloc cbs mbs dateline adaptive none) ;;
	--pattern) words=(uniform distribute transpose hotregion bit-complement tornado neighbour) ;;
	--preset) words=(mbs2012) ;;
	--bubble-test) words=(downstream local either) ;;
	--scenario) words=(bring-up cut fault burst during dark flap root) ;;
	--answers) words=(always in-sequence) ;;
	--play) words=(fig3 fig4 fig5 fig6 fig7 fig8) ;;
	--figure)
		words=(wang2012-3)
		[[ $command != availability ]] || words=(simonov-8)
		[[ $command != address ]] || words=(7 8)
		[[ $command != retry ]] || words=(fig3 fig4 fig5 fig6 fig7 fig8)
		;;
	--protocol) words=(angara acknak hippi) ;;
	--engine) words=(walk signs steps relays) ;;
	--match) words=(auto exact dominant) ;;
	--prefer) words=(distance digits bandwidth) ;;
	--graph) words=(ring: hypercube: dragonfly: file:) ;;
	--nics) words=(packets links) ;;
	--slot-free) words=(tail head) ;;
	--consumption) words=(single multiple) ;;
	--arbitration) words=(round-robin random oldest transit) ;;
	--placement) words=(random even) ;;
	--tie) words=(random plus) ;;
	esac
	compadd -a words
}

_fabricsim() {
	local program=$words[1] command=$words[2]
	local -a found
	if ((CURRENT == 2)); then
		found=(${(f)"$(_fabricsim_commands)"})
		_describe -t commands command found
		compadd -- --help --version
		return
	fi
	shift words
	((CURRENT--))
	found=(${(f)"$(_fabricsim_specs)"})
	_arguments -s -S $found
}

_fabricsim "$@"
