# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion of fabricsim(1) for bash.

_fabricsim_options() {
	"${COMP_WORDS[0]}" "$1" --help 2>/dev/null | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p'
}

_fabricsim() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands='flow route recovery replay train retry availability translate address grow'
	local words=''

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		words="$commands --help --version"
	else
		case $prev in
		--svg | --trace | --recovery-link | --recovery-node)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
			;;
		--class) words='dac24 dac26 dac28 dac30 fr4 megtron optical' ;;
		--policy) words='bloc cbs mbs dateline adaptive none' ;;
		--pattern)
			words='uniform distribute transpose hotregion bit-complement tornado neighbour'
			;;
		--preset) words=mbs2012 ;;
		--bubble-test) words='downstream local either' ;;
		--scenario) words='bring-up cut fault burst during dark flap root' ;;
		--answers) words='always in-sequence' ;;
		--play) words='fig3 fig4 fig5 fig6 fig7 fig8' ;;
		--figure)
			words=wang2012-3
			[[ ${COMP_WORDS[1]} != availability ]] || words=simonov-8
			[[ ${COMP_WORDS[1]} != address ]] || words='7 8'
			[[ ${COMP_WORDS[1]} != retry ]] || words='fig3 fig4 fig5 fig6 fig7 fig8'
			;;
		--engine) words='walk signs steps relays' ;;
		--match) words='auto exact dominant' ;;
		--prefer) words='distance digits bandwidth' ;;
		--graph) words='ring: hypercube: dragonfly: file:' ;;
		--nics) words='packets links' ;;
		--slot-free) words='tail head' ;;
		--consumption) words='single multiple' ;;
		--arbitration) words='round-robin random oldest transit' ;;
		--placement) words='random even' ;;
		--tie) words='random plus' ;;
		replay)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
			;;
		*) words=$(_fabricsim_options "${COMP_WORDS[1]}") ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _fabricsim fabricsim
