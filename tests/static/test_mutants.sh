#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The mutation stage itself, on a tree of one small file: what it makes of C, and
# what it says of mutants that die, live, loop, or change nothing.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh
mutants=$PWD/tests/mutants
toy=$tmp/toy
export PYTHONDONTWRITEBYTECODE=1

make_toy() {
	mkdir -p "$toy/kernel/core" "$toy/tests/unit"
	cat >"$toy/Makefile" <<'END'
tests := tests/unit/test_sum
tests/unit/test_sum-objs := tests/unit/test_sum.o kernel/core/sum.o
tests: $(B)/$(tests)
list-tests:
	@echo $(tests)
$(B)/$(tests): $(addprefix $(B)/,$($(tests)-objs))
	gcc $(OPT) -o $@ $^
$(B)/%.o: %.c
	@mkdir -p $(@D)
	gcc $(OPT) $(WARN) -MMD -MF $@.d -c -o $@ $<
END
	cat >"$toy/kernel/core/sum.c" <<'END'
/* if (a < b) b = 3; */
#define LIMIT (1 + 2)
enum { SEVEN = 7 };
const char text[] = "if (a < b) { b = 3; }";

int sum(int n)
{
	int total = LIMIT;

	while (n) {
		total += n;
		n /= 2;
	}
	return total + 0;
}

int never(int n)
{
	return n && n != SEVEN;
}
END
	cat >"$toy/tests/unit/test_sum.c" <<'END'
#include <stdio.h>
int sum(int n);
int never(int n);
int main(void)
{
	int right = sum(4) == 10;

	printf("%s - sum\n", right ? "ok" : "not ok");
	return !right;
}
END
}

# campaign OPTION...: of the toy
campaign() {
	"$mutants/campaign.py" --top "$toy" --results "$tmp/results" \
		--equivalent "$tmp/equivalent" --jobs 2 "$@" >"$tmp/said" 2>&1
}

# judged VERDICT OPERATOR FUNCTION...: those of this operator in this function came to that
judged() {
	cat "$tmp/said"
	grep -qE "^# [0-9]+/[0-9]+ kernel/core/sum.c $3\(\), $2: $1" "$tmp/said"
}

# ends STATUS TEXT: the campaign said so
ends() {
	cat "$tmp/said"
	[[ $status == "$1" ]] || { echo "exit status $status, wanted $1"; return 1; }
	grep -qF -- "$2" "$tmp/said" || { echo "does not say '$2'"; return 1; }
}

# Known by text, not by line; nothing of comments, strings, declarations.
makes() {
	python3 - "$mutants" >"$tmp/made" <<'END' || return 1
import sys
sys.path.insert(0, sys.argv[1])
from mutate import mutants_of
for m in mutants_of('x.c', '''
/* a < b */
static int f(struct s *a, int b)
{
	char text[16] = "a < b";	// a < b
	int *c = &b, d = 3 - b;

	_Static_assert(sizeof(text) > 2, "1 < 2");
	if (a->n < b && !c)
		return -EINVAL;
	if (b > d)
		log_error("f", "%d", b + 1);
	for (;;)
		break;
	g(a);
	return d;
}
'''):
	print(m.operator, '|', m.new_text)
END
	diff - "$tmp/made" <<'END'
constant | int *c = &b, d = 4 - b;
swap | int *c = &b, d = b - 3;
arithmetic | int *c = &b, d = 3 + b;
drop operand | if (!c)
negate | if (!(a->n < b && !c))
compare | if (a->n <= b && !c)
drop operand | if (a->n < b)
logic | if (a->n < b || !c)
drop ! | if (a->n < b && c)
return | return 0;
drop break | ;
drop call | ;
return | return d + 1;
END
}

# verdicts: what is known, without what the machine's speed changes
verdicts() {
	grep -o '^{"mutant.*"verdict": "[a-z]*"' "$tmp/results" | sort
}

# Nothing is judged twice, a line that was cut short is judged again, the mutants of two
# shards are those of the whole.
resumes() {
	local before after
	before=$(verdicts)
	sed -i '$ s/"verdict.*//' "$tmp/results"
	campaign
	after=$(verdicts)
	[[ $before == "$after" ]] || { diff <(echo "$before") <(echo "$after"); return 1; }
	campaign --shard 1/2
	grep -c '^# [0-9]*/' "$tmp/said" >"$tmp/shards"
	campaign --shard 2/2
	grep -c '^# [0-9]*/' "$tmp/said" >>"$tmp/shards"
	cat "$tmp/shards"
	[[ $(paste -sd+ "$tmp/shards" | bc) == $(wc -l <<<"$before") ]]
}

marks() {
	cat >"$tmp/equivalent" <<'END'
# SPDX-License-Identifier: GPL-2.0-only
kernel/core/sum.c never
- return n && n != SEVEN;
+ return n || n != SEVEN;
nobody calls it

kernel/core/sum.c sum
- return total + 3;
+ return total - 3;
once it read so
END
	campaign
	status=$?
	! grep -q 'never(), logic' "$tmp/said" || return 1
	ends 1 'not ok - mark of kernel/core/sum.c sum: "return total + 3;" is of a mutant'
}

named() {
	cat >"$tmp/named" <<'END'
kernel/core/sum.c sum
- total += n;
- n /= 2;
+ n /= 2;
+ total += n;
each is half as much

kernel/core/sum.c never
- return n && n != SEVEN;
+ return 0;
it is always false
END
	campaign --named "$tmp/named"
	status=$?
	ends 1 'ok - dies: each is half as much' && ends 1 'not ok - dies: it is always false'
}

unreached() {
	"$mutants/campaign.py" --top "$toy" --unreached | tee "$tmp/unreached"
	[[ $(grep -c '^kernel/core/sum.c:' "$tmp/unreached") -gt 0 ]] &&
		! grep -E '^kernel.*total|^kernel.*while' "$tmp/unreached" &&
		grep -q '^kernel/core/sum.c:19:.*return n && n != SEVEN' "$tmp/unreached"
}

# A program that fails once and passes when it is run again has not noticed a mutant.
twice() {
	python3 - "$mutants" >"$tmp/twice" <<'END' || return 1
import sys
from types import SimpleNamespace as Thing
sys.path.insert(0, sys.argv[1])
from judge import Judge, Order
class Place:
	def build(self, mutant): pass
	def undo(self): pass
	def run(self, step): return Thing(failed=step.ends.pop(0))
def step(*ends):
	return Thing(name='p', cpu=1, how='', program=Thing(digest='d', killer=lambda *of: of), ends=list(ends))
for ends in ('not ok - a', None), ('time', None), ('not ok - a', 'not ok - b'), (None, 'not ok - a'):
	print(ends, Judge(Place(), None, Order()).judge(Thing(path='x.c'), [step(*ends)], {})[0])
END
	diff - "$tmp/twice" <<'END'
('not ok - a', None) lived
('time', None) lived
('not ok - a', 'not ok - b') died
(None, 'not ok - a') lived
END
}

# What lived is run again when its tests are others.
notices_tests() {
	sed -i 's/sum(4) == 10/& \&\& never(1) \&\& !never(0) \&\& !never(7)/' \
		"$toy/tests/unit/test_sum.c"
	campaign --thorough
	status=$?
	judged died logic never && ends 0 'ok - kernel/core: 100.0 % of'
}

# Beside stages tests/run takes paths, but only for mutants; a word that is neither is refused.
words() {
	exits 2 "allowed: build static vm" tests/run --mutants 1 wrongword &&
		exits 2 "unknown stage 'wrongword'" tests/run --mutants 1 wrongword &&
		exits 2 'with --mutants also paths below kernel, daemon and lib' tests/run wrongword &&
		exits 2 "there is no 'kernel/none.c'" tests/run --mutants 1 kernel/none.c &&
		exits 2 "'kernel/cut.c' is for --mutants" tests/run kernel/cut.c &&
		tests/run --list --mutants 1 kernel/cut.c | grep 'campaign.py --mutants 1 .* kernel/cut.c$'
}

check 'words that tests/run knows, and those it does not' words
check 'mutants are made of what is carried out alone' makes
check 'a failure that does not come again is none' twice
make_toy
cp "$toy/kernel/core/sum.c" "$tmp"
: >"$tmp/equivalent"
campaign
status=$?
check 'an assignment that is dropped is noticed' \
	judged 'died, test_sum/12: not ok - sum' 'drop assignment' sum
check 'a loop without end is ended' judged 'died, test_sum/12: time' 'drop assignment' sum
check 'what is compiled to the same is no mutant' judged same arithmetic sum
check 'what no program reaches lives' judged lived logic never
check 'lines are told that no program reaches' unreached
check 'survivors are shown as diffs' grep -q '^# +.*return n || n != SEVEN;' "$tmp/said"
check 'too many survivors are a failure' ends 1 'not ok - kernel/core: '
check 'the sources are left alone' cmp "$toy/kernel/core/sum.c" "$tmp/sum.c"
check 'a campaign goes on where it ended' resumes
check 'marks of equivalents count, and are told when they are of nothing' marks
: >"$tmp/equivalent"
check 'mutants written by hand are judged' named
check 'a survivor is judged again by other tests' notices_tests
done_testing
