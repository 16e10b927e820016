#compdef fabricweb
# SPDX-License-Identifier: GPL-2.0-only
# Completion of fabricweb(8) for zsh.

_arguments \
	'--config=[options, see fabricweb.conf(5)]:FILE:_files' \
	'--listen=[where to listen]:ADDRESS\:PORT:(127.0.0.1\:7180 0.0.0.0\:7180 \[\:\:1\]\:7180)' \
	'--control=[control socket of the manager]:PATH:_files' \
	'--tls-cert=[certificate with its chain, PEM]:FILE:_files' \
	'--tls-key=[its key, PEM]:FILE:_files' \
	'--users=[who may look and who may change]:FILE:_files' \
	'--hosts=[names that clients may call this server by]:NAMES:_hosts' \
	'--allow-changes[let users of the role change alter the fabric]' \
	'--check[check the options and the files that they name]' \
	'(- *)--help[print help]' \
	'(- *)--version[print the release]'
