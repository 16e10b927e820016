# SPDX-License-Identifier: GPL-2.0-only
"""Copies of the checkout, and builds in them. Nothing is ever written to the checkout itself.
A copy may be removed at any time; it is then made again."""
import os
import re
import shutil
import subprocess
import tempfile

# The words of make that say how the objects are built. PLAIN: as in the checkout, so that ccache has them
PLAIN = []
ASSERTING = ['ASSERT=1']
COUNTED = ['OPT=-O1 --coverage']
SAN = ['SAN=1']


def read(path):
	"""The bytes of a file; None if it does not exist."""
	try:
		with open(path, 'rb') as f:
			return f.read()
	except FileNotFoundError:
		return None


def code_of(path):
	"""What an object or a program does: without debugging information, which has lines of the source."""
	with tempfile.NamedTemporaryFile() as stripped:
		subprocess.run(['objcopy', '--strip-debug', '--remove-section=.note.gnu.build-id', path,
				stripped.name], check=True)
		return read(stripped.name)


def files_of(top):
	"""All files of a tree except built ones, relative to the tree."""
	for folder, folders, names in os.walk(top):
		folders[:] = [f for f in folders if not f.startswith(('build', '.git', '__pyc'))]
		for n in names:
			path = os.path.join(folder, n)
			if os.path.isfile(path):
				yield os.path.relpath(path, top)


def run(command, cwd, env):
	"""Return: (exit status, output of the command)."""
	p = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
			   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
	return p.returncode, p.stdout.decode(errors='replace')


class Tree:
	"""
	A copy of the checkout at path, with objects and programs in its build/. options: words of
	make, such as PLAIN.
	"""

	def __init__(self, path, options):
		self.path = path
		self.options = options
		self.env = {k: v for k, v in os.environ.items()
			    if k not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'TOP', 'B', 'SEED',
					 'SEEDS', 'FIRST', 'EVERY', 'JOBS', 'ASSERT', 'SAN', 'OPT')}
		self.env.update(LC_ALL='C.UTF-8', CCACHE_BASEDIR=path, CCACHE_NOHASHDIR='1')
		self.known = {}

	def at(self, *names):
		return os.path.join(self.path, *names)

	def make(self, *words):
		"""Return: (exit status, output of make). A mutant may give reasons for warnings."""
		return self.make_strict('WARN=-w', *words)

	def make_strict(self, *words):
		"""As make(), but with the warnings of the checkout: ccache takes other ones for other objects."""
		return run(['make', '-s', 'B=build', *self.options, *words], self.path, self.env)

	def commands(self, target, changed, alike=None):
		"""
		The commands that rebuild a target after a file has changed. They are cached, for
		make takes half a second to print them. alike: what other changed files with the same
		commands have in common, instead of the file's name.
		"""
		key = target, alike or changed
		if key not in self.known:
			self.known[key] = self.make('V=1', '-n', '-W', changed, target)[1]
		return self.known[key]

	def links(self, changed, targets):
		"""
		The commands that link targets after any of these objects has changed, as {target: command}, by
		asking make once. Targets that take more than one line are left out.
		"""
		words = [w for o in changed for w in ('-W', o)]
		lines = self.make('V=1', '-n', *words, *targets)[1].replace('\\\n', ' ').splitlines()
		made = ((re.search(r' -o (\S+)', n), n) for n in lines)
		return {m.group(1): n for m, n in made if m and m.group(1) in targets}

	def shell(self, commands):
		"""Carries out some commands. Return: whether all succeeded."""
		return not run(['sh', '-ec', commands], self.path, self.env)[0]

	def update(self, top):
		"""Copies the checkout as it is now; a file that did not change keeps its time."""
		wanted = set(files_of(top))
		for name in list(files_of(self.path)):
			if name not in wanted:
				os.unlink(self.at(name))
		for name in wanted:
			source, copy = os.path.join(top, name), self.at(name)
			if read(source) != read(copy):
				os.makedirs(os.path.dirname(copy), exist_ok=True)
				shutil.copy(source, copy)

	def clone(self, path):
		"""Makes a copy at path, with all objects."""
		shutil.rmtree(path, ignore_errors=True)
		shutil.copytree(self.path, path, symlinks=True)
		return Tree(path, self.options)

	def restore(self, pristine, when):
		"""Restores the files built since the time when (ns) from the pristine tree."""
		for folder, _, names in list(os.walk(self.at('build'))):
			for n in names:
				path = os.path.join(folder, n)
				if os.stat(path).st_mtime_ns < when:
					continue
				before = pristine.at(os.path.relpath(path, self.path))
				if os.path.exists(before):
					shutil.copy2(before, path)
				else:
					os.unlink(path)
