# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Remembers what a slow checker has looked at, so that it looks only at files that are new or have
# changed. Sourced by tests, after check.sh.

# seen_at NAME: prints the name of the file that remembers
seen_at() { echo "${TORUS_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/torus-tests}/seen-$1"; }

# remembered CHECKER TEXT: whether the checker has had nothing to say of what TEXT describes, by
# "remember" with the same text. The text changes with all that the result depends on.
remembered() { grep -qsxF "$(sha256sum <<<"$2")" "$(seen_at "$1")"; }

# remember CHECKER TEXT
remember() {
	local seen
	seen=$(seen_at "$1")
	mkdir -p "${seen%/*}" && sha256sum <<<"$2" >>"$seen"
}

# unseen CHECKER KEY COMMAND...: runs COMMAND on the files named on standard input, eight at a time,
# but leaves out those on which it has succeeded before and printed nothing. A file is known by its name
# and content. KEY is a text that changes with whatever else than COMMAND and the file the result depends
# on: the version of the program, and all other files that it reads. Status: 1 if COMMAND failed or
# printed something.
unseen() {
	local seen key said i rc=0 files
	key=$(sha256sum <<<"${*//"$tmp"/}")
	seen=$(seen_at "$1-${key::16}")
	shift 2
	mkdir -p "${seen%/*}" && touch "$seen" || return
	xargs -d '\n' -r sha256sum | grep -vxFf "$seen" >"$tmp/unseen"
	mapfile -t files < <(cut -c 67- "$tmp/unseen")
	for ((i = 0; i < ${#files[@]}; i += 8)); do
		if said=$("$@" "${files[@]:i:8}") && [[ ! $said ]]; then
			sed -n "$((i + 1)),$((i + 8))p" "$tmp/unseen" >>"$seen"
		else
			[[ ! $said ]] || printf '%s\n' "$said"
			rc=1
		fi
	done
	return $rc
}
