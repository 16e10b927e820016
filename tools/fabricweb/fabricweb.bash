# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion of fabricweb(8) for bash.

_fabricweb() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local words='--config --listen --control --tls-cert --tls-key --users --hosts --allow-changes --check --help --version'

	COMPREPLY=()
	case $prev in
	--config | --control | --tls-cert | --tls-key | --users)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--hosts)
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
		return
		;;
	--listen) words='127.0.0.1:7180 0.0.0.0:7180 [::1]:7180' ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _fabricweb fabricweb
