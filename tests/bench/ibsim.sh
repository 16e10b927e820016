# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# OpenSM with torus-2QoS on ibsim's model of a torus, as the reference of our benchmarks.
# Source it in a network namespace of its own: ibsim listens on an abstract socket, which
# belongs to the namespace.
#
#	work		a directory of the run, removed at the end
#	net X Y Z	describes the torus for the next opensm_run
#	opensm_run MAX	runs OpenSM once, for MAX seconds at most
#	between A B	milliseconds between two lines of OpenSM's log

work=$(mktemp -d)
sim=
trap '[[ -z $sim ]] || kill "$sim" 2>/dev/null; rm -rf "$work"' EXIT

# ibsim exits at the end of its input, so it reads a pipe to which nobody writes.
mkfifo "$work/never"
exec {never}<>"$work/never"

# Switches and their hosts as ibnetdiscover writes them, and torus-2QoS's seed.
net() {
	awk -v X="$1" -v Y="$2" -v Z="$3" -v conf="$work/torus.conf" '
	function name(x, y, z) { return (x + X) % X "_" (y + Y) % Y "_" (z + Z) % Z }
	function guid(x, y, z) {
		return 1048576 + 16 * ((x + X) % X + X * ((y + Y) % Y + Y * ((z + Z) % Z)))
	}
	function to(port, x, y, z, far) { printf "[%d] \"S%s\"[%d]\n", port, name(x, y, z), far }
	function seed(word, x, y, z) {
		printf "%s 0x%x 0x%x\n", word, guid(0, 0, 0), guid(x, y, z) >conf
	}
	BEGIN {
		for (z = 0; z < Z; z++) for (y = 0; y < Y; y++) for (x = 0; x < X; x++) {
			printf "switchguid=0x%x\nSwitch 7 \"S%s\"\n", guid(x, y, z), name(x, y, z)
			to(1, x + 1, y, z, 4); to(2, x, y + 1, z, 5); to(3, x, y, z + 1, 6)
			to(4, x - 1, y, z, 1); to(5, x, y - 1, z, 2); to(6, x, y, z - 1, 3)
			printf "[7] \"H%s\"[1]\n\n", name(x, y, z)
		}
		for (z = 0; z < Z; z++) for (y = 0; y < Y; y++) for (x = 0; x < X; x++)
			printf "caguid=0x%x\nHca 1 \"H%s\"\n[1] \"S%s\"[7]\n\n",
				guid(x, y, z) + 268435456, name(x, y, z), name(x, y, z)
		printf "torus %d %d %d\n", X, Y, Z >conf
		seed("xp_link", 1, 0, 0); seed("yp_link", 0, 1, 0); seed("zp_link", 0, 0, 1)
		seed("xm_link", -1, 0, 0); seed("ym_link", 0, -1, 0); seed("zm_link", 0, 0, -1)
	}' >"$work/net"
}

# Milliseconds between two lines of OpenSM's log.
between() {
	awk -v a="$1" -v b="$2" '
	function ms() { split($3, t, ":"); return ((t[1] * 60 + t[2]) * 60 + t[3]) * 1e3 + $4 / 1e3 }
	index($0, a) { began = ms() }
	index($0, b) { printf "%.3f", ms() - began; exit }' "$work/osm.log"
}

opensm_run() {
	local limit=$1 i
	rm -f "$work"/*.log
	ibsim -s -S 8192 -N 16384 -P 131072 "$work/net" <&"$never" >"$work/ibsim.out" 2>&1 &
	sim=$!
	for ((i = 0; i < limit; i++)); do
		# until ibsim listens, or has exited
		{ grep -q "@.*sim" /proc/net/unix || ! kill -0 "$sim"; } 2>/dev/null && break
		sleep 1
	done
	SIM_HOST=H0_0_0 OSM_CACHE_DIR=$work OSM_TMP_DIR=$work timeout "$limit" \
		ibsim-run opensm -R torus-2QoS --torus_config "$work/torus.conf" -o -Q \
		-f "$work/osm.log" -D 0x07 </dev/null >"$work/opensm.out" 2>&1
	kill "$sim" 2>/dev/null
	wait "$sim" 2>/dev/null
	sim=
}
