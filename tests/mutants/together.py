#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Judges many mutants with one build: all of some files, or a draw. See README.md.

Each mutated file is compiled once, with a copy of a function for each of its mutants. The function
itself is a jump to one of these copies, which the variable MUTANT of the environment selects when a
program starts. So each program is linked once, and a mutant costs only runs. The jump also records
that the function was called, so that only programs that call it judge its mutants.

Mutants of headers are not judged. A mutant that gives the same object lives, and is not told apart.
A mutant dies if a program fails once, so tests that fail by themselves must not be among them.
"""
import argparse
import hashlib
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

from ctext import TYPES, Source
from marks import marks_of
from mutate import mutants_of

HERE = os.path.dirname(os.path.abspath(__file__))

GLUE = r'''
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
struct together { unsigned int no; void **slot; void *copy; };
extern __attribute__((weak)) const struct together %(tables)s;
char together_hit[%(functions)d];

static void choose(const struct together *t, unsigned int no)
{
	for (; t && t->slot; t++)
		if (t->no == no)
			*t->slot = t->copy;
}

__attribute__((constructor(101))) static void together_begin(void)
{
	const char *no = getenv("MUTANT");

	if (no) {
%(calls)s
	}
}

__attribute__((destructor)) static void together_end(void)
{
	const char *path = getenv("MUTANT_HITS");
	FILE *f = path ? fopen(path, "ab") : NULL;

	if (f) {
		fwrite(together_hit, sizeof(together_hit), 1, f);
		fclose(f);
	}
}
'''


class Chosen:
	"""A function with mutants. no: its number among all."""

	def __init__(self, f, head, no):
		self.f, self.head, self.no = f, head, no
		self.mutants = []


class Mutated:
	"""A file, with all its mutants that are judged: (number, mutant)."""

	def __init__(self, path, text, mutants, count):
		self.path, self.text = path, text
		self.s = Source(text)
		self.tag = re.sub(r'\W', '_', path)
		self.functions = {}
		for f in self.s.functions:
			mine = [m for m in mutants if self.at(f, 0) <= m[1].start < self.at(f, 1)]
			if mine:
				c = Chosen(f, self.head(f), count + len(self.functions))
				c.mutants = mine
				self.functions[f.name] = c

	def at(self, f, end):
		t = self.s.tokens[f.last if end else f.first]
		return t.end if end else t.start

	def head(self, f):
		"""First token of the function."""
		t, i = self.s.tokens, f.first
		while i and not (t[i - 1].text == ';' or t[i - 1].text == '}'):
			i -= 1 if t[i - 1].text != ')' else i - self.s.match[i - 1]
		return i

	def made(self, left_out):
		"""The text of the file with copies of its functions, without mutants that do not compile."""
		t, out, last = self.s.tokens, [], 0
		table = []
		for c in self.functions.values():
			start, brace, end = t[c.head].start, self.at(c.f, 0), self.at(c.f, 1)
			out.append(self.text[last:start])
			out.append(self.copies(c, start, brace, end, left_out, table))
			last = end
		out.append(self.text[last:])
		text = self.without_static(''.join(out))
		text += '\nstruct together { unsigned int no; void **slot; void *copy; };\n'
		text += 'const struct together together_%s[] = {\n' % self.tag
		text += ''.join('\t{ %d, &%s__slot, (void *)%s__m%d },\n' % (n, f, f, n) for n, f in table)
		return text + '\t{ 0, 0, 0 }\n};\n'

	def copies(self, c, start, brace, end, left_out, table):
		name, head = c.f.name, self.text[start:brace]
		bare = re.sub(r'\b(static|inline|__attribute__\(\([^)]*\)+)\s*', '', head).strip()
		named = re.compile(r'\b%s(?=\s*\()' % name)
		lines = ['__attribute__((visibility("hidden"))) %s;\n' % bare,
			 '#line %d "%s"\n' % (self.s.line(start), self.path),
			 'static ', named.sub(name + '__m0', bare, count=1), ' ', self.text[brace:end], '\n']
		for n, m in c.mutants:
			if n in left_out:
				continue
			table.append((n, name))
			body = self.text[brace:m.start] + m.new + self.text[m.end:end]
			lines += ['#line 1 "mutant%d"\n' % n, 'static ',
				  named.sub('%s__m%d' % (name, n), bare, count=1), ' ', body, '\n']
		# Static functions of two files may have one name
		local = re.search(r'\bstatic\b', head)
		lines.append('%s void *%s__slot = (void *)%s__m0;\n'
			     % ('static __attribute__((used))' if local else '__attribute__((visibility("hidden")))', name, name))
		lines.append('asm(".text\\n%s.type %s, @function\\n%s:\\n"\n'
			     '"movb $1, together_hit+%d(%%rip)\\njmp *%s__slot(%%rip)\\n");\n'
			     % ('' if local else '.globl %s\\n' % name, name, name, c.no, name))
		return ''.join(lines)

	def without_static(self, text):
		"""Makes earlier declarations of these functions global."""
		for name in self.functions:
			text = re.sub(r'^static ((?:[\w\s*]|__attribute__\(\([^;{]*?\)\))*\b%s\([^;{]*\);)' % name, r'\1', text, flags=re.M)
		return text


class Program:
	"""A test program. words: how it is linked; hits: numbers of the functions that it calls."""

	def __init__(self, name, words):
		self.name, self.words = name, words
		self.cost, self.hits = 0, set()


class Together:
	"""Mutants of some files, and the programs that judge them."""

	def __init__(self, args):
		self.args = args
		self.work = os.path.join('build', 'together', args.name)
		os.makedirs(self.work, exist_ok=True)
		self.marks = marks_of(os.path.join(HERE, 'equivalent'))
		self.files, self.mutants = [], {}

	def choose(self):
		"""Makes the mutants: all of the files, or a draw as in campaign.py."""
		paths = self.args.path
		made = []
		for p in paths:
			with open(p, encoding='utf-8') as f:
				made += mutants_of(p, f.read())
		# A function that returns a pointer to an array seems to have the name of a type
		made = [m for m in made if m.function not in TYPES]
		if self.args.mutants:
			made.sort(key=lambda m: hashlib.sha256(('%s %s' % (self.args.seed, m.name)).encode()).digest())
			made = made[:self.args.mutants]
		if self.args.function:
			made = [m for m in made if m.function in self.args.function]
		marked = [m for m in made if any(k.is_of(m) for k in self.marks)]
		self.mutants = {n: m for n, m in enumerate((m for m in made if m not in marked), 1)}
		print('# %d mutants, %d of them marked as equivalent' % (len(made), len(marked)), flush=True)
		for p in paths:
			mine = [(n, m) for n, m in self.mutants.items() if m.path == p]
			if mine:
				with open(p, encoding='utf-8') as f:
					self.files.append(Mutated(p, f.read(), mine, sum(len(x.functions) for x in self.files)))

	def build(self):
		"""Compiles the files; leaves out mutants that do not compile."""
		with ThreadPoolExecutor(2) as pool:
			lost = set().union(*pool.map(self.compile, self.files))
		for n in lost:
			del self.mutants[n]
		print('# %d do not compile' % len(lost), flush=True)
		tables = ', '.join('together_%s[]' % f.tag for f in self.files)
		# A program that lacks an object has no table of it
		glue = GLUE % {'tables': tables,
			       'functions': sum(len(f.functions) for f in self.files),
			       'calls': '\n'.join('\t\tchoose(together_%s, (unsigned int)atoi(no));' % f.tag
						 for f in self.files)}
		with open(self.at('glue.c'), 'w', encoding='utf-8') as f:
			f.write(glue)
		subprocess.run(['gcc', '-O1', '-w', '-fPIC', '-c', '-o', self.at('glue.o'), self.at('glue.c')], check=True)

	def at(self, name):
		return os.path.join(self.work, name)

	def compile(self, f):
		left_out = set()
		while True:
			source = self.at(f.tag + '.c')
			with open(source, 'w', encoding='utf-8') as out:
				out.write(f.made(left_out))
			p = subprocess.run(['gcc', '-D_GNU_SOURCE', '-DTORUS_VERSION="0"', '-Iinclude', '-Ilib/deps',
					    '-Ibuild/gen', '-I.', '-iquote', os.path.dirname(f.path), '-std=gnu11', '-O1', '-w', '-fPIC',
					    '-fvisibility=hidden', '-fno-toplevel-reorder', '-c', '-o', self.at(f.tag + '.o'), source],
					   capture_output=True, text=True)
			if not p.returncode:
				return left_out
			bad = {int(n) for n in re.findall(r'^mutant(\d+):\d+:\d+: error', p.stderr, re.M)}
			if not bad - left_out:
				raise SystemExit(p.stderr[:3000])
			left_out |= bad

	def links(self):
		"""The programs that have one of the files, from what make would do."""
		objects = {'build/' + f.path[:-1] + 'o': f for f in self.files}
		names = ['build/tests/' + n for n in self.args.programs] if self.args.programs else \
			['build/' + n for n in subprocess.run(['make', 'B=build', '-s', 'list-tests'], capture_output=True, text=True,
						  check=True).stdout.split()
			 if '/fuzz' not in n and '/bench' not in n and re.search(self.args.only, n)]
		told = subprocess.run(['make', 'B=build', '-n', '-s'] + ['--what-if=' + f.path for f in self.files] + names,
				      capture_output=True, text=True).stdout
		programs, archived = [], set()
		for line in told.split('\n'):
			if ' build/libtorus.a ' in line and not line.startswith('gcc'):
				archived = objects.keys() & set(line.split())
			if not line.startswith('gcc') or ' -c ' in line or ' -o build/tests/' not in line:
				continue
			words = shlex.split(line)
			name = words[words.index('-o') + 1]
			if name not in names:
				continue
			if 'build/libtorus.a' in words:
				at = words.index('build/libtorus.a')
				words[at:at] = archived - set(words)	# the linker takes the first definition
			if not objects.keys() & set(words):
				continue
			words = [self.at(objects[w].tag + '.o') if w in objects else w for w in words]
			path = self.at(name.replace('/', '-'))
			words[words.index('-o') + 1] = path
			programs.append(Program(name[len('build/tests/'):], words + [self.at('glue.o')]))
			programs[-1].path = path
		done = subprocess.run(['make', 'B=build', '-s', '-j%d' % self.args.jobs] +
				      ['build/tests/' + p.name for p in programs], capture_output=True, text=True)
		if done.returncode:
			raise SystemExit(done.stderr[-2000:])
		print('# %d programs' % len(programs), flush=True)
		return programs

	def link(self, p):
		"""Links a program, and runs it without a mutant. Return: whether it passes."""
		done = subprocess.run(p.words, capture_output=True, text=True)
		if done.returncode:
			print('# cannot link', p.name, done.stderr[:600])
			return False
		hits = self.at('hits-' + p.name.replace('/', '-'))
		if os.path.exists(hits):
			os.unlink(hits)
		failed, p.cost = self.play(p, 0, 60, MUTANT_HITS=os.path.abspath(hits))
		if failed:
			print('# %s fails without mutation: %s' % (p.name, failed))
			return False
		data = open(hits, 'rb').read() if os.path.exists(hits) else b''
		n = sum(len(f.functions) for f in self.files)
		p.hits = {i % n for i, b in enumerate(data) if b}
		return True

	def play(self, p, no, limit, **more):
		"""Return: why it failed, or None; and the processor time."""
		env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT='TAP', EVERY='12', MUTANT=str(no), **more)
		cmd = ['prlimit', '--core=0', '--as=%d' % (4 << 30), '--cpu=%d:%d' % (int(limit), int(limit) + 1), p.path]
		q = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
				     env=env, errors='replace', start_new_session=True)
		failed = None
		for line in q.stdout:
			if line.startswith('not ok'):
				failed = line.strip()[:100]
				try:
					os.killpg(q.pid, 9)
				except ProcessLookupError:
					pass
				break
		q.stdout.close()
		_, status, usage = os.wait4(q.pid, 0)
		q.returncode = rc = os.waitstatus_to_exitcode(status)
		if not failed and rc:
			failed = 'exit %d' % rc
		return failed, usage.ru_utime + usage.ru_stime

	def judge(self, n):
		"""Return: the program that killed the mutant, or None; how; and which it passed."""
		m = self.mutants[n]
		f = next(f for f in self.files if f.path == m.path)
		no = f.functions[m.function].no
		passed = []
		for p in sorted(self.programs, key=lambda p: (-self.kills.get((p.name, m.function), 0) / (p.cost + .02),
							      p.cost * (1 + len(p.hits)))):
			if no not in p.hits or self.args.quick and p.cost > self.args.quick:
				continue
			failed, _ = self.play(p, n, 3 * p.cost + self.args.floor)
			if failed:
				k = p.name, m.function
				self.kills[k] = self.kills.get(k, 0) + 1
				return p.name, failed, passed
			passed.append(p.name)
		return None, None, passed

	def run(self):
		self.choose()
		self.programs = self.links()
		self.build()
		self.kills = {}
		with ThreadPoolExecutor(self.args.jobs) as pool:
			good = list(pool.map(self.link, self.programs))
		self.programs = [p for p, ok in zip(self.programs, good) if ok]
		print('# linked; %.0f s of processor time for all' % sum(p.cost for p in self.programs), flush=True)
		lived = died = 0
		out = open(self.args.survivors, 'w', encoding='utf-8') if self.args.survivors else sys.stdout
		with ThreadPoolExecutor(self.args.jobs) as pool:
			for n, (by, how, passed) in zip(self.mutants, pool.map(self.judge, self.mutants)):
				m = self.mutants[n]
				if by:
					died += 1
					if self.args.verbose:
						print('# %s %s %s: %s: %s' % (m.path, m.function, m.operator, by, how), flush=True)
					continue
				lived += 1
				print('### %s %s() %s:%d  %s   [%d programs]\n- %s\n+ %s' % (
					n, m.function, os.path.basename(m.path), m.first_line, m.operator, len(passed), m.old_text, m.new_text),
					file=out, flush=True)
		print('# %d died, %d lived: %.1f %%' % (died, lived, 100 * died / max(1, died + lived)), flush=True)
		for k in sorted({k[0] for k in self.kills}):
			print('#   %s killed %d' % (k, sum(v for a, v in self.kills.items() if a[0] == k)))


def arguments():
	p = argparse.ArgumentParser(description=__doc__)
	p.add_argument('--mutants', type=int, default=0,
		       help='draw so many mutants of the files; 0: all')
	p.add_argument('--seed', default='1',
		       help='another seed draws other mutants')
	p.add_argument('--name', default='a',
		       help='folder of this run below build/together')
	p.add_argument('--jobs', type=int, default=2,
		       help='how many at once')
	p.add_argument('--floor', type=float, default=1,
		       help='seconds that a program gets beyond three times its usual ones')
	p.add_argument('--quick', type=float,
		       help='leave out programs that take longer')
	p.add_argument('--only', default='^tests/unit/', help='regular expression of programs')
	p.add_argument('--programs', nargs='*', help='names below tests/')
	p.add_argument('--function', nargs='*',
		       help='only mutants of these functions')
	p.add_argument('--survivors',
		       help='file for the mutants that live (default: standard output)')
	p.add_argument('--verbose', action='store_true',
		       help='also print what killed each mutant')
	p.add_argument('path', nargs='+')
	return p.parse_args()


if __name__ == '__main__':
	Together(arguments()).run()
