#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws mutants, runs the tests on each, and reports how many survived. See README.md."""
import argparse
import fcntl
import glob
import hashlib
import os
import queue
import shutil
import sys
import threading

sys.dont_write_bytecode = True	# nothing is written to the checkout

import report
from guests import GuestPlace, Guests
from judge import DIED, LIVED, Judge, Order, Place, is_asserted, steps_of
from marks import marks_of
from mutate import mutants_of
from programs import ALL, ASSERTED, FLOOR, PART, SANITIZED, Limits, Programs
from report import MARKED, Area
from results import Results
from tree import read

HERE = os.path.dirname(os.path.abspath(__file__))

# The files that are mutated, and the percentage of their mutants that must die
AREAS = [
	Area('kernel/core', 95, 'kernel/core/*.[ch]'),
	Area('kernel/host', 95, 'kernel/host/*.[ch]'),
	Area('kernel/req', 95, 'kernel/req/*.[ch]'),
	Area('daemon/fm', 95, 'daemon/fm/*.[ch]', 'daemon/fm/*/*.[ch]'),
	Area('daemon/auth, seal', 95, 'daemon/auth*.c', 'daemon/seal.c'),
	Area('daemon/svc, control, codec', 95, 'daemon/svc.c', 'daemon/control.c', 'daemon/state.c',
	     'daemon/codec*.c'),
	Area('history', 95, 'daemon/history*.c', 'daemon/keeper.c'),
	Area('lib/route', 95, 'lib/route/*.[ch]'),
	Area('lib', 95, 'lib/*.[ch]', 'lib/deps/*.[ch]', 'lib/util/*.[ch]'),
]
# Mutants of the driver are judged in guests, which takes minutes for each. So they are drawn
# only if PATH names them, and no test demands a percentage.
DRIVER = Area('kernel', None, 'kernel/*.c', 'kernel/soft/*.c')


def say(text):
	print('# ' + text, flush=True)


class Campaign:
	"""Mutants of the files of a checkout."""

	def __init__(self, args):
		self.args = args
		Limits.floor = args.floor
		self.top = os.path.abspath(args.top)
		self.home = os.path.join(self.top, 'build-mutants')
		self.texts = {p: self.read(p) for p in self.paths()}
		self.marks = marks_of(args.equivalent)
		self.judged = []
		self.asserted = 0	# mutants that died only in runs with assertions
		self.hows = [PART] + [ASSERTED] * args.assertions + [ALL, SANITIZED] * args.thorough
		self.failed = False
		self.told = 0

	def read(self, path):
		with open(os.path.join(self.top, path), encoding='utf-8') as f:
			return f.read()

	def paths(self):
		"""The files to mutate: those below the command's paths, or all but the driver's."""
		found = sorted(p for a in AREAS + [DRIVER] for x in a.patterns
			       for p in glob.glob(x, root_dir=self.top))
		wanted = [os.path.relpath(os.path.abspath(w), self.top) for w in self.args.path]
		for w in wanted:
			if not any(is_below(p, w) for p in found):
				raise SystemExit('mutants: there is no file to mutate at or below %s' % w)
		if not wanted:
			return [p for p in found if not DRIVER.has(p)]
		return [p for p in found if any(is_below(p, w) for w in wanted)]

	def draw(self):
		"""
		The mutants to judge: those whose names have the lowest hashes. So each file gets
		its share, a larger draw contains the smaller one, and the draw stays the same
		where the sources do.
		"""
		if self.args.named:
			return self.named()
		made = [m for p in self.texts for m in mutants_of(p, self.texts[p])]
		self.check_marks(made)

		def lot(m):
			name = '%s %s' % (self.args.seed, m.name)
			return hashlib.sha256(name.encode()).digest()

		drawn = sorted(made, key=lot)[:self.args.mutants]
		part, of = self.args.shard
		return drawn[part - 1::of]

	def named(self):
		"""The mutants that are written by hand, instead of a draw."""
		found = []
		for mark in marks_of(self.args.named):
			mutant = mark.mutant(self.read(mark.path))
			if mutant:
				mutant.said = mark.said
				self.texts[mark.path] = self.read(mark.path)
				found.append(mutant)
			else:
				self.test(False, 'the source has the lines of %s' % mark.title)
		return found

	def check_marks(self, made):
		"""Reports each mark that matches no mutant as a failure: it is stale, or wrong."""
		for mark in self.marks:
			if mark.path in self.texts and not any(mark.is_of(m) for m in made):
				self.test(False, 'the mark of %s matches a mutant' % mark.title)

	def test(self, passed, name):
		print('%s - %s' % ('ok' if passed else 'not ok', name), flush=True)
		self.failed |= not passed
		self.told += 1

	def unreached(self):
		"""Prints the lines that no program reaches. No mutant of these lines would die."""
		programs = Programs(self.top, self.home, self.args.jobs, say)
		os.makedirs(self.home, exist_ok=True)
		with open(os.path.join(self.home, 'lock'), 'w', encoding='utf-8') as lock:
			fcntl.flock(lock, fcntl.LOCK_EX)
			programs.prepare()
			programs.learn([])
		for line in report.unreached(self.texts, programs.all):
			print(line)

	def run(self):
		if self.args.unreached:
			return self.unreached()
		mutants = self.draw()
		marked = [] if self.args.named else \
			[m for m in mutants if any(k.is_of(m) for k in self.marks)]
		self.judged = [(m, MARKED) for m in marked]
		self.waiting = queue.SimpleQueue()
		for m in mutants:
			if m not in marked:
				self.waiting.put(m)
		self.count = len(mutants)
		self.judge_all(mutants)
		self.tell()
		print('1..%d' % self.told, flush=True)
		return 1 if self.failed else 0

	def judge_all(self, mutants):
		os.makedirs(self.home, exist_ok=True)
		if self.args.survivors:
			folder = os.path.dirname(os.path.abspath(self.args.survivors))
			os.makedirs(folder, exist_ok=True)
			open(self.args.survivors, 'w', encoding='utf-8').close()
		with open(os.path.join(self.home, 'lock'), 'w', encoding='utf-8') as lock:
			fcntl.flock(lock, fcntl.LOCK_EX)
			self.prepare(mutants)
			plain = self.clones(self.programs.base, '')
			others = {how: self.clones(tree, '-' + how)
				  for how, tree in self.programs.others.items() if how in self.hows}
			for trees in plain, *others.values():
				self.ask_links(trees[0], mutants)
		self.lock = threading.Lock()
		self.order = Order()
		self.order.learn(self.results.known.values())
		workers = []
		for n, p in enumerate(plain[1:], 1):
			places = Place(p, plain[0]), GuestPlace(p, plain[0]), \
				{how: Place(trees[n], trees[0]) for how, trees in others.items()}
			workers.append(threading.Thread(target=self.work, args=places, daemon=True))
		for w in workers:
			w.start()
		for w in workers:
			w.join()
		for t in sum(others.values(), plain):
			shutil.rmtree(t.path)
		if len(self.judged) < len(mutants):
			raise SystemExit('mutants: not all were judged')

	def prepare(self, mutants):
		"""Prepares the programs that judge these mutants, and loads the known results."""
		self.programs = Programs(self.top, self.home, self.args.jobs, say)
		self.guests = Guests(self.programs, say)
		self.programs.prepare(objects_of(mutants))
		for path, text in self.texts.items():
			if read(self.programs.base.at(path)) != text.encode():
				raise SystemExit('mutants: %s has changed since the start' % path)
		if any(not DRIVER.has(m.path) for m in mutants):
			self.programs.learn(self.hows, self.args.quick, self.args.linked)
		if any(DRIVER.has(m.path) for m in mutants):
			self.guests.prepare(self.args.thorough)
		for p in self.programs.broken:
			self.test(False, '%s passes without any mutation' % p.name)
		self.results = Results(self.args.results, self.top,
				       self.programs.all + self.guests.all)

	def ask_links(self, tree, mutants):
		"""
		Asks make how programs are linked, of all at once: asked for one at a time, it takes half a
		second for each. Links after a change of a header or in an archive are asked for when
		they are needed.
		"""
		objects = objects_of(mutants) or ()
		links = tree.links(['build/' + o for o in objects], ['build/' + p.name for p in self.programs.all])
		for p in self.programs.all:
			name = 'build/' + p.name
			for holders in {p.holders(o) for o in objects}:
				if holders == {p.name} and name in links:
					tree.known[name, holders] = links[name]

	def steps(self, m):
		"""The runs that judge a mutant."""
		if DRIVER.has(m.path):
			return self.guests.steps(m)
		return steps_of(self.programs.all, m, self.hows, self.args.linked)

	def clones(self, tree, kind):
		"""
		One copy of a tree per worker, and one more, the first, which stays unmodified.
		Copies that a killed campaign left behind are removed.
		"""
		for path in glob.glob(os.path.join(self.home, 'work-*')):
			if not os.path.exists('/proc/' + path.split('-')[-1]):
				shutil.rmtree(path)
		return [tree.clone(os.path.join(self.home, 'work-%d%s-%d' % (n, kind, os.getpid())))
			for n in range(self.args.jobs + 1)]

	def work(self, place, guest, others):
		of_programs = Judge(place, others, self.order)
		of_guests = Judge(guest, {}, self.order)
		while True:
			try:
				m = self.waiting.get_nowait()
			except queue.Empty:
				return
			self.one(of_guests if DRIVER.has(m.path) else of_programs, m)

	def one(self, judge, m):
		verdict, passed, killer = self.results.find(m)
		if verdict == LIVED and any(s.name not in passed for s in self.steps(m)) or \
		   is_asserted(killer) and ASSERTED not in self.hows:
			verdict = None
		if not verdict:
			verdict, passed, killer = judge.judge(m, self.steps(m), passed)
			self.results.add(m, verdict, passed, killer)
		with self.lock:
			self.judged.append((m, verdict))
			self.asserted += verdict == DIED and is_asserted(killer)
			say('%d/%d %s %s(), %s: %s%s' % (
				len(self.judged), self.count, m.path, m.function, m.operator,
				verdict, ', %s: %s' % (killer[0], killer[2]) if killer else ''))
			if verdict == LIVED:
				m.passed = passed
				self.keep_survivor(m)
			if self.args.named:
				self.test(verdict == DIED, 'dies: ' + m.said)

	def keep_survivor(self, m):
		if self.args.survivors:
			lines = report.diff(m, self.texts[m.path], m.passed)
			with open(self.args.survivors, 'a', encoding='utf-8') as f:
				f.writelines(n + '\n' for n in lines)

	def tell(self):
		say('')
		for m, verdict in self.judged:
			if verdict == LIVED:
				for line in report.diff(m, self.texts[m.path], m.passed):
					say(line)
		for what in (lambda m: m.path, lambda m: m.operator):
			for line in report.table(self.judged, what):
				say(line)
			say('')
		if self.args.assertions:
			say(report.assertions(self.judged, self.asserted))
		if not self.args.named:
			for passed, name in report.tests(AREAS, self.judged):
				self.test(passed, name)


def objects_of(mutants):
	"""The objects that the mutants change; None if that may be any, because one changes a header."""
	paths = {m.path for m in mutants}
	return None if any(p.endswith('.h') for p in paths) else {p[:-1] + 'o' for p in paths}


def is_below(path, folder):
	return folder == '.' or path == folder or path.startswith(folder + '/')


def shard(text):
	part, of = (int(n) for n in text.split('/'))
	if not 1 <= part <= of:
		raise ValueError(text)
	return part, of


def count(text):
	n = int(text)
	if n < 1:
		raise ValueError(text)
	return n


def arguments():
	cache = os.environ.get('TORUS_TEST_CACHE') or os.path.join(
		os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'torus-tests')
	p = argparse.ArgumentParser(description=__doc__)
	p.add_argument('--mutants', type=count, default=100, metavar='N',
		       help='how many mutants to draw (default 100)')
	p.add_argument('--shard', type=shard, default=(1, 1), metavar='I/N',
		       help='judge only every N-th of the drawn mutants, from the I-th on')
	p.add_argument('--seed', default=os.environ.get('SEED', '1'),
		       help='another seed draws other mutants (default $SEED or 1)')
	p.add_argument('--jobs', type=count, default=os.cpu_count(), metavar='N',
		       help='how many mutants to judge at once (default one per processor)')
	p.add_argument('--assertions', action='store_true',
		       help='run mutants that survive with assertions, too; print both rates')
	p.add_argument('--quick', type=float, metavar='SECONDS',
		       help='only run programs that take at most SECONDS of processor time')
	p.add_argument('--linked', action='store_true',
		       help='run all programs that have the mutated file, without finding first which '
			    'lines each reaches')
	p.add_argument('--floor', type=count, default=FLOOR, metavar='SECONDS',
		       help='stop a program SECONDS of processor time after three times its usual '
			    'one (default %(default)s)')
	p.add_argument('--thorough', action='store_true',
		       help='run mutants that survive with all seeds and with sanitizers, too')
	p.add_argument('--named', nargs='?', const=os.path.join(HERE, 'named'), metavar='FILE',
		       help='draw no mutants; judge those that FILE describes (default: "named")')
	p.add_argument('--unreached', action='store_true',
		       help='judge no mutants; print the lines that no test program reaches')
	p.add_argument('--equivalent', default=os.path.join(HERE, 'equivalent'), metavar='FILE',
		       help='mutants that no test can notice (default: "equivalent")')
	p.add_argument('--results', default=os.path.join(cache, 'mutants.jsonl'), metavar='FILE',
		       help='known results, to read and extend (default %(default)s)')
	p.add_argument('--survivors', metavar='FILE',
		       help='also write each survivor to FILE as soon as it is found')
	p.add_argument('--top', default=os.path.join(HERE, '..', '..'), metavar='FOLDER',
		       help='the checkout (default: the one that holds this script)')
	p.add_argument('path', nargs='*',
		       help='mutate only these files and folders (default: all but the driver)')
	return p.parse_args()


if __name__ == '__main__':
	sys.exit(Campaign(arguments()).run())
