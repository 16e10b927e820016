#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests tests/sandbox, with a checkout below /tmp whose path contains a blank.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh
there="$tmp/a checkout"
mkdir -p "$there/tests" "$tmp/bin"
cp tests/{sandbox,packages} "$there/tests/"

in_sandbox() { "$there/tests/sandbox" "$@"; }

# shellcheck disable=SC2016 # for the inner shell
{
	check "the checkout is mounted where its path has no blanks" \
		in_sandbox sh -c '[ "$PWD" = "$TOP" ] && [ "$B" = "$TOP/build" ] && cmp tests/sandbox "$0"' "$there/tests/sandbox"
	check "the checkout is where guests can see it" in_sandbox sh -c 'case $TOP in /mnt | /media | /srv) ;; *) false ;; esac'
	check "user nobody may enter the checkout" in_sandbox setpriv --reuid 65534 --clear-groups sh -c 'cd "$TOP/tests"'
}

# Labs of the same name inside and outside of the sandbox
apart() {
	ip netns add "$1" && in_sandbox ip netns add "$1" && ip netns del "$1" && ! ip netns del "$1"
}
check "the sandbox sees only its own labs" apart "sb$$"
check "all users may read files that are made in the sandbox" [ "$(umask 077; in_sandbox sh -c umask)" = 0022 ]
check "the exit status is that of the command" exits 7 fine in_sandbox sh -c 'echo fine; exit 7'
usage() {
	exits 0 'usage: tests/sandbox COMMAND' in_sandbox --help &&
		exits 2 'usage: tests/sandbox COMMAND' in_sandbox &&
		exits 2 'usage: tests/sandbox COMMAND' in_sandbox -x
}
check "--help, or a wrong option, prints the usage" usage

script() { { echo '#!/bin/sh'; cat; } >"$tmp/bin/$1" && chmod +x "$tmp/bin/$1"; }
# Prints what sudo would run. Each variable that a test program reads is set to 7.
script sudo <<<'echo sudo "$@"'
mapfile -t read_by_tests < <(grep -rhoP 'getenv\("\K[A-Z]+' tests/unit tests/sim | sort -u)
as_nobody() {
	env PATH="$tmp/bin:$PATH" "${read_by_tests[@]/%/=7}" OTHER=8 \
		setpriv --reuid 65534 --clear-groups "$there/tests/sandbox" "$@"
}
by_sudo() {
	local said name
	said=$(as_nobody true)
	echo "$said"
	for name in SEED "${read_by_tests[@]}"; do
		[[ $said == *" $name=7 "* ]] || { echo "sudo would drop $name"; return 1; }
	done
	[[ $said == "sudo -n -- env "*" $there/tests/sandbox true" && $said != *OTHER* ]]
}
check "sudo passes on the variables that tests read, and no others" by_sudo
done_testing
