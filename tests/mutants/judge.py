# SPDX-License-Identifier: GPL-2.0-only
"""Judges a mutant: builds it in a copy of the tree, and runs the programs that reach it."""
import os
import threading
import time

from programs import ALL, PART, Limits, part, play
from tree import read

UNBUILT, SAME, DIED, LIVED = 'unbuilt', 'same', 'died', 'lived'


class Step:
	"""A run that may kill a mutant: a program, and which part of its seeds."""

	def __init__(self, program, every):
		self.program, self.every = program, every
		self.name = program.short + ('/' + every if every else '')
		self.cpu, self.wall = program.cost[every]


def steps_of(programs, mutant, thorough):
	"""
	The runs that reach a mutant. With all seeds a program may reach more lines than with
	a part of them: then all count that reach the function. So do those if the compiler
	made nothing of the lines by themselves.
	"""
	lines = set(range(mutant.first_line, mutant.last_line + 1))
	executable = any(lines & p.seen.get(mutant.path, set()) for p in programs)
	steps = []
	for p in programs:
		inside = mutant.function in p.functions.get(mutant.path, ())
		on = lines & p.lines.get(mutant.path, set())
		if on or inside and not executable:
			steps.append(Step(p, PART))
		if inside and thorough and p.is_longer():
			steps.append(Step(p, ALL))
	return steps


class Order:
	"""Which run is the best to try next: what takes little, or kills much of this file."""

	def __init__(self):
		self.lock = threading.Lock()
		self.kills, self.tries = {}, {}

	def sort(self, path, steps):
		with self.lock:
			return sorted(steps, key=lambda s: (s.cpu + 0.3) / self.odds(path, s.name))

	def odds(self, path, name):
		return (self.kills.get((path, name), 0) + 0.3) / (self.tries.get((path, name), 0) + 1)

	def note(self, path, name, killed):
		with self.lock:
			key = path, name
			self.tries[key] = self.tries.get(key, 0) + 1
			self.kills[key] = self.kills.get(key, 0) + killed


class Judge:
	"""
	One at a time in a tree of its own. pristine: a tree that stays as it was, from which the
	commands are and what was made of a mutant is replaced.
	"""

	def __init__(self, tree, pristine, programs, order):
		self.tree, self.pristine, self.programs, self.order = tree, pristine, programs, order
		self.out = tree.at('out')

	def judge(self, mutant, passed, thorough):
		"""
		passed: {run: digest} that it is known to pass. Return: (verdict, runs it passes,
		what killed it as [run, digest, test]).
		"""
		self.target = self.target_of(mutant)
		self.linked = set()
		original = read(self.pristine.at(mutant.path))
		began = time.time_ns() - 20_000_000	# the clock of files is coarse
		try:
			with open(self.tree.at(mutant.path), 'w', encoding='utf-8') as f:
				f.write(mutant.apply(original.decode()))
			if not self.compile(mutant):
				return UNBUILT, {}, None
			if read(self.tree.at(self.target)) == read(self.pristine.at(self.target)):
				return SAME, {}, None
			return self.play(mutant, dict(passed), thorough)
		finally:
			with open(self.tree.at(mutant.path), 'wb') as f:
				f.write(original)
			self.undo(began)

	def target_of(self, mutant):
		return os.path.join('build', mutant.path[:-1] + 'o')

	def steps(self, mutant, thorough):
		return steps_of(self.programs, mutant, thorough)

	def compile(self, mutant):
		return self.tree.shell(self.pristine.commands(self.target, mutant.path))

	def undo(self, began):
		self.tree.restore(self.pristine, began)

	def run(self, step):
		"""Links the program, once, and runs it."""
		program = os.path.join('build', step.program.name)
		if program not in self.linked and \
		   not self.tree.shell(self.pristine.commands(program, self.target)):
			raise RuntimeError('%s cannot be linked' % program)
		self.linked.add(program)
		return play(self.tree, [step.program.path(self.tree)], self.out,
			    Limits(step.cpu, step.wall), **part(step.every))

	def play(self, mutant, passed, thorough):
		steps = [s for s in self.steps(mutant, thorough)
			 if passed.get(s.name) != s.program.digest]
		for s in self.order.sort(mutant.path, steps):
			played = self.run(s)
			self.order.note(mutant.path, s.name, bool(played.failed))
			if played.failed:
				return DIED, passed, [s.name, s.program.digest, played.failed]
			passed[s.name] = s.program.digest
		return LIVED, passed, None
