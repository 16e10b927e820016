#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the mutation stage on a tree of one small file: which mutants it makes, and what it
# reports of mutants that die, survive, loop for ever, or change nothing.

cd "${TOP:-$(dirname "$0")/../..}" || exit 2
# shellcheck source=tests/check.sh
. tests/check.sh
mutants=$PWD/tests/mutants
toy=$tmp/toy
export PYTHONDONTWRITEBYTECODE=1

make_toy() {
	mkdir -p "$toy/kernel/core" "$toy/tests/unit"
	cat >"$toy/Makefile" <<'END'
OPT ?= -O2 -g
tests := $(basename $(wildcard tests/*/test_*.c))
$(foreach t,$(tests),$(eval $(t)-objs := $(t).o kernel/core/sum.o))
tests: $(addprefix $(B)/,$(tests))
.SECONDARY:
$(B)/tests/%: $(B)/tests/%.o $(B)/kernel/core/sum.o
	gcc $(OPT) -o $@ $^
$(B)/%.o: %.c
	@mkdir -p $(@D)
	gcc $(OPT) $(WARN) $(if $(ASSERT),-DTORUS_ASSERT) -MMD -MF $@.d -c -o $@ $<
-include $(wildcard $(B)/*/*/*.d)
END
	cat >"$toy/kernel/core/sum.c" <<'END'
/* if (a < b) b = 3; */
#define LIMIT (1 + 2)
enum { SEVEN = 7 };
#ifdef TORUS_ASSERT
#include <assert.h>
#else
#define assert(cond)
#endif
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

int least(int n)
{
	if (n > SEVEN)
		n = SEVEN;
	assert(n <= SEVEN);
	return n;
}
END
	cat >"$toy/tests/unit/test_sum.c" <<'END'
#include <stdio.h>
int sum(int n);
int never(int n);
int least(int n);
int main(void)
{
	int right = sum(4) == 10;

	least(9);

	printf("%s - sum\n", right ? "ok" : "not ok");
	return !right;
}
END
}

# campaign OPTION...: runs a campaign on the toy, whose programs take a few milliseconds. Mutants that
# loop for ever are stopped after a second.
campaign() {
	"$mutants/campaign.py" --top "$toy" --results "$tmp/results" --floor 1 \
		--equivalent "$tmp/equivalent" --jobs 2 "$@" >"$tmp/said" 2>&1
}

# judged VERDICT OPERATOR FUNCTION [FILE]: whether a mutant of OPERATOR in FUNCTION got VERDICT
judged() {
	cat "$tmp/said"
	grep -qE "^# [0-9]+/[0-9]+ kernel/core/${4:-sum.c} $3\(\), $2: $1" "$tmp/said"
}

# ends STATUS TEXT: whether the campaign ended with STATUS and printed TEXT
ends() {
	cat "$tmp/said"
	[[ $status == "$1" ]] || { echo "exit status $status, wanted $1"; return 1; }
	grep -qF -- "$2" "$tmp/said" || { echo "does not say '$2'"; return 1; }
}

# Mutants are made of statements, not of comments, strings or the types in declarations.
makes() {
	python3 - "$mutants" >"$tmp/made" <<'END' || return 1
import sys
sys.path.insert(0, sys.argv[1])
from mutate import mutants_of
for m in mutants_of('x.c', '''
/* a < b */
static bool is_small(int b)
{
	return b < 9;
}

static int f(struct s *a, int b)
{
	char text[16] = "a < b";	// a < b
	int *c = &b, d = 3 - b;

	_Static_assert(sizeof(text) > 2, "1 < 2");
	if (a->n < b && !c)
		return -EINVAL;
	if (b > d)
		log_error("f", "%d", b + 1);
	invariant(b < 4 && is_small(b));
	tn_assert(d > 5);
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

# The stage finds all programs of unit and sim of this checkout, and the objects of each.
lists() {
	python3 - "$mutants" "$PWD" "$tmp" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from programs import Programs
p = Programs(sys.argv[2], sys.argv[3], 1, print)
p.base.path = sys.argv[2]
found = p.list()
objects = {q.short: q.objects for q in found}
print(len(objects), 'names of', len(found), 'programs')
assert len(objects) == len(found) > 100
assert all(f'tests/{n}.o' in objects[n] for n in ('unit/test_seal', 'unit/test_arbiter', 'sim/test_arbiter'))
assert 'daemon/seal.o' in objects['unit/test_seal']
assert 'daemon/fm/root/claim.o' in objects['sim/test_takeover']
END
}

# verdicts: prints the known verdicts without the parts that depend on the machine's speed
verdicts() {
	grep -o '^{"mutant.*"verdict": "[a-z]*"' "$tmp/results" | sort
}

# A second campaign judges no mutant again, except one whose line of results was cut short. Two
# shards together have the mutants of the whole draw.
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
	ends 1 'not ok - the mark of kernel/core/sum.c sum: "return total + 3;" matches a mutant'
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
		grep -q '^kernel/core/sum.c:24:.*return n && n != SEVEN' "$tmp/unreached"
}

# A mutant that lives without assertions is judged with them too; without the option this does not
# count.
asserts() {
	campaign --assertions
	judged 'died, unit/test_sum:assert: signal 6' 'drop assignment' least &&
		grep -q '^# without assertions 7 of 14 died (50.0 %), with assertions 8 (57.1 %)$' "$tmp/said" || return 1
	campaign
	judged lived 'drop assignment' least
}

# With --quick a program that takes longer judges nothing, also when its time is known.
quick() {
	campaign --quick 0.000001 --results "$tmp/quick"
	judged lived 'drop assignment' sum || return 1
	rm -r "$toy/build-mutants/programs"
	campaign --quick 0.000001 --results "$tmp/quick2"
	judged lived 'drop assignment' sum || return 1
	campaign --quick 1 --results "$tmp/quick3"
	judged 'died, unit/test_sum:12: not ok - sum' 'drop assignment' sum
}

# With --linked nothing is built to find lines, and each program that has the file judges: one that does
# not reach the line passes.
linked() {
	rm -rf "$toy/build-mutants/counted" "$toy/build-mutants/programs"
	campaign --linked --results "$tmp/linked"
	[[ ! -e $toy/build-mutants/counted ]] || { echo 'lines were looked for'; return 1; }
	judged 'died, unit/test_sum:12: not ok - sum' 'drop assignment' sum &&
		judged same arithmetic sum && judged lived logic never &&
		grep -q 'passes unit/test_sum:12' "$tmp/said"
}

# A program that fails once and passes when it is run again has not noticed the mutant.
twice() {
	python3 - "$mutants" >"$tmp/twice" <<'END' || return 1
import sys
from types import SimpleNamespace as Thing
sys.path.insert(0, sys.argv[1])
from judge import Judge, Order
class Place:
	mutant, differs = None, True
	def build(self, mutant): self.mutant = mutant
	def undo(self): pass
	def run(self, step): return Thing(failed=step.ends.pop(0))
def step(*ends):
	return Thing(name='p', cpu=1, how='', program=Thing(digest='d', focus=lambda path: 1, killer=lambda *of: of), ends=list(ends))
for ends in ('not ok - a', None), ('time', None), ('not ok - a', 'not ok - b'), (None, 'not ok - a'):
	print(ends, Judge(Place(), {}, Order()).judge(Thing(path='x.c'), [step(*ends)], {})[0])
END
	diff - "$tmp/twice" <<'END'
('not ok - a', None) lived
('time', None) lived
('not ok - a', 'not ok - b') died
(None, 'not ok - a') lived
END
}

# make is asked once how a program is linked, whichever of its objects changed: the commands only
# differ if the object is in an archive.
links() {
	python3 - "$mutants" >"$tmp/links" <<'END' || return 1
import sys
from types import SimpleNamespace as Thing
sys.path.insert(0, sys.argv[1])
from judge import Place
from programs import Program
from tree import Tree
asked, done = [], []
pristine, tree = Tree('/nowhere', []), Tree('/nowhere', [])
pristine.make = lambda *words: (0, asked.append(words[3:]) or f'link after {words[3]}')
tree.shell = lambda commands: done.append(commands)
program = Program('tests/unit/test_a', {'a.o': {'tests/unit/test_a'}, 'b.o': {'tests/unit/test_a'},
	'c.o': {'lib.a'}, 'd.o': {'lib.a', 'tests/unit/test_a'}, 'e.o': {'lib.a'}})
other = Program('tests/sim/test_a', {'a.o': {'tests/sim/test_a'}})
for of, path in (program, 'a.c'), (program, 'b.c'), (program, 'c.c'), (program, 'd.c'), (program, 'e.c'), (other, 'a.c'):
	place = Place(tree, pristine)
	place.mutant, place.linked = Thing(path=path), set()
	try:
		place.run(Thing(program=of))
	except RuntimeError:	# the shell above fails
		pass
print(*(' '.join(a) for a in asked), *done, sep='\n')
END
	diff - "$tmp/links" <<'END'
build/a.o build/tests/unit/test_a
build/c.o build/tests/unit/test_a
build/d.o build/tests/unit/test_a
build/a.o build/tests/sim/test_a
link after build/a.o
link after build/a.o
link after build/c.o
link after build/d.o
link after build/c.o
link after build/a.o
END
}

# How programs are linked is asked of make at once, with the same answer as for one of them.
links_at_once() {
	python3 - "$mutants" "$toy/build-mutants/base" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from tree import PLAIN, Tree
tree, program, changed = Tree(sys.argv[2], PLAIN), 'build/tests/unit/test_sum', 'build/kernel/core/sum.o'
said = tree.commands(program, changed)
print(said)
assert tree.links([changed], [program]) == {program: said.strip()}
assert tree.links([], [program]) == {} == tree.links([changed], [])
END
}

# A mutant that survived is judged again when the tests have changed.
notices_tests() {
	sed -i 's/sum(4) == 10/& \&\& never(1) \&\& !never(0) \&\& !never(7) \&\& least(9) == 7/' \
		"$toy/tests/unit/test_sum.c"
	campaign --thorough
	status=$?
	judged died logic never && ends 0 'ok - kernel/core: 100.0 % of'
}

# Programs of unit and sim may have the same name: each has lines and results of its own.
twins() {
	local judged
	mkdir "$toy/tests/sim"
	cat >"$toy/tests/sim/test_sum.c" <<'END'
#include <stdio.h>
int never(int n);
int main(void)
{
	int right = !never(7);

	printf("%s - never\n", right ? "ok" : "not ok");
	return !right;
}
END
	sed -i 's/ && .*;/;/' "$toy/tests/unit/test_sum.c"
	campaign --results "$tmp/twins"
	judged 'died, sim/test_sum:12: not ok - never' logic never &&
		judged 'died, unit/test_sum:12: not ok - sum' 'drop assignment' sum || return 1
	judged=$(wc -l <"$tmp/twins")
	campaign --results "$tmp/twins"
	! grep -F ': finding' "$tmp/said" || return 1
	[[ $(wc -l <"$tmp/twins") == "$judged" ]] || { echo 'judged again:'; tail -n +$((judged + 1)) "$tmp/twins"; return 1; }
}

# Inline functions of a header are mutated, and judged in the objects that include it.
headers() {
	printf '%s\n' 'static inline int half(int n) { return n / 2 + 0; }' \
		'static inline int rest(int n) { return n % 2; }' >"$toy/kernel/core/half.h"
	sed -i 's|n /= 2;|n = half(n);|; 1i #include "half.h"' "$toy/kernel/core/sum.c"
	campaign --results "$tmp/headers" "$toy/kernel/core/half.h"
	judged 'died, unit/test_sum:12: not ok - sum' constant half half.h &&
		judged same arithmetic half half.h && judged lived return rest half.h &&
		[[ $(grep -c '"verdict": "same"' "$tmp/headers") == 1 ]]
}

# Each mutant written by hand is one of the sources as they are now: else nothing is marked, or judged.
fresh() {
	python3 - "$mutants" <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
from marks import marks_of
from mutate import mutants_of
marks = {n: marks_of(os.path.join(sys.argv[1], n)) for n in ('equivalent', 'named')}
texts = {k.path: open(k.path, encoding='utf-8').read() for n in marks for k in marks[n]}
made = {p: mutants_of(p, texts[p]) for p in {k.path for k in marks['equivalent']}}
stale = [k.title for k in marks['equivalent'] if not any(k.is_of(m) for m in made[k.path])]
stale += [k.title for k in marks['named'] if not k.mutant(texts[k.path])]
print('\n'.join(stale))
sys.exit(bool(stale) or len(marks['equivalent']) < 100)
END
}

# A tree for together.py: functions whose heads have all forms, a program for each of two functions,
# a program that fails, and one without the file.
make_shapes() {
	mkdir -p "$tmp/shapes/lib" "$tmp/shapes/tests/unit"
	cd "$tmp/shapes" || return 1
	cat >Makefile <<'END'
tests := $(basename $(wildcard tests/unit/test_*.c))
$(B)/tests/unit/test_%: $(B)/tests/unit/test_%.o $(B)/lib/shapes.o
	gcc -o $@ $^
$(B)/tests/unit/test_other: $(B)/tests/unit/test_other.o
	gcc -o $@ $^
$(B)/%.o: %.c
	@mkdir -p $(@D)
	gcc -O1 -c -o $@ $<
list-tests:
	@printf '%s\n' $(tests)
.SECONDARY:
END
	cat >lib/shapes.c <<'END'
#include <stddef.h>

struct shape { int a, b; };
static int twice(int n);
static const struct shape *
larger(const struct shape *s, const struct shape *t) __attribute__((pure));

int border(const struct shape *s)
{
	return twice(s->a) + twice(s->b);
}

static __attribute__((noinline)) int area(const struct shape *s)
{
	return s->a * s->b;
}

static int twice(int n)
{
	return n * 2;
}

const struct shape *larger_of(const struct shape *s, const struct shape *t)
{
	return larger(s, t);
}

static const struct shape *
larger(const struct shape *s, const struct shape *t)
{
	if (area(s) < area(t))
		return t;
	return s;
}

int unused(int n)
{
	return n + 1;
}
END
	unit_program border 'border(&(struct shape){ 2, 3 }) == 10'
	unit_program larger 'larger_of(&(struct shape){ 2, 3 }, &seven) == &seven'
	unit_program wrong 'border(&seven) == 1'
	printf '#include <stdio.h>\nint main(void) { puts("not ok - it is never run"); return 1; }\n' >tests/unit/test_other.c
}

# unit_program NAME CONDITION: makes a program of one test
unit_program() {
	cat >"tests/unit/test_$1.c" <<END
#include <stdio.h>
struct shape { int a, b; };
static struct shape seven = { 1, 7 };
int border(const struct shape *s);
const struct shape *larger_of(const struct shape *s, const struct shape *t);
int twice(int n);
int twice(int n) { return n; }	/* lib/shapes.c has a static function of this name */
int main(void)
{
	int right = $2;

	printf("%s - $1\\n", right && seven.b == 7 ? "ok" : "not ok");
	return !right;
}
END
}

# With one build, each mutant is judged by the programs that call its function, whatever its head is like:
# static, declared before, with attributes, with the name on a line of its own, with the name of another file's.
together() (
	make_shapes && "$mutants/together.py" --verbose lib/shapes.c >"$tmp/together" || { cat "$tmp/together"; return 1; }
	diff - <(grep -v '^# linked;' "$tmp/together") <<'END'
# 14 mutants, 0 of them marked as equivalent
# 3 programs
# 0 do not compile
# unit/test_wrong fails without mutation: not ok - wrong
# lib/shapes.c border return: unit/test_border: not ok - border
# lib/shapes.c border arithmetic: unit/test_border: not ok - border
### 3 area() shapes.c:15  return   [1 programs]
- return s->a * s->b;
+ return (s->a * s->b) + 1;
### 4 area() shapes.c:15  arithmetic   [1 programs]
- return s->a * s->b;
+ return s->a + s->b;
# lib/shapes.c twice return: unit/test_border: not ok - border
# lib/shapes.c twice arithmetic: unit/test_border: not ok - border
# lib/shapes.c twice constant: unit/test_border: not ok - border
# lib/shapes.c larger_of return: unit/test_larger: not ok - larger
### 9 larger() shapes.c:31  compare   [1 programs]
- if (area(s) < area(t))
+ if (area(s) <= area(t))
# lib/shapes.c larger return: unit/test_larger: not ok - larger
### 11 larger() shapes.c:33  return   [1 programs]
- return s;
+ return NULL;
### 12 unused() shapes.c:38  return   [0 programs]
- return n + 1;
+ return n + 1 + 1;
### 13 unused() shapes.c:38  arithmetic   [0 programs]
- return n + 1;
+ return n - 1;
### 14 unused() shapes.c:38  constant   [0 programs]
- return n + 1;
+ return n + 0;
# 7 died, 7 lived: 50.0 %
#   unit/test_border killed 5
#   unit/test_larger killed 2
END
)

# tests/run takes stages, and with --mutants also paths; it refuses any other word.
words() {
	exits 2 "must be one of: build static vm" tests/run --mutants 1 wrongword &&
		exits 2 "unknown stage 'wrongword'" tests/run --mutants 1 wrongword &&
		exits 2 'with --mutants also paths below kernel, daemon and lib' tests/run wrongword &&
		exits 2 "there is no 'kernel/none.c'" tests/run --mutants 1 kernel/none.c &&
		exits 2 'neither a folder nor a file of C' tests/run --mutants 1 kernel/core/files.mk &&
		exits 2 "'kernel/soft/cut.c' is for --mutants" tests/run kernel/soft/cut.c &&
		exits 2 '--shard is for --mutants' tests/run --shard 1/2 unit &&
		tests/run --list --mutants 1 kernel/soft/cut.c | grep 'campaign.py --mutants 1 .* kernel/soft/cut.c$'
}

# A number that makes no sense is refused: 0 would draw nothing and pass.
numbers() {
	local n
	for n in 0 -1 x; do
		exits 2 "argument --mutants: invalid count value: '$n'" "$mutants/campaign.py" --mutants="$n" &&
			exits 2 "argument --jobs: invalid count value: '$n'" "$mutants/campaign.py" --jobs="$n" ||
			return 1
	done
}

# A stage that is named twice runs once.
named_twice() {
	diff <(tests/run --list unit) <(tests/run --list unit unit)
}

check 'tests/run takes stages and paths, and refuses other words' words
check 'tests/run runs a stage once that is named twice' named_twice
check 'numbers of mutants and jobs are checked' numbers
check 'mutants are made of executed code only' makes
check 'mutants that are marked or named are of these sources' fresh
check 'a failure that does not come again kills no mutant' twice
check 'make is called once to learn how a program is linked' links
check 'mutants of one build are judged by the programs that call their function' together
make_toy
cp "$toy/kernel/core/sum.c" "$tmp"
: >"$tmp/equivalent"
campaign
status=$?
check 'a mutant without an assignment dies' \
	judged 'died, unit/test_sum:12: not ok - sum' 'drop assignment' sum
check 'make is called once for the links of all programs' links_at_once
check 'a mutant that loops for ever is stopped, and dies' \
	judged 'died, unit/test_sum:12: time' 'drop assignment' sum
check 'a mutant with the same object as the original does not count' judged same arithmetic sum
check 'a mutant that no program reaches counts as alive' judged lived logic never
check 'lines that no program reaches are listed' unreached
check 'survivors are printed as diffs' grep -q '^# +.*return n || n != SEVEN;' "$tmp/said"
check 'the programs of this checkout are listed' lists
check 'too many survivors are a failure' ends 1 'not ok - kernel/core: '
check 'the sources are not modified' cmp "$toy/kernel/core/sum.c" "$tmp/sum.c"
check 'a campaign continues where the last one ended' resumes
check 'a mutant marked as equivalent is not judged; a mark that matches none is a failure' marks
: >"$tmp/equivalent"
check 'with assertions mutants die that live without' asserts
check 'programs that take long can be left out' quick
check 'programs that have the file can judge without knowing what they reach' linked
check 'mutants written by hand are judged' named
check 'a survivor is judged again when the tests have changed' notices_tests
check 'programs of the same name in unit and sim are told apart' twins
check 'headers are mutated, too' headers
done_testing
