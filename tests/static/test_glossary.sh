#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# doc/GLOSSARY.md explains each word once, and the file, manual or command that it refers to exists.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh

# glossary FILE: prints what is wrong in it
glossary() {
	local word meaning see more dir name rows=0

	while IFS='|' read -r _ word _ meaning see more; do
		[[ $word != ' word ' && $word != ---* ]] || continue
		((++rows))
		[[ -n $meaning ]] || echo "$word has no meaning"
		[[ -n $see && -z $more ]] || { ((${#see})) && echo "$word has more than four columns"; continue; }
		while read -r name; do
			case $name in
			*\(?\)) dir=${name%\(*} dir+=.${name: -2:1}
				find . -name "$dir" -o -name "$dir.in" | grep -q . || echo "$word: there is no manual $name" ;;
			fabricctl\ *)
				[[ -e tools/fabricctl/cmd_${name#* }.c ]] || echo "$word: there is no command $name" ;;
			*) [[ -e $name ]] || echo "$word: there is no $name" ;;
			esac
		done < <(grep -oE '`[^`]+`|[a-z.-]+\([0-9]\)' <<<"$see" | tr -d '`')
		grep -qE '`|\([0-9]\)' <<<"$see" || echo "$word: nothing is named"
	done < <(sed -n '/^## Words with/q; /^|/p' "$1")
	((rows)) || echo "no words"
	sed -n '/^## Words with/q; s/^| \([^|]*\) |.*/\1/p' "$1" | grep -vx word | sort |
		uniq -d | sed 's/$/ stands twice/'
}

right() { glossary doc/GLOSSARY.md >"$tmp/out"; sed 's/^/# /' "$tmp/out"; [[ ! -s $tmp/out ]]; }

# tells TEXT FROM TO: it says TEXT if FROM is replaced by TO
tells() {
	sed "s#$2#$3#" doc/GLOSSARY.md >"$tmp/glossary.md"
	glossary "$tmp/glossary.md" >"$tmp/out"
	grep -qF -- "$1" "$tmp/out" || { echo "# said: $(cat "$tmp/out")"; return 1; }
}
wrong() {
	tells "there is no kernel/core/lonk.h" kernel/core/link.h kernel/core/lonk.h &&
		tells "there is no manual fabricc.d(8)" 'fabricd(8)' 'fabricc.d(8)' &&
		tells "there is no command fabricctl tables" 'fabricctl table' 'fabricctl tables' &&
		tells "cable stands twice" '^| link ' '| cable ' &&
		tells "nothing is named" '`kernel/core/train.h`' 'train' &&
		tells "has no meaning" '^| cable .*' '| cable |' &&
		tells "no words" '^| ' '- '
}

check "doc/GLOSSARY.md explains each word once, and what it names exists" right
check "a word that is explained twice and a missing name are found" wrong
done_testing
