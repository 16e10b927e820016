# SPDX-License-Identifier: GPL-2.0-only
"""Judges a mutant: builds it in a copy of the tree, and runs the programs that reach it."""
import os
import threading
import time

from programs import ALL, ASSERTED, PART, SANITIZED, Limits, Played, part, play
from tree import code_of, read

UNBUILT, SAME, DIED, LIVED = 'unbuilt', 'same', 'died', 'lived'


class Unbuilt(Exception):
	"""A mutant does not compile."""


class Step:
	"""A run that may kill a mutant: a program, and how it is run (PART, ALL, ASSERTED, SANITIZED)."""

	def __init__(self, program, how):
		self.program, self.how = program, how
		self.name = program.short + (':' + how if how else '')
		self.cpu, self.wall = program.cost[how]


def is_asserted(killer):
	"""Whether a run with assertions killed a mutant, after those without had not."""
	return killer is not None and killer[0].endswith(':' + ASSERTED)


def steps_of(programs, mutant, hows, linked=False):
	"""
	The runs that may reach a mutant, in any of the ways hows: those of programs that reach its lines, or, if the
	compiler attributes no code to these lines, of programs that reach its function. With all
	seeds a program may reach more lines than with a part of them: for runs with all seeds
	reaching the function is enough. linked: it is not known what they reach; all that have the file are run.
	"""
	if linked:
		return [Step(p, how) for p in programs if p.has(mutant.path) for how in hows]
	lines = set(range(mutant.first_line, mutant.last_line + 1))
	executable = any(lines & p.seen.get(mutant.path, set()) for p in programs)
	steps = []
	for p in programs:
		inside = mutant.function in p.functions.get(mutant.path, ())
		if lines & p.lines.get(mutant.path, set()) or inside and not executable:
			steps += [Step(p, how) for how in hows if how != ALL]
		if inside and ALL in hows and p.is_longer():
			steps.append(Step(p, ALL))
	return steps


class Order:
	"""
	Sorts runs: first those that are quick, that killed many mutants of this file, or whose program
	reaches little else. Those with assertions come after all others, so that what they kill is
	known to live without.
	"""

	def __init__(self):
		self.lock = threading.Lock()
		self.kills, self.tries = {}, {}

	def sort(self, path, steps):
		with self.lock:
			return sorted(steps, key=lambda s: (
				s.how == ASSERTED, (s.cpu + 0.3) / self.odds(path, s)))

	def odds(self, path, step):
		key = path, step.name
		return (self.kills.get(key, 0) + step.program.focus(path)) / (self.tries.get(key, 0) + 1)

	def learn(self, results):
		"""Takes over the verdicts on other mutants."""
		for r in results:
			for name in r['passed']:
				self.note(r['path'], name, False)
			if r['killer']:
				self.note(r['path'], r['killer'][0], True)

	def note(self, path, name, killed):
		with self.lock:
			key = path, name
			self.tries[key] = self.tries.get(key, 0) + 1
			self.kills[key] = self.kills.get(key, 0) + killed


class Place:
	"""
	Where a worker builds mutants: a tree of its own. The pristine tree is never mutated: make
	prints the build commands in it, and the worker's tree is restored from it.

	A mutant of a .c file is compiled to one object. One of a header may change any object, so nothing
	is compiled until a program is linked; a program that is the same as without the mutation is not run.
	differs: False while all programs were the same.
	"""

	def __init__(self, tree, pristine):
		self.tree, self.pristine = tree, pristine
		self.out = tree.at('out')
		self.mutant = None

	def target(self):
		return os.path.join('build', self.mutant.path[:-1] + 'o')

	def build(self, mutant):
		"""Builds a mutant. Return: UNBUILT, SAME, or None if it must be run."""
		self.mutant, self.linked, self.differs = mutant, set(), not mutant.path.endswith('.h')
		self.original = read(self.pristine.at(mutant.path))
		self.began = time.time_ns() - 20_000_000	# file times are coarse
		with open(self.tree.at(mutant.path), 'w', encoding='utf-8') as f:
			f.write(mutant.apply(self.original.decode()))
		if self.is_header():
			return None
		if not self.compile():
			return UNBUILT
		if code_of(self.tree.at(self.target())) == code_of(self.pristine.at(self.target())):
			return SAME
		return None

	def is_header(self):
		return self.mutant.path.endswith('.h')

	def compile(self):
		return self.tree.shell(self.pristine.commands(self.target(), self.mutant.path))

	def run(self, step):
		"""Links the program, if it is not linked yet, and runs it."""
		program = os.path.join('build', step.program.name)
		if program not in self.linked and not self.tree.shell(self.link(step.program, program)):
			if self.is_header():
				raise Unbuilt
			raise RuntimeError('%s cannot be linked' % program)
		self.linked.add(program)
		if self.is_header() and self.is_same(step.program):
			return Played(None, 0, 0)
		self.differs = True
		return play(self.tree, [step.program.path(self.tree)], self.out,
			    Limits(step.cpu, step.wall, step.how), **part(step.how))

	def link(self, program, path):
		"""
		The commands that link a program. They are the same for all objects of which the same
		is linked, so make is asked for them once, and not for each file. Those of a header
		also compile what includes it.
		"""
		if self.is_header():
			return self.pristine.commands(path, self.mutant.path)
		mutated = self.mutant.path[:-1] + 'o'
		return self.pristine.commands(path, self.target(), program.holders(mutated))

	def is_same(self, program):
		"""Whether a program, with all that it runs, is the same as without the mutation."""
		made = {program.name}.union(*program.objects.values())
		return all(code_of(self.tree.at('build', n)) == code_of(self.pristine.at('build', n)) for n in made)

	def undo(self):
		"""Restores the source and everything built since build()."""
		if not self.mutant:
			return
		with open(self.tree.at(self.mutant.path), 'wb') as f:
			f.write(self.original)
		self.tree.restore(self.pristine, self.began)
		self.mutant = None


class Judge:
	"""
	Judges one mutant at a time. others: {how: place} of the runs that need objects which are
	built in another way (ASSERTED, SANITIZED).
	"""

	def __init__(self, place, others, order):
		self.place, self.others, self.order = place, others, order

	def judge(self, mutant, steps, passed):
		"""
		passed: runs that the mutant is known to pass, as {run: digest}. Return: (verdict,
		runs that it passes, what killed it as [run, digest, test] or None).
		"""
		try:
			verdict = self.place.build(mutant)
			if verdict:
				return verdict, {}, None
			return self.play(mutant, steps, dict(passed))
		except Unbuilt:
			return UNBUILT, {}, None
		finally:
			self.place.undo()
			for place in self.others.values():
				place.undo()

	def play(self, mutant, steps, passed):
		steps = [s for s in steps if passed.get(s.name) != s.program.digest]
		for s in self.order.sort(mutant.path, steps):
			failed = self.fails(s, mutant)
			self.order.note(mutant.path, s.name, bool(failed))
			if failed:
				return DIED, passed, s.program.killer(s.name, failed)
			passed[s.name] = s.program.digest
		if steps and not self.place.differs:
			return SAME, {}, None
		return LIVED, passed, None

	def fails(self, step, mutant):
		"""
		Runs a step twice, and returns what failed the second time; None if one run passed:
		a program may fail now and then because the machine is busy.
		"""
		place = self.place_of(step, mutant)
		return place.run(step).failed and place.run(step).failed

	def place_of(self, step, mutant):
		place = self.others.get(step.how, self.place)
		if not place.mutant:
			place.build(mutant)
		return place
