# SPDX-License-Identifier: GPL-2.0-only
"""Judges mutants of the driver by scripts of tests/vm, in guests of User-mode Linux."""
import hashlib
import json
import os

from judge import Place, Step
from programs import FLOOR_WAITING, TIMES_WAITING, Program, play
from tree import files_of, read

# The quickest first. The other scripts of tests/vm take minutes.
SCRIPTS = ('kunit', 'policies', 'refusals', 'netlink', 'device')
MODULE = 'build/vm/kmod-uml'


class Patience:
	"""
	How long a guest may take. Its memory is not limited: KASAN maps terabytes. Neither is
	its processor time.
	"""

	def __init__(self, wall=60):
		self.wall = TIMES_WAITING * wall + FLOOR_WAITING

	def words(self):
		return ['prlimit', '--core=0']


class Script(Program):
	"""A script of tests/vm."""

	def __init__(self, name):
		super().__init__('tests/vm/test_%s.sh' % name, ())
		self.digest = self.sources = None

	def path(self, tree):
		return tree.at(self.name)


def play_script(tree, script, out, patience):
	return play(tree, ['bash', script.name], out, patience, TOP=tree.path, B=tree.at('build'))


class Guests:
	"""The scripts, and the time that each takes."""

	def __init__(self, programs, say):
		self.programs, self.say = programs, say
		self.all = [Script(n) for n in SCRIPTS]
		self.known = os.path.join(programs.home, 'guests.json')

	def prepare(self):
		"""Builds the programs that run in guests; measures scripts not measured before."""
		base = self.programs.base
		base.make('-j%d' % self.programs.jobs, 'all')
		digest = hashlib.sha256()
		for f in sorted(files_of(base.at('tests'))):
			if f.startswith(('vm/', 'netns/', 'check.sh')):
				digest.update(f.encode() + read(base.at('tests', f)))
		known = json.loads(read(self.known) or b'{}')
		for s in list(self.all):
			s.digest = digest.hexdigest()[:16]
			self.measure(s, known)

	def measure(self, script, known):
		base = self.programs.base
		script.cost[''] = known.get(script.name + script.digest)
		if script.cost['']:
			return
		self.say('%s: what it takes' % script.name)
		out = os.path.join(self.programs.home, 'guest.out')
		for _ in range(2):	# the first run also builds the module: the second counts
			played = play_script(base, script, out, Patience())
			if played.failed:
				self.say('%s: %s' % (script.name, played.failed))
				self.all.remove(script)
				self.programs.broken.append(script)
				return
		known[script.name + script.digest] = script.cost[''] = played.cpu, played.wall
		with open(self.known, 'w', encoding='utf-8') as f:
			json.dump(known, f)


class GuestPlace(Place):
	"""A place that builds mutants of the driver."""

	def target(self):
		return os.path.join(MODULE, self.mutant.path[:-1] + 'o')

	def compile(self):
		return self.tree.shell('TOP=$PWD tests/vm/module uml')

	def run(self, step):
		return play_script(self.tree, step.program, self.out, Patience(step.wall))

	def undo(self):
		"""Restores the source; the next build compiles it again."""
		with open(self.tree.at(self.mutant.path), 'wb') as f:
			f.write(self.original)


def guest_steps(scripts):
	return [Step(s, '') for s in scripts]
