#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The options of each program, and of each of its commands, are those of its man page, with the
# same letters; otherwise a user would miss an option, or be promised one that is refused.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

judge=tests/static/options.py
fabricctl=tools/fabricctl/fabricctl.8

same() { python3 $judge "$B" "$@"; }

# noticed SED TEXT: with the page of fabricctl so changed, that is what is printed
noticed() {
	sed "$1" $fabricctl >"$tmp/page"
	! cmp -s $fabricctl "$tmp/page" || return 1
	! same fabricctl "$tmp/page" >"$tmp/out" && grep -Fx "$2" "$tmp/out"
}

# getopt_noticed: an option that fabricd takes, but its help does not show
getopt_noticed() {
	sed 's/{ "check",/{ "unsaid", no_argument, NULL, 0 }, &/' daemon/main.c >"$tmp/main.c"
	! same fabricd daemon/fabricd.8 "$tmp/main.c" >"$tmp/out" &&
		grep -Fx 'fabricd: only one of --help and getopt knows --unsaid' "$tmp/out"
}

check "fabricctl's options are those of its man page" same fabricctl $fabricctl
check "fabricsim's options are those of its man page" same fabricsim tools/fabricsim/fabricsim.1
check "fabricd's options are those of its man page" same fabricd daemon/fabricd.8 daemon/main.c
check "torusemu's options are those of its man page" \
	same torusemu tools/torusemu/torusemu.8 tools/torusemu/args.c
check "torus-arbiter-etcd's options are those of its man page" \
	same torus-arbiter-etcd tools/arbiter/torus-arbiter.7
check "fabricweb's options are those of its man page" \
	same fabricweb tools/fabricweb/fabricweb.8 tools/fabricweb/conf.c
check "an option that a man page lacks is noticed" \
	noticed '/^\.SS lab hosts/,/^\.SS/{/list/d}' 'fabricctl lab hosts: the page does not have --list'
check "an option that only a man page has is noticed" \
	noticed 's/^\.SS lab list/&\n\\-\\-quiet/' 'fabricctl lab list: --help does not have --quiet'
check "another letter is noticed" noticed '/^\.SS nodes/,/^\.PP/s/-m |/-M |/' \
	'fabricctl nodes: --map has the letter m in --help, M on the page'
check "an option that only getopt knows is noticed" getopt_noticed
done_testing
