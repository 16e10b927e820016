# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# How the tests of this folder get packages. They source this after tests/check.sh.

# install_tools: what tests/deb/packages lists
install_tools() {
	local wanted
	mapfile -t wanted < <(sed 's/#.*//; /^[[:space:]]*$/d' tests/deb/packages)
	(
		flock 9
		dpkg-query -W -f '${Status}\n' "${wanted[@]}" 2>/dev/null | grep -c ' installed$' | grep -qx "${#wanted[@]}" && exit
		apt-get -q update && apt-get -q -y --no-install-recommends install "${wanted[@]}"
	) 9>/run/lock/torus-tests.lock </dev/null >"$tmp/tools.log" 2>&1
}

# build_packages DIR: builds those of the sources that git has, also of what is not committed yet, into
# $tmp/DIR
build_packages() {
	mkdir -p "$tmp/$1/torus" && git ls-files -z | xargs -0 cp -a --parents -t "$tmp/$1/torus" &&
		(cd "$tmp/$1/torus" && dpkg-buildpackage -us -uc -b -Jauto) >"$tmp/$1.log" 2>&1
}

# build_older: into $tmp/old, after build_packages built: those of the last tag, or if there is none
# with packages, the same programs with a lower version
build_older() {
	local tag=''
	mkdir -p "$tmp/old" && tag=$(git describe --tags --abbrev=0 2>/dev/null)
	if [[ $tag ]] && git cat-file -e "$tag:debian/control" 2>/dev/null; then
		mkdir "$tmp/old/torus" && git archive "$tag" | tar -C "$tmp/old/torus" -x
	else
		cp -a "$tmp/built/torus" "$tmp/old/" && rm -f "$tmp/old/torus/debian/files"
	fi &&
		sed -i '1s/(\([^)]*\))/(\1~old)/' "$tmp/old/torus/debian/changelog" &&
		(cd "$tmp/old/torus" && dpkg-buildpackage -us -uc -b -nc -Jauto) >"$tmp/old.log" 2>&1
}
