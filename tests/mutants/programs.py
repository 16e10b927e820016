# SPDX-License-Identifier: GPL-2.0-only
"""The test programs: the lines that each reaches, the time that it takes, how a run ended."""
import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from tree import ASSERTING, COUNTED, PLAIN, SAN, Tree, read

# A mutant dies if a program takes TIMES its usual processor time, and FLOOR seconds more.
TIMES = 3
FLOOR = 3
# Limits of elapsed time, for a program that hangs without using the processor. They are wide,
# because elapsed time varies much on a busy machine.
TIMES_WAITING, FLOOR_WAITING = 20, 60
MEMORY = 4 << 30	# bytes of address space
OUTPUT = 64 << 20	# bytes of a file that a program writes
# How a program is run: with a part of its seeds (EVERY), with all, with a part and assertions,
# with a part and sanitizers
PART, ALL, ASSERTED, SANITIZED = '12', '', 'assert', 'san'


class Limits:
	"""
	Limits of a program, from the seconds of cpu and wall that it takes unmutated. floor: seconds of
	processor time that it gets in any case (campaign.py --floor).
	"""

	floor = FLOOR

	def __init__(self, cpu=600, wall=120, how=PART):
		self.memory = 'unlimited' if how == SANITIZED else str(MEMORY)
		self.cpu = int(TIMES * cpu + self.floor)
		self.wall = TIMES_WAITING * wall + FLOOR_WAITING

	def words(self):
		"""The words to put before a command."""
		return ['prlimit', '--core=0', '--as=' + self.memory, '--fsize=%d' % OUTPUT,
			'--cpu=%d:%d' % (self.cpu, self.cpu + 1)]


class Played:
	"""How a run ended. failed: None if it passed, or why not; cpu, wall: in seconds."""

	def __init__(self, failed, cpu, wall):
		self.failed, self.cpu, self.wall = failed, cpu, wall


def play(tree, command, out, limits, **env):
	"""Runs a command, with its output in the file out. It is killed if this process ends."""
	env = dict(tree.env, CMOCKA_MESSAGE_OUTPUT='TAP', **env)
	words = ['setpriv', '--pdeathsig', 'KILL'] + limits.words() + command
	began = time.monotonic()
	with open(out, 'wb') as f:
		p = subprocess.Popen(words, cwd=tree.path, env=env, stdin=subprocess.DEVNULL,
				     stdout=f, stderr=f, start_new_session=True)
		rc, usage = wait(p, began + limits.wall, out)
	return Played(verdict(rc, read(out).decode(errors='replace')),
		      usage.ru_utime + usage.ru_stime, time.monotonic() - began)


def wait(p, until, out):
	"""
	Waits until the process p ends. Stops it when a test has failed, or at the time until.
	Kills whatever it has started. Return: (exit status, resource usage).
	"""
	pause, seen, stop = 0.002, 0, None
	while True:
		pid, status, usage = os.wait4(p.pid, os.WNOHANG)
		if pid:
			break
		if time.monotonic() > until:
			os.killpg(p.pid, signal.SIGKILL if stop else signal.SIGTERM)
			until, stop = time.monotonic() + 5, stop or 'late'
		if not stop and os.path.getsize(out) > seen:
			seen = os.path.getsize(out)
			if failure(read(out).decode(errors='replace')):
				until, stop = time.monotonic() + 5, 'failed'
				os.killpg(p.pid, signal.SIGTERM)
		time.sleep(pause)
		pause = min(pause * 1.2, 0.1)
	try:
		os.killpg(p.pid, signal.SIGKILL)
	except ProcessLookupError:
		pass
	p.returncode = os.waitstatus_to_exitcode(status)
	return -signal.SIGXCPU if stop == 'late' else p.returncode, usage


def failure(text):
	"""The line of the first test that failed, or None."""
	return next((n[:160] for n in text.splitlines() if n.startswith('not ok')), None)


def verdict(rc, text):
	"""None if the run passed; else the first test that failed, or how the run ended."""
	if failure(text):
		return failure(text)
	if rc in (-signal.SIGXCPU, -signal.SIGKILL):
		return 'time'
	if rc < 0:
		return 'signal %d' % -rc
	return 'exit status %d' % rc if rc else None


def part(how):
	"""The environment that makes a program run a part of its seeds, unless how is ALL."""
	return {} if how == ALL else {'EVERY': PART}


class Program:
	"""
	A test program. short: its folder and name, which no other program has; objects: {object:
	names of what is linked of it}, the program itself, archives, programs that it runs; digest:
	hash of its objects of tests/ and tools/; sources: hash of all its source text; lines: {file:
	set of lines} that it reaches with a part of its seeds; seen: {file: set of lines} for which
	the compiler made code; functions: {file: set of functions} that it reaches; cost: {how:
	(cpu, wall)}; slow: seconds of processor time that a run of PART exceeded, if it was stopped
	then.
	"""

	def __init__(self, name, objects):
		self.name = name
		self.short = name.removeprefix('tests/')
		self.objects = objects
		self.cost, self.slow = {}, 0
		self.lines, self.seen, self.functions = {}, {}, {}

	def path(self, tree):
		return tree.at('build', self.name)

	def killer(self, name, failed):
		"""What killed a mutant: the run, the digest for which this is valid, the test."""
		return [name, self.digest, failed]

	def is_killer(self, run, known):
		"""Whether what killer() returned earlier is still valid."""
		return self.digest == known

	def is_longer(self):
		"""Whether it takes longer with all seeds, and so has seeds to choose from."""
		return self.cost[ALL][0] > 1.5 * self.cost[PART][0] + 0.05

	def has(self, path):
		"""Whether the file is a part of it, as an object or (perhaps) as a header."""
		return path.endswith('.h') or path[:-1] + 'o' in self.objects

	def focus(self, path):
		"""
		What is expected of it before it has judged mutants of a file: more if it reaches
		little else or, if that is not known, has little else.
		"""
		if not self.lines:
			return 0.1 + 2 / (1 + len(self.objects))
		return 0.1 + len(self.lines.get(path, ())) / (1 + sum(map(len, self.lines.values())))

	def holders(self, o):
		"""The names of what is linked of an object."""
		return frozenset(self.objects.get(o, ()))

	def fingerprint(self, tree):
		tests, sources = hashlib.sha256(), hashlib.sha256()
		files = set()
		for o in sorted(self.objects):
			if o.startswith(('tests/', 'tools/')):
				tests.update(o.encode() + read(tree.at('build', o)))
			deps = read(tree.at('build', o + '.d'))
			if deps:
				files.update(deps.decode().replace('\\\n', ' ').replace(':', ' ').split())
		for f in sorted(files):
			if not f.startswith(('/', 'build/')):
				sources.update(f.encode() + (read(tree.at(f)) or b''))
		self.digest = tests.hexdigest()[:16]
		self.sources = sources.hexdigest()[:16]


class Programs:
	"""All test programs of a checkout. Everything is made below home."""

	def __init__(self, top, home, jobs, say):
		self.top, self.home, self.jobs, self.say = top, home, jobs, say
		self.base = Tree(os.path.join(home, 'base'), PLAIN)
		self.others = {	# what is built in another way
			ASSERTED: Tree(os.path.join(home, 'asserting'), ASSERTING),
			SANITIZED: Tree(os.path.join(home, 'sanitized'), SAN)}
		self.counted = Tree(os.path.join(home, 'counted'), COUNTED)
		self.known = os.path.join(home, 'programs')
		self.all = []
		self.broken = []	# these fail without any mutation: they judge nothing

	def prepare(self, objects=None):
		"""Lists and builds the programs: all, or those of which one of these objects is a part."""
		self.copy(self.base)
		self.all = [p for p in self.list() if objects is None or objects & p.objects.keys()]
		self.build(self.base)
		os.makedirs(self.known, exist_ok=True)
		for p in self.all:
			p.fingerprint(self.base)

	def learn(self, hows, quick=None, linked=False):
		"""
		Finds lines (unless linked) and times not known yet. hows: the kinds of runs to measure. Leaves
		out programs of which a run of PART takes more than quick seconds, unless it is None.
		"""
		if quick is not None:
			self.leave_out(quick)
		known = [self.recall(p) and p.seen for p in self.all]
		unknown = [] if linked else [p for p, k in zip(self.all, known) if not k]
		if unknown:
			self.build(self.counted)
		with ThreadPoolExecutor(self.jobs) as pool:
			for n, p in enumerate(pool.map(self.cover, unknown)):
				self.say('%s: found what it reaches (%d of %d)' % (p.short, n + 1,
										   len(unknown)))
		for how, tree in self.others.items():
			if how in hows:
				self.build(tree)
		for p in list(self.all):
			for how in hows:
				if how not in p.cost and p in self.all:
					self.measure(p, how)

	def leave_out(self, seconds):
		"""Leaves out the programs that take more processor time. Most are quick to measure."""
		def find_time(p):
			self.recall(p)
			if p.slow < seconds and PART not in p.cost:
				self.measure(p, PART, seconds)
			return p

		with ThreadPoolExecutor(self.jobs) as pool:
			for n, p in enumerate(pool.map(find_time, list(self.all))):
				self.say('%s: found its time (%d)' % (p.short, n + 1))
				if p in self.all and max(p.slow, p.cost.get(PART, (0,))[0]) >= seconds:
					self.all.remove(p)

	def copy(self, tree):
		os.makedirs(tree.path, exist_ok=True)
		tree.update(self.top)

	def build(self, tree):
		self.copy(tree)
		if not self.all:
			return
		self.say('building ' + tree.path)
		rc, text = tree.make_strict('-j%d' % self.jobs, *('build/' + p.name for p in self.all))
		if rc:
			raise SystemExit('mutants: the tests cannot be built:\n' + text[-3000:])

	def list(self):
		"""The programs of unit and sim, with all objects of them and their helpers."""
		# By make itself: as the argument of a command all names would be too long.
		rule = 'objects-of-tests:;@:$(foreach p,$(tests) $(programs),' \
			'$(info $(p) $($(p)-objs) $($(p)-deps)))$(info libtorus.a $(lib-objs))'
		rc, text = self.base.make('--eval=' + rule, 'objects-of-tests')
		if rc:
			raise SystemExit('mutants: the programs cannot be listed:\n' + text[-3000:])
		parts = {}
		for line in text.splitlines():
			name, *of = line.split()
			parts[name] = [o.removeprefix('build/') for o in of]

		def objects(name, of):
			for o in parts.get(name, ()):
				if o.endswith('.o'):
					of.setdefault(o, set()).add(name)
				else:
					objects(o, of)
			return of

		return [Program(n, objects(n, {})) for n in parts
			if n.startswith(('tests/unit/', 'tests/sim/'))]

	def path_of(self, program):
		return os.path.join(self.known, program.short.replace('/', '-') + '.json')

	def recall(self, program):
		"""Loads what keep() wrote. Return: False if the sources have changed since."""
		kept = json.loads(read(self.path_of(program)) or b'{}')
		if kept.get('sources') != program.sources or not kept.get('headers'):
			return False
		program.cost = {e: tuple(c) for e, c in kept['cost'].items()}
		program.slow = kept.get('slow', 0)
		for what in ('lines', 'seen', 'functions'):
			setattr(program, what, {f: set(n) for f, n in kept[what].items()})
		return True

	def keep(self, program):
		kept = {'sources': program.sources, 'headers': True, 'cost': program.cost, 'slow': program.slow}
		for what in ('lines', 'seen', 'functions'):
			kept[what] = {f: sorted(n) for f, n in getattr(program, what).items()}
		with open(self.path_of(program), 'w', encoding='utf-8') as f:
			json.dump(kept, f)

	def measure(self, program, how, most=None):
		"""
		Measures the time that it takes, but stops it after most seconds of processor time.
		A program that fails is not used.
		"""
		out = os.path.join(self.home, program.short.replace('/', '-') + '.out')
		tree = self.others.get(how, self.base)
		limits = Limits(how=how)
		limits.cpu = math.ceil(most or limits.cpu)
		played = play(tree, [program.path(tree)], out, limits, **part(how))
		if most and played.failed and played.cpu >= most:
			program.slow = most
			self.keep(program)
			return
		if played.failed:
			self.say('%s: %s, see %s' % (program.name, played.failed, out))
			self.all.remove(program)
			self.broken.append(program)
			return
		os.unlink(out)
		program.cost[how] = played.cpu, played.wall
		self.keep(program)

	def cover(self, program):
		"""Finds the lines and functions that it reaches, with a part of its seeds. Return: program."""
		prefix = os.path.join(self.home, 'reached-' + program.short.replace('/', '-'))
		shutil.rmtree(prefix, ignore_errors=True)
		os.makedirs(prefix)
		play(self.counted, [program.path(self.counted)], os.path.join(prefix, 'out'),
		     Limits(), GCOV_PREFIX=prefix, **part(PART))
		self.read_counts(program, list(self.counts_below(prefix)))
		shutil.rmtree(prefix)
		self.keep(program)
		return program

	@staticmethod
	def counts_below(prefix):
		"""The files of counts that a run left there, each with the compiler's notes beside it."""
		for folder, _, names in os.walk(prefix):
			for n in names:
				counts = os.path.join(folder, n)
				notes = counts[len(prefix):-len('da')] + 'no'
				if n.endswith('.gcda') and os.path.exists(notes):
					shutil.copy(notes, folder)
					yield counts

	def read_counts(self, program, counts):
		"""Reads all at once: gcov takes longer to start than to read a file."""
		if not counts:
			return
		p = subprocess.run(['gcov', '--json-format', '--stdout', *counts], check=False,
				   cwd=self.counted.path, stdout=subprocess.PIPE,
				   stderr=subprocess.DEVNULL)
		for line in p.stdout.decode(errors='replace').splitlines():
			for f in json.loads(line)['files']:
				if f['file'].startswith('/') or not f['file'].endswith(('.c', '.h')):
					continue
				note(program.seen, f, (n['line_number'] for n in f['lines']))
				note(program.lines, f, (n['line_number'] for n in f['lines']
							if n['count']))
				note(program.functions, f, (n['name'] for n in f['functions']
							    if n['execution_count']))


def note(of, gcov, what):
	of.setdefault(gcov['file'], set()).update(what)
