# SPDX-License-Identifier: GPL-2.0-only
"""Reads the files "equivalent" and "named": mutants written by hand. Each is a paragraph of

	FILE FUNCTION
	- a line of the function
	+ what it becomes
	a remark: why it is equivalent, or what is wrong with it

White space and the position of the line in the function do not count. Several consecutive
lines may become several others. Lines that begin with # are comments.
"""
from mutate import Mutant, squeeze
from ctext import Source


class Mark:
	"""One paragraph. said: its remark."""

	def __init__(self, paragraph):
		lines = paragraph.split('\n')
		self.path, self.function = lines[0].split()
		self.old = [squeeze(n[1:]) for n in lines[1:] if n[:1] == '-']
		self.new = [squeeze(n[1:]) for n in lines[1:] if n[:1] == '+']
		self.said = squeeze(' '.join(n for n in lines[1:] if n[:1] not in '+-'))
		if not self.old or not self.said:
			raise ValueError(paragraph)

	@property
	def title(self):
		return '%s %s: "%s"' % (self.path, self.function, ' '.join(self.old))

	def is_of(self, mutant):
		return (mutant.path, mutant.function, mutant.old_text, mutant.new_text) == \
			(self.path, self.function, ' '.join(self.old), squeeze(' '.join(self.new)))

	def mutant(self, text):
		"""The mutant that it describes; None if the function has no such lines."""
		source = Source(text)
		f = next((f for f in source.functions if f.name == self.function), None)
		if not f:
			return None
		start, end = (source.tokens[i].start for i in (f.first, f.last))
		lines, at = [], source.whole_lines(start, start)[0]
		while at < end:
			stop = text.index('\n', at)
			lines.append((squeeze(text[at:stop]), at, stop))
			at = stop + 1
		n = len(self.old)
		for i in range(len(lines) - n + 1):
			if [line[0] for line in lines[i:i + n]] == self.old:
				span = lines[i][1], lines[i + n - 1][2]
				new = '\n'.join(self.new + [''] * (n - len(self.new)))
				return Mutant(self.path, source, self.function, 'named', span, new)
		return None


def marks_of(path):
	with open(path, encoding='utf-8') as f:
		text = '\n'.join(n for n in f.read().split('\n') if n[:1] != '#')
	return [Mark(p.strip('\n')) for p in text.split('\n\n') if p.strip()]
