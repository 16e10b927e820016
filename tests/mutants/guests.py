# SPDX-License-Identifier: GPL-2.0-only
"""Judges mutants of the driver by scripts of tests/vm, in guests of User-mode Linux."""
import hashlib
import json
import os
import re

from judge import Place, Step
from programs import FLOOR_WAITING, TIMES_WAITING, Program, play
from tree import files_of, read

# FIRST judges every mutant. THOROUGH takes minutes: on demand.
FIRST = 'tests/mutants/driver.sh'
THOROUGH = ('tests/vm/test_driver.sh', 'tests/vm/test_device.sh')
MODULE = 'build/vm/kmod-uml-kunit'
KUNIT = 'kernel/kunit/'


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
	"""
	A script that starts guests. digest: hash of all that runs in them except the module; parts:
	{part: hash} of what may report a failure: each KUnit suite, and all that is no suite.
	"""

	def __init__(self, name, tree):
		super().__init__(name, {})
		texts = texts_of(tree, name)
		suites = [f for f in texts if f.startswith(KUNIT) and '/lab.' not in f]
		self.parts = {suite_of(f): digest(texts, [f, KUNIT + 'lab.c', KUNIT + 'lab.h'])
			      for f in suites}
		self.parts['no suite'] = digest(texts, [f for f in texts if not f.startswith(KUNIT)])
		self.digest = self.sources = digest(texts, texts)

	def path(self, tree):
		return tree.at(self.name)

	def killer(self, name, failed):
		"""What killed a mutant: the result stands as long as that suite does not change."""
		suite = failed[len('not ok - '):].split(':')[0]
		part = suite if suite in self.parts else 'no suite'
		return ['%s:%s' % (name, part), self.parts[part], failed]

	def is_killer(self, run, known):
		return self.parts.get(run.partition(':')[2]) == known


def suite_of(path):
	return 'torus-' + os.path.basename(path)[:-2]


def digest(texts, files):
	"""Hash of the names and texts of some files."""
	d = hashlib.sha256()
	for f in sorted(files):
		d.update(f.encode() + texts[f])
	return d.hexdigest()[:16]


def texts_of(tree, script):
	"""
	{file: text} of a script and of what it may use: the KUnit suites, each file of tests/vm and
	tests/netns that the script's text names, those that their texts name, and so on.
	"""
	named, texts, waiting = {}, {}, [script]
	for f in files_of(tree.path):
		if f.startswith(('tests/vm/', 'tests/netns/', 'tests/check.sh', 'tests/static/abi.py')):
			named.setdefault(os.path.basename(f), []).append(f)
			named.setdefault(os.path.basename(f).removesuffix('.py'), []).append(f)
		elif f.startswith(KUNIT):
			waiting.append(f)
	while waiting:
		f = waiting.pop()
		if f in texts:
			continue
		texts[f] = read(tree.at(f))
		if not f.startswith(KUNIT) and not f.endswith(('.md', '.c', '.h')):
			for word in set(re.findall(r'[\w.]+', texts[f].decode(errors='replace'))):
				waiting += named.get(word, ())
	return texts


def play_script(tree, script, out, patience):
	return play(tree, ['bash', script.name], out, patience, TOP=tree.path, B=tree.at('build'))


class Guests:
	"""The scripts that judge mutants in guests, and the time that each takes."""

	def __init__(self, programs, say):
		self.programs, self.say = programs, say
		self.all = []
		self.known = os.path.join(programs.home, 'guests.json')

	def prepare(self, thorough):
		"""Builds the module and what runs in guests; measures the scripts, unless it has."""
		base = self.programs.base
		base.make('-j%d' % self.programs.jobs, 'all')
		self.all = [Script(n, base) for n in [FIRST, *(THOROUGH if thorough else ())]]
		known = json.loads(read(self.known) or b'{}')
		for s in list(self.all):
			self.measure(s, known)

	def steps(self, mutant):
		"""The runs that judge a mutant."""
		return [Step(s, '') for s in self.all]

	def measure(self, script, known):
		base = self.programs.base
		script.cost[''] = known.get(script.name + script.digest)
		if script.cost['']:
			return
		self.say('%s: measuring its duration' % script.name)
		out = os.path.join(self.programs.home, 'guest.out')
		for kunit in ('', '1'):
			base.shell('TOP=$PWD KUNIT=%s tests/vm/module uml' % kunit)
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
		return self.tree.shell('TOP=$PWD KUNIT=1 tests/vm/module uml')

	def run(self, step):
		return play_script(self.tree, step.program, self.out, Patience(step.wall))

	def undo(self):
		"""Restores the source; the next build compiles it again."""
		with open(self.tree.at(self.mutant.path), 'wb') as f:
			f.write(self.original)
