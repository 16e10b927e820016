# SPDX-License-Identifier: GPL-2.0-only
"""Reports a campaign: tests in TAP, tables, and the survivors as diffs."""
import difflib
from pathlib import PurePath

from judge import DIED, LIVED, SAME, UNBUILT

MARKED = 'marked'
ROW = '%-28s %6s %8s %7s %6s %6s %10s %7s'


class Area:
	"""Files that share a target: the percentage of their mutants that must die."""

	def __init__(self, name, target, *patterns):
		self.name, self.target, self.patterns = name, target, patterns

	def has(self, path):
		return any(PurePath(path).match(p) for p in self.patterns)


class Count:
	"""Counts mutants by verdict."""

	def __init__(self):
		self.of = dict.fromkeys((UNBUILT, SAME, MARKED, DIED, LIVED), 0)
		self.unreached = 0

	def add(self, mutant, verdict):
		self.of[verdict] += 1
		self.unreached += verdict == LIVED and not mutant.passed

	def rate(self):
		judged = self.of[DIED] + self.of[LIVED]
		return 100 * self.of[DIED] / judged if judged else None

	def row(self, name):
		rate = self.rate()
		return ROW % (name, sum(self.of.values()), self.of[UNBUILT],
			      self.of[SAME] + self.of[MARKED], self.of[DIED], self.of[LIVED],
			      self.unreached, '-' if rate is None else '%.1f %%' % rate)


def table(judged, what):
	"""Lines of a table. judged: [(mutant, verdict)]; what(mutant): the name of its row."""
	rows, total = {}, Count()
	for mutant, verdict in judged:
		for c in (rows.setdefault(what(mutant), Count()), total):
			c.add(mutant, verdict)
	yield ROW % ('', 'made', 'unbuilt', 'equiv.', 'died', 'lived', 'unreached', 'rate')
	for name in sorted(rows):
		yield rows[name].row(name)
	yield total.row('all')


def assertions(judged, asserted):
	"""A line with the rates without and with assertions, which alone killed so many mutants."""
	c = Count()
	for mutant, verdict in judged:
		c.add(mutant, verdict)
	of = c.of[DIED] + c.of[LIVED]
	return 'without assertions %d of %d died%s, with assertions %d%s' % (
		c.of[DIED] - asserted, of, share(c.of[DIED] - asserted, of), c.of[DIED],
		share(c.of[DIED], of))


def share(part, of):
	return ' (%.1f %%)' % (100 * part / of) if of else ''


def tests(areas, judged):
	"""One test for each area that has judged mutants, as (passed, name)."""
	for a in areas:
		c = Count()
		for mutant, verdict in judged:
			if a.has(mutant.path):
				c.add(mutant, verdict)
		if c.rate() is not None:
			of = a.name, c.rate(), c.of[DIED] + c.of[LIVED], a.target
			yield c.rate() >= a.target, '%s: %.1f %% of %d mutants died, target %d %%' % of


def diff(mutant, text, passed):
	"""Lines that show a survivor: where it is, the programs that it passes, and its diff."""
	new = mutant.apply(text)
	lines = list(difflib.unified_diff(text.splitlines(), new.splitlines(), 'a/' + mutant.path,
					  'b/' + mutant.path, lineterm='', n=2))
	yield '%s:%d %s(): %s (%s)' % (mutant.path, mutant.first_line, mutant.function,
				       mutant.operator, mutant.name)
	yield 'passes ' + (' '.join(sorted(passed)) or 'no program reaches it')
	yield from lines
	yield ''


def unreached(texts, programs):
	"""The lines with code that no program reaches."""
	for path in sorted(texts):
		lines = set().union(*(p.seen.get(path, ()) for p in programs))
		for p in programs:
			lines -= p.lines.get(path, set())
		text = texts[path].split('\n')
		for n in sorted(lines):
			yield '%s:%d:%s' % (path, n, text[n - 1])
