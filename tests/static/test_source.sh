#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks of the sources and objects that run none of them.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
B=${B:-$PWD/build}
B_CLANG=${B_CLANG:-$PWD/build-clang}
# shellcheck source=tests/check.sh
. tests/check.sh
# shellcheck source=tests/static/seen.sh
. tests/static/seen.sh

# silent COMMAND...: it ends with 0 and has nothing to say
silent() {
	"$@" >"$tmp/silent" 2>&1 && [[ ! -s $tmp/silent ]] || { cat "$tmp/silent"; return 1; }
}

# Tracked files and new ones, without ignored ones; works in a tarball too.
files() {
	if [[ -e .git ]]; then
		git -c safe.directory='*' ls-files -co --exclude-standard | sort -u
	else
		find . -path './build*' -prune -o -type f -printf '%P\n' | sort
	fi | while IFS= read -r f; do
		[[ -f $f && ! -L $f ]] && printf '%s\n' "$f"
	done
}

# sources: of the files named on standard input
sources() {
	local f
	while IFS= read -r f; do
		case $f in
		*.[chy] | *.sh | *.mk | *.proto | *.map | *.sym | *.py | Makefile | Kbuild) ;;
		*.service | *.socket | *.target | *.in | *.[1-8] | *.awk) ;;
		tests/fuzz/corpus/*) continue ;;
		*) is_script "$f" || continue ;;
		esac
		printf '%s\n' "$f"
	done
}

is_script() {
	local first
	LC_ALL=C IFS= read -r -d '' -n 2 first <"$1"
	[[ $first == '#!' ]]
}

# Licence that a file must have, by its folder: in one of its first five lines.
spdx() {
	files | sources | xargs -d '\n' awk '
		function licence_of(f) {
			if (f ~ /^(lib\/deps\/|kernel\/core\/(topo\.[ch]|route\.[ch]|files\.mk)$)/)
				return "GPL-2.0-only"
			if (f ~ /^(include\/torus\/.*\.h|lib\/.*\.[ch]|lib\/(mpi\/)?libtorus[-a-z]*\..*)$/)
				return "LGPL-2.1-or-later"
			if (f ~ /^tools\/(arbiter|fabricweb|metrics)\/.*\.[ch]$/)
				return "GPL-2.0-or-later"
			return "GPL-2.0-only"
		}
		FNR <= 5 && !(FILENAME in has) && match($0, /SPDX-License-Identifier:.*/) {
			has[FILENAME] = substr($0, RSTART)
		}
		END {
			for (i = 1; i < ARGC; i++) {
				want = licence_of(ARGV[i])
				if (!index(has[ARGV[i]], want))
					print ARGV[i] ": wants " want ", has " \
						(has[ARGV[i]] ? has[ARGV[i]] : "no SPDX line")
			}
		}'
}

# Linux style where a machine can tell: no trailing blanks, tabs in C, a newline
# at the end.
blanks() {
	local f
	files | grep -E '\.([ch]|sh|mk|md|proto)$' | tee "$tmp/texts" |
		xargs -d '\n' grep -nHE '[[:blank:]]+$'
	grep -E '\.[ch]$' "$tmp/texts" | xargs -d '\n' grep -nHE '^ {8}'
	while IFS= read -r f; do
		[[ -z $(tail -c 1 "$f") ]] || echo "$f: no newline at the end"
	done <"$tmp/texts"
	return 0
}

# The NIC core and its host side may ask their world for what tn_deps.h lists, and no more.
core_symbols() {
	local dir=$1 objs
	objs=("$dir"/kernel/{core,host}/*.o)
	[[ -e ${objs[0]} && -e $dir/kernel/host/chain.o ]] || { echo "$dir: no core objects"; return 1; }
	comm -13 <(
		{ printf '%s\n' memcpy memset memmove memcmp tn_crc32c _GLOBAL_OFFSET_TABLE_
		nm --defined-only -g "${objs[@]}" | awk 'NF == 3 { print $3 }'; } | sort -u
	) <(nm -u "${objs[@]}" | awk '$1 == "U" { print $2 }' | sort -u)
}

# Core sources include the deps header, the ABI and each other, nothing else; those of its host
# side the core, those of requests each other.
core_includes() {
	local own
	own=$(cd kernel/core && printf '%s|' *.h)
	grep -nE '^[[:space:]]*#[[:space:]]*include' kernel/core/*.[ch] |
		grep -vE "\"(${own//./\\.}tn_deps\.h)\"|<torus_uapi\.h>"
	grep -nE '^[[:space:]]*#[[:space:]]*include' kernel/host/*.[ch] |
		grep -vE '"(host|fault|clock|tn_deps|\.\./core/(nic|fault|plan|splitmix64|times))\.h"'
	grep -nE '^[[:space:]]*#[[:space:]]*include' kernel/req/*.[ch] |
		grep -vE '"(req_deps|attr|policy|tree|hw|request|soft|soft_rma|\.\./(core|host)/[a-z_]+)\.h"|<torus_(uapi|reply)\.h>'
	grep -nE '__KERNEL__|LINUX_VERSION' kernel/{core,host,req}/*.[ch]
	return 0
}

# Files above the seam reach a NIC through its operations alone: they name no function of the
# software NIC's core. $1 is another folder, to test this check.
above_seam() {
	local dir=${1:-kernel} files
	files=("$dir"/*.[ch])
	[[ -e ${files[0]} ]] || { echo "$dir: no files above the seam"; return 1; }
	grep -nE '\btn_[a-z0-9_]+[[:space:]]*\(' "${files[@]}"
	return 0
}

# A call of the core above the seam is found, and a mention of a type is none.
above_seam_finds() {
	mkdir "$tmp/seam" && printf 'int a = tn_nic_poll(nic);\n' >"$tmp/seam/a.c" &&
		printf 'struct tn_pkt *p;\n' >"$tmp/seam/b.c" &&
		[[ $(above_seam "$tmp/seam") == "$tmp/seam/a.c:1:"*tn_nic_poll* ]] &&
		[[ $(above_seam "$tmp/seam" | wc -l) == 1 ]] && ! above_seam "$tmp/no-such" >/dev/null
}

# The clock of the wall may jump: it is read to be told to people, nothing else. One exception: an
# exclusion may end at a time of day. daemon/wall.c notices when the clock is set, and on_clock() of
# machine.c then tells the manager the time; the manager's timers remain monotonic.
wall_clock() {
	local clocks='CLOCK_(REALTIME|TAI)|gettimeofday|timespec_get|\btime\('
	grep -rnE "$clocks" daemon lib kernel/core tools/torusemu --include='*.[ch]' |
		grep -vE '^daemon/(loop\.c:|wall\.c:.*timerfd_create)'
	sed '/^double loop_wall(/,/^}/d' daemon/loop.c | grep -nE "$clocks"
	grep -rn 'loop_wall()' daemon --include='*.c' |
		grep -vE '(fabricd_event|fabricd_event_with|events_add)\(|"time", loop_wall|(->|\.)since = .*loop_wall' |
		grep -vE 'return loop_wall\(\) -|machine.c:.*double wall = loop_wall'
	return 0
}

# stated N FOLDER...: the .c files of these folders state at least N invariants
stated() {
	local n
	n=$(find "${@:2}" -name '*.c' -exec grep -ohE '\b(invariant|tn_assert)\(' {} + | wc -l)
	((n >= $1)) || echo "${*:2}: $n invariants, must be at least $1"
}

# A file that states one is enough for 1, and not for 2; a word that ends alike does not count.
stated_counts() {
	mkdir "$tmp/stated" && printf '\ttn_assert(a);\n\tmy_invariant(b);\n' >"$tmp/stated/a.c" &&
		[[ -z $(stated 1 "$tmp/stated") ]] &&
		[[ $(stated 2 "$tmp/stated") == "$tmp/stated: 1 invariants, must be at least 2" ]]
}

# Each script is checked together with what it sources: a file without "#!".
scripts() {
	local f list=() sourced=()
	while IFS= read -r f; do
		[[ $f == *.sh ]] || is_script "$f" || continue
		head -n 1 "$f" | grep -qE 'python|make|zsh' && continue
		list+=("$f")
		is_script "$f" || sourced+=("$f")
	done < <(files)
	((${#list[@]} > 100)) || echo "${#list[@]} scripts"
	printf '%s\n' "${list[@]}" |
		unseen shellcheck "$(shellcheck --version; cat "${sourced[@]}")" shellcheck -x -S warning
}

manuals() {
	local f n=0
	while IFS= read -r f; do
		[[ $f =~ \.[1-8]$ ]] || continue
		n=$((n + 1))
		mandoc -T lint -W warning "$f"
		MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$f" 2>&1 >/dev/null |
			sed "s|^|$f: |"
	done < <(files)
	((n)) || echo "no man pages"
	return 0
}

# A macro that sets words in turns of two fonts joins them, however long the sentence is.
joined() {
	local f
	while IFS= read -r f; do
		[[ $f =~ \.[1-8]$ ]] || continue
		MANROFFSEQ='' MANWIDTH=80 man -E ascii -l "$f" 2>/dev/null | col -bx |
			grep -oE "[A-Za-z,;()]{36,}" | sed "s|^|$f: words are joined: |"
	done < <(files)
	return 0
}

# Every test and fuzzer that exists is also built and run.
declared() {
	local f have
	have=$(make -s --no-print-directory list-tests)
	for f in tests/unit/test_*.c tests/sim/test_*.c tests/fuzz/fuzz_*.c; do
		[[ -e $f ]] || continue
		grep -qxF "${f%.c}" <<<"$have" || echo "$f is in no tests/*/*.mk"
	done
	for f in kernel/core/*.c; do
		f=${f##*/}
		[[ -e tests/unit/test_$f ]] || echo "kernel/core/$f has no tests/unit/test_$f"
	done
	for f in kernel/host/*.c; do
		f=${f##*/}
		[[ -e tests/unit/test_host_$f ]] || echo "kernel/host/$f has no tests/unit/test_host_$f"
	done
}

# offered NAME WORD...: what completion offers after these words
# shellcheck disable=SC2034 # the completion reads them
offered() {
	local COMP_WORDS=("$@" '') COMP_CWORD=$# COMPREPLY
	# shellcheck source=/dev/null
	. "tools/$1/$1.bash" && "_$1" && printf '%s\n' "${COMPREPLY[@]}"
}

# Every command that a program knows has a heading in its man page, and completion offers it.
commands_documented() {
	local name=$1 dir=tools/$1 page=tools/$1/$2 w n=0
	[[ -x $B/$name ]] || { echo "no $name in $B"; return; }
	for w in $(sed -n 's/^COMMAND(\(cmd_\)\{0,1\}\([a-z_]*\)).*/\2/p' "$dir"/*.c | sort -u); do
		n=$((n + 1))
		grep -qx "\.SS ${w/_/ }" "$page" || echo "$page: no heading '${w/_/ }'"
		# shellcheck disable=SC2046 # two words, or none
		offered "$name" $([[ $w != *_* ]] || echo "${w%%_*}") | grep -qxF -- "${w#*_}" ||
			echo "$dir/$name.bash does not offer '${w/_/ }'"
	done
	((n)) || echo "no commands found"
}

# Without files no check would find a fault.
found() { (($(files | sources | wc -l) > 100)); }

check "there are sources to look at" found
check "each source file names its licence" silent spdx
check "no line ends with blanks" silent blanks
check "core objects need no symbols but those of tn_deps.h (gcc)" silent core_symbols "$B"
check "core objects need no symbols but those of tn_deps.h (clang)" silent core_symbols "$B_CLANG"
check "core and req sources include only each other, their deps and the ABI" silent core_includes
check "files above the seam call no function of the software NIC" silent above_seam
check "a call of the software NIC above the seam is found" silent above_seam_finds
check "no timer uses the wall clock" silent wall_clock
check "the NIC core states at least 200 invariants" silent stated 200 kernel/core
check "the manager and the library state at least 150 invariants" silent stated 150 daemon/fm lib
check "a folder with too few invariants is found" silent stated_counts
check "shellcheck has no complaints" silent scripts
check "man pages render without warnings" silent manuals
check "man pages have no joined words" silent joined
check "each test program is declared in a makefile" silent declared
check "fabricctl commands are documented" silent commands_documented fabricctl fabricctl.8
check "fabricsim commands are documented" silent commands_documented fabricsim fabricsim.1
done_testing
