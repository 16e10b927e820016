# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The arguments of the benchmarks: --help, and what is wrong with a value. Source it before anything
# is changed or started. The usage is what the head comment of the script says.

bench_name=$(basename "$0" .sh)

# head_comment: the head comment of the script
head_comment() { awk 'NR < 4 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$0"; }

# usage_error TEXT...: says what is wrong, and how the script is called; exits
usage_error() {
	{
		echo "$bench_name: $*"
		head_comment | awk -v name="$bench_name.sh" '
			$1 == name { on = 1; sub(/^\t*/, "usage: ") }
			on && !/^usage: |^\t\t/ { exit }
			on { print }'
		echo "try '$0 --help'"
	} >&2
	exit 2
}

# asks_help ARGUMENT...: if one is --help or -h, prints the head comment and exits
asks_help() {
	local arg
	for arg; do
		[[ $arg != --help && $arg != -h ]] || { head_comment; exit 0; }
	done
}

# check_number WHAT TEXT MIN MAX
check_number() {
	[[ $2 =~ ^[0-9]{1,9}$ ]] && ((10#$2 >= $3 && 10#$2 <= $4)) ||
		usage_error "$1 '$2': must be $3 to $4"
}

# check_count N ARGUMENT...: N arguments at most, none of which looks like an option
check_count() {
	local max=$1 arg
	shift
	for arg; do [[ $arg != -* ]] || usage_error "unknown option '$arg'"; done
	(($# <= max)) || usage_error "'${*:max + 1:1}' is one argument too many"
}

# check_shape TEXT DIMS NODES: a torus of DIMS dimensions, or of 1 to 6 if DIMS is 0, of 2 to NODES nodes
check_shape() {
	local sizes size nodes=1 want="1 to 6 sizes" example=4x4
	(($2 == 0)) || { want="$2 sizes" && example=4x4x4; }
	IFS=x read -ra sizes <<<"$1"
	[[ $1 =~ ^[0-9]{1,4}(x[0-9]{1,4}){0,5}$ ]] && (($2 == 0 || ${#sizes[@]} == $2)) &&
		for size in "${sizes[@]}"; do
			((10#$size >= 2 && (nodes *= 10#$size) <= $3)) || { nodes=0; break; }
		done && ((nodes)) && return
	[[ $1 != -* ]] || usage_error "unknown option '$1'"
	usage_error "shape '$1': must be $want of 2 or more, $3 nodes at most, such as $example"
}
