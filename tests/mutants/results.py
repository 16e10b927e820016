# SPDX-License-Identifier: GPL-2.0-only
"""Known verdicts: one line of JSON per mutant, appended as soon as it is judged.

A result is valid only while the mutated file has the same text. In addition,
- "died" is valid while the program that killed the mutant has the same test objects (in a guest:
  while the suite or script that killed it has the same text);
- a passed run is valid, and not repeated, while its program has the same test objects.
"""
import hashlib
import json
import os
import threading

from judge import DIED, LIVED, SAME, UNBUILT


class Results:
	"""The results of a file, as far as they hold for this checkout."""

	def __init__(self, path, top, programs):
		self.path, self.top = path, top
		self.programs = {p.short: p for p in programs}
		self.lock = threading.Lock()
		self.texts = {}
		self.known = {}
		if os.path.exists(path):
			with open(path, encoding='utf-8') as f:
				for line in f:
					self.take(line)

	def take(self, line):
		"""Takes one line. One that was cut short by a killed run is skipped."""
		try:
			r = json.loads(line)
		except ValueError:
			return
		self.known[r['mutant'], r['text']] = r

	def text_of(self, path):
		if path not in self.texts:
			with open(os.path.join(self.top, path), 'rb') as f:
				self.texts[path] = hashlib.sha256(f.read()).hexdigest()[:16]
		return self.texts[path]

	def is_now(self, run, digest):
		program = self.programs.get(run.split(':')[0])
		return program and program.digest == digest

	def still_kills(self, run, digest):
		program = self.programs.get(run.split(':')[0])
		return program and program.is_killer(run, digest)

	def find(self, mutant):
		"""
		Return: (valid verdict or None, runs that the mutant passes, what killed it). After
		LIVED the caller must check that no further runs reach the mutant.
		"""
		r = self.known.get((mutant.name, self.text_of(mutant.path)))
		if not r:
			return None, {}, None
		if r['verdict'] in (UNBUILT, SAME):
			return r['verdict'], {}, None
		passed = {k: v for k, v in r['passed'].items() if self.is_now(k, v)}
		if r['verdict'] == DIED and self.still_kills(*r['killer'][:2]):
			return DIED, passed, r['killer']
		return LIVED if r['verdict'] == LIVED else None, passed, None

	def add(self, mutant, verdict, passed, killer):
		r = {'mutant': mutant.name, 'text': self.text_of(mutant.path), 'verdict': verdict,
		     'passed': passed, 'killer': killer, 'path': mutant.path,
		     'function': mutant.function, 'operator': mutant.operator,
		     'old': mutant.old_text, 'new': mutant.new_text}
		with self.lock:
			self.known[r['mutant'], r['text']] = r
			with open(self.path, 'a', encoding='utf-8') as f:
				f.write(json.dumps(r) + '\n')
