#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tests/sandbox, from a checkout below /tmp with a blank in its path.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh
there="$tmp/a checkout"
mkdir -p "$there/tests" "$tmp/bin"
cp tests/{sandbox,packages} "$there/tests/"

in_sandbox() { "$there/tests/sandbox" "$@"; }

# shellcheck disable=SC2016 # for the inner shell
{
	check "the checkout is seen where no path has blanks" \
		in_sandbox sh -c '[ "$PWD" = "$TOP" ] && [ "$B" = "$TOP/build" ] && cmp tests/sandbox "$0"' "$there/tests/sandbox"
	check "guests see it" in_sandbox sh -c 'case $TOP in /mnt | /media | /srv) ;; *) false ;; esac'
	check "nobody may enter it" in_sandbox setpriv --reuid 65534 --clear-groups sh -c 'cd "$TOP/tests"'
}

# A lab here, and one there, of one name
apart() {
	ip netns add "$1" && in_sandbox ip netns add "$1" && ip netns del "$1" && ! ip netns del "$1"
}
check "no labs but its own" apart "sb$$"
check "nobody may read what is made there" [ "$(umask 077; in_sandbox sh -c umask)" = 0022 ]
check "the command's exit status is its own" exits 7 fine in_sandbox sh -c 'echo fine; exit 7'

script() { { echo '#!/bin/sh'; cat; } >"$tmp/bin/$1" && chmod +x "$tmp/bin/$1"; }
# What sudo would run
script sudo <<<'echo sudo "$@"'
as_nobody() { env PATH="$tmp/bin:$PATH" SEED=7 OTHER=8 setpriv --reuid 65534 --clear-groups "$there/tests/sandbox" "$@"; }
by_sudo() {
	local said
	said=$(as_nobody true)
	echo "$said"
	[[ $said == "sudo -n -- env "*"SEED=7"*" $there/tests/sandbox true" && $said != *OTHER* ]]
}
check "sudo is told what tests are told" by_sudo
done_testing
