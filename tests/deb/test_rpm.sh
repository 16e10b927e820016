#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317
#
# The packages of tools/packaging, by the rpmbuild of Debian: they are built from the sources that git
# has, have the files that make install installs, and rpmlint finds no error.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
export TMPDIR=${TMPDIR:-/var/tmp}
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/deb/build.sh
. tests/deb/build.sh
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

explain() { tail -n 30 "$tmp/rpm.log"; }

# --nodeps: the build needs Debian's packages, whose names RPM does not know.
built() {
	mkdir -p "$tmp/rpm/SOURCES" &&
		git ls-files -z | tar --null -T - -czf "$tmp/rpm/SOURCES/torus-$version.tar.gz" --transform "s,^,torus-$version/,S" &&
		rpmbuild -bb --nodeps --define "_topdir $tmp/rpm" --define 'debug_package %{nil}' tools/packaging/torus.spec \
			>"$tmp/rpm.log" 2>&1
}
# rpmbuild itself fails if a file is in no package. torus-mpi is for the two MPIs of Debian alone: each
# distribution has its own, and the spec builds for none.
packages() {
	diff <(rpm -qp --qf '%{NAME}\n' "$tmp"/rpm/RPMS/*/*.rpm | sort) <(sed -n 's/^Package: //p' debian/control |
		grep -vx torus-mpi | sed 's/-dev$/-devel/' | sort)
}
lints() { rpmlint -c tools/packaging/rpmlint.toml "$tmp"/rpm/RPMS/*/*.rpm tools/packaging/torus.spec; }

check "the tools to build packages are there" install_tools
check "the RPM packages are built" built
check "the RPM packages have the names of Debian's" packages
check "rpmlint has no error" lints
done_testing
