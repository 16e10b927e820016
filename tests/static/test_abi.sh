#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The C files made from include/uapi/torus.yaml are up to date, and generate.py --check notices when
# they are not. It refuses a source that it would make wrong or new C files of. Each change below is
# made in a copy.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

copy() {
	rm -rf "$tmp/top" && mkdir -p "$tmp/top/kernel" && cp -r include "$tmp/top/" &&
		cp -r kernel/req kernel/genl_policy.[ch] "$tmp/top/kernel/"
}
judge() { python3 "$tmp/top/include/uapi/generate.py" --check; }

# notices FILE SED: the check fails once that has changed FILE
noticed() {
	copy
	sed -i "$2" "$tmp/top/$1"
	! cmp "$1" "$tmp/top/$1" || return 1
	! judge
}
notices() { check "a change of $1 is noticed: $2" noticed "$@"; }

# refused TEXT FILE SED: generate.py writes nothing, and says TEXT, once that has changed FILE
refused() {
	copy
	sed -i "$3" "$tmp/top/$2"
	! cmp "$2" "$tmp/top/$2" || return 1
	! python3 "$tmp/top/include/uapi/generate.py" 2>"$tmp/said" || return 1
	cat "$tmp/said"
	grep -qF -- "$1" "$tmp/said" && cmp include/uapi/torus_abi.h "$tmp/top/include/uapi/torus_abi.h"
}
refuses() { check "refused: $1" refused "$@"; }

check "the files generated from torus.yaml are up to date" eval 'copy && judge'
notices include/uapi/torus.yaml 's/max: 4095/max: 4094/'
notices include/uapi/torus.yaml 's/port, session, seq/port, session/'
notices include/uapi/torus.yaml '0,/flags: \[uns-admin-perm\]/s///'
notices include/uapi/torus_c.yaml 's/first, data/first/'
notices include/uapi/torus_abi.h 's/^	TORUS_A_GUID,/	TORUS_A_OTHER, TORUS_A_GUID,/'
notices kernel/req/rules.c 's/TORUS_U16, .min = 0, .max = 4095/TORUS_U32, .min = 0, .max = 4095/'
notices kernel/genl_policy.c 's/NLA_U16, 0, 4095/NLA_U16, 0, 4094/'

# The attributes of rtnetlink: torus.h and torus_link.yaml are both written by hand.
link_judge() { python3 tests/static/link_abi.py "$tmp/top"; }
link_noticed() {
	copy
	sed -i "$2" "$tmp/top/$1"
	! cmp "$1" "$tmp/top/$1" || return 1
	! link_judge
}
check "torus_link.yaml agrees with torus.h" eval 'copy && link_judge'
check "a missing attribute is noticed" link_noticed include/uapi/torus_link.yaml '/name: retry-count/d'
check "a wrong type is noticed" link_noticed include/uapi/torus_link.yaml '/name: slots/s/u32/u64/'
check "an additional attribute is noticed" link_noticed include/uapi/torus.h \
	's/^	IFLA_TORUS_SLOTS,/	IFLA_TORUS_MORE, IFLA_TORUS_SLOTS,/'

yaml=include/uapi/torus.yaml more=include/uapi/torus_c.yaml
refuses 'uptime: type u46 is not known' $yaml 's/name: uptime, type: u64/name: uptime, type: u46/'
refuses 'shape: sub-type flag is not known' $yaml '/name: shape/s/u16/flag/'
refuses 'fault: nest faults is not known' $yaml 's/nested-attributes: fault}/nested-attributes: faults}/'
refuses 'state: enum links is not known' $yaml 's/name: state, type: u8, enum: link}/name: state, type: u8, enum: links}/'
refuses 'limit name-most is not known' $yaml 's/max-len: name-max/max-len: name-most/'
refuses 'torus: attribute guid is there twice' $yaml 's/name: uptime, type: u64/name: guid, type: u64/'
refuses 'command hold is there twice' $yaml 's/name: eye-get/name: hold/'
refuses 'rows-begin: attribute versions is not known' $yaml \
	'/name: rows-begin/,/do:/s/name, version,/name, versions,/'
refuses 'flow-get: a reply has no flags: retrain is to be u8, max 1' $yaml \
	's/\[ifindex, version, epoch, flow\]/[ifindex, version, epoch, flow, retrain]/'
refuses 'hold: required attribute port is not known' $more 's/hold: \[nodes\]/hold: [nodes, port]/'
refuses 'required: command or set holt is not known' $more 's/hold: \[nodes\]/holt: [nodes]/'
refuses 'eye-get: attribute eyes is not known' $more 's/members: {eye: map}/members: {eyes: map}/'
refuses 'TORUS_A_GUID had number 6' $yaml 's/^      - {name: guid,/      - {name: colour, type: u8}\n&/'
refuses 'TORUS_REASON_RETRY had number 4' $yaml '/name: reason$/,/name: retry$/{/name: retry,/d}'
refuses 'TX_FLITS had number 1' $yaml 's/^      - {name: tx-flits,/      - {name: tx-others, type: u64, doc: "flits: others"}\n&/'

# Masks of attributes may be wider than a word. 30 more, of which a command takes the first that is
# in a second word and needs the last: the checks of requests compile, and pass their test.
wide() {
	local more="" i last first
	copy
	for ((i = 1; i <= 30; i++)); do
		more+="      - {name: later-$i, type: u32, doc: more}\n"
	done
	last=$(sed '1,/^enum torus_attr {/d; /};/,$d' include/uapi/torus_abi.h | grep -c '^	TORUS_A_')
	last=$((last - 1))
	first=$((last < 64 ? 64 - last : 1))
	sed -i "/doc: length of NET6}/s/\$/\n${more%\\n}/
		/name: hold\$/,/do:/s/nodes\]/nodes, later-$first, later-30]/" "$tmp/top/$yaml"
	sed -i 's/hold: \[nodes\]/hold: [nodes, later-30]/' "$tmp/top/include/uapi/torus_c.yaml"
	python3 "$tmp/top/include/uapi/generate.py" || return 1
	mkdir -p "$tmp/top/lib" "$tmp/top/tests/unit"
	cp -r lib/deps "$tmp/top/lib/" && cp tests/unit/test_req_policy.c "$tmp/top/tests/unit/"
	(cd "$tmp/top" && grep -q 'TORUS_ATTR_WORDS == 2' kernel/req/rules.c &&
		${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Wall -Werror -Iinclude -Ilib/deps -Ikernel -I. \
			-fsanitize=address,undefined -fno-sanitize-recover=all -o policy \
			tests/unit/test_req_policy.c kernel/req/{attr,rules,policy}.c -lcmocka && ./policy)
}
check "with more than 63 attributes masks have two words" wide
done_testing
