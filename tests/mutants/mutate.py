# SPDX-License-Identifier: GPL-2.0-only
"""Makes the mutants of a C file.

A mutant is the file with one span of its text replaced. It is identified by file, function,
operator, the text of the lines before and after, and a number among equal ones in the
function, never by position. So results and marks stay valid when code moves.
"""
import hashlib
import re

from ctext import ASSIGNS, OPENS, TYPES, Source

# Calls that write the log are not mutated: no program depends on the log.
LOGS = re.compile(r'(fm_log|fm_log_of|say|log_(printf|line|error|warning|info|debug)|note_refusal)$')
# Calls whose arguments are not mutated, because they are mostly text. The call may be dropped.
TOLD = re.compile(r'(fm_problem\w*|snprintf|send_error|blame)$')
# Assertions are not mutated: no test can notice that one is missing or says something else.
ASSERTS = re.compile(r'(assert|tn_assert|invariant|_Static_assert|static_assert|lockdep_assert_\w+|'
		     r'BUILD_BUG_ON|WARN_ON\w*)$')
# Calls that free memory are not dropped: LeakSanitizer finds a missing one.
FREES = re.compile(r'(\w*_)?(free|decref)$')

# Precedence of binary operators: a higher number binds more tightly
BINDS = {}
for _level, _ops in enumerate((',', ' '.join(ASSIGNS), '? :', '||', '&&', '|', '^', '&', '== !=', '< <= > >=', '<< >>', '+ -', '* / %')):
	for _op in _ops.split():
		BINDS[_op] = _level

COMPARE = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
LOGIC = {'&&': '||', '||': '&&'}
ARITH = {'+': '-', '-': '+', '*': '+', '/': '*', '%': '/', '<<': '>>', '>>': '<<', '&': '|',
	 '|': '&', '^': '|', '+=': '-=', '-=': '+=', '|=': '&=', '&=': '|=', '++': '--', '--': '++',
	 '<<=': '>>=', '>>=': '<<='}


class Mutant:
	"""One mutant: the text from start to end is replaced by new."""

	def __init__(self, path, source, function, operator, span, new):
		self.path = path
		self.function = function
		self.operator = operator
		self.start, self.end = span
		self.new = new
		begin, stop = source.whole_lines(self.start, max(self.start, self.end - 1))
		self.first_line = source.line(begin)
		self.last_line = source.line(stop)
		text = source.text
		self.old_text = squeeze(text[begin:stop])
		self.new_text = squeeze(text[begin:self.start] + new + text[self.end:stop])
		self.nth = 1

	def apply(self, text):
		return text[:self.start] + self.new + text[self.end:]

	@property
	def key(self):
		"""Its identity: see the head of this file."""
		return (self.path, self.function, self.operator, self.old_text, self.new_text,
			self.nth)

	@property
	def name(self):
		"""A short hash of its identity."""
		return hashlib.sha256('\0'.join(map(str, self.key)).encode()).hexdigest()[:12]


def squeeze(text):
	return ' '.join(text.split())


class Maker:
	"""Makes the mutants of one file."""

	def __init__(self, path, text):
		self.path = path
		self.s = Source(text)
		self.t = self.s.tokens
		self.made = []
		self.spared = set()

	def mutants(self):
		asserted = self.find_asserted()
		for f in self.s.functions:
			if f.name in asserted:
				continue
			self.f = f
			self.find_spared()
			for st in f.statements:
				self.of_statement(st)
				if st.kind != 'jump':
					self.of_expression(st)
		self.number()
		return self.made

	def find_asserted(self):
		"""Return: the names of static functions that the file uses in assertions only."""
		inside, outside, end = set(), set(), 0
		for i, t in enumerate(self.t):
			if ASSERTS.match(t.text) and self.s.is_at(i + 1, '('):
				end = self.s.match[i + 1]
			is_head = self.s.is_at(i + 1, '(') and self.s.is_at(self.s.match[i + 1] + 1, '{')
			if i < end:
				inside.add(t.text)
			elif not is_head:
				outside.add(t.text)
		return {name for name in inside - outside
			if re.search(r'^static\b[^;{}]*\b%s\([^;{}]*{' % re.escape(name), self.s.text, re.M)}

	def number(self):
		"""Numbers equal mutants; leaves out those that another operator made as well."""
		alike, seen, kept = {}, set(), []
		for m in self.made:
			if (m.start, m.end, m.new) in seen or m.old_text == m.new_text:
				continue
			seen.add((m.start, m.end, m.new))
			alike[m.key] = m.nth = alike.get(m.key, 0) + 1
			kept.append(m)
		self.made = kept

	def add(self, operator, first, last, new):
		"""Adds a mutant in which new replaces the tokens first to last - 1."""
		self.add_span(operator, (self.t[first].start, self.t[last - 1].end), new)

	def add_span(self, operator, span, new):
		self.made.append(Mutant(self.path, self.s, self.f.name, operator, span, new))

	def text(self, first, last):
		return self.s.text[self.t[first].start:self.t[last - 1].end]

	def find_spared(self):
		"""
		Finds the tokens that are left alone: logs, conditions that only guard a log,
		assertions, sizes.
		"""
		self.spared = set()
		for i in range(self.f.first, self.f.last):
			if not self.s.is_at(i + 1, '(') or self.t[i].kind != 'name':
				continue
			name = self.t[i].text
			if any(r.match(name) for r in (LOGS, TOLD, ASSERTS)) or name == 'sizeof':
				self.spared.update(range(i, self.s.match[i + 1] + 1))
		for st in self.f.statements:
			if st.kind == 'declaration':
				self.spare_sizes(st)
			elif st.body and LOGS.match(self.t[st.body].text):
				self.spared.update(range(st.first, st.last))

	def spare_sizes(self, st):
		"""Spares [N] and * in a declaration, up to the '=' of an initial value."""
		i = st.first
		if self.t[i].text.startswith('_Static_assert') or self.t[i].text == 'static':
			self.spared.update(range(st.first, st.last))
		while i < st.last and self.t[i].text != '=':
			if self.t[i].text == '[':
				self.spared.update(range(i, self.s.match[i]))
			elif self.t[i].text == '*':
				self.spared.add(i)
			i += 1

	# --- of whole statements

	def of_statement(self, st):
		if st.first in self.spared and not TOLD.match(self.t[st.first].text):
			return
		if st.kind == 'condition':
			self.negate(st.first, st.last)
		elif st.kind in ('assignment', 'call'):
			if not (st.kind == 'call' and FREES.match(self.t[st.first].text)):
				self.drop(st, st.kind)
		elif st.kind == 'jump':
			self.drop(st, self.t[st.whole].text)
		elif st.kind == 'return':
			self.change_return(st)

	def drop(self, st, what):
		"""Makes a mutant that does not execute the statement."""
		if what == 'return' and st.last + 1 == self.f.last:
			return
		first, last = st.whole, st.last
		if '\n' in self.text(first, last):
			never = 'while (0) ' + self.t[first].text
			self.add('drop ' + what, first, first + 1, never)
		else:
			self.add('drop ' + what, first, last, '')

	def negate(self, first, last):
		"""
		Negates a condition, unless it is a single comparison or begins with '!': operators
		of their own mutate these.
		"""
		depth0 = [t.text for _, t in self.outside(first, last)]
		ops = [t for t in depth0 if t in BINDS]
		if depth0[0] == '!' and not ops or sum(t in COMPARE for t in ops) == 1 and \
		   not any(t in LOGIC for t in ops):
			return
		self.add('negate', first, last, '!(' + self.text(first, last) + ')')

	def outside(self, first, last):
		"""The tokens outside of brackets."""
		i = first
		while i < last:
			yield i, self.t[i]
			i = self.s.match[i] if self.s.is_at(i, *OPENS) else i
			i += 1

	def change_return(self, st):
		value = self.text(st.first, st.last)
		if self.f.returns == 'bool':
			if value not in ('true', 'false'):
				self.add('return', st.first, st.last, '!(' + value + ')')
		elif self.f.returns == 'pointer':
			if value != 'NULL':
				self.add('return', st.first, st.last, 'NULL')
		elif self.f.returns == 'number' and value != '0':
			is_error = re.fullmatch(r'-E[A-Z0-9]+|err|ret|rc', value)
			new = '0' if is_error else value + ' + 1'
			if re.search(r'[?<>&|=^]', value) and new != '0':
				new = '(' + value + ') + 1'
			self.add('return', st.first, st.last, new)

	# --- of expressions

	def of_expression(self, st):
		for i in range(st.first, st.last):
			if i in self.spared:
				continue
			t = self.t[i]
			if t.kind == 'number':
				self.constant(i)
			elif t.text in ('true', 'false'):
				other = 'false' if t.text == 'true' else 'true'
				self.add('constant', i, i + 1, other)
			elif t.text in ('!', '~') and t.kind == 'op':
				self.add('drop ' + t.text, i, i + 1, '')
			elif t.kind == 'op':
				self.of_operator(i)

	def constant(self, i):
		m = re.fullmatch(r'(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)', self.t[i].text)
		if not m:
			return
		value = int(m.group(1), 0 if m.group(1)[:2] in ('0x', '0X') else 10)
		new = {0: 1, 1: 0}.get(value, value + 1)
		shown = hex(new) if m.group(1)[:2] in ('0x', '0X') else str(new)
		self.add('constant', i, i + 1, shown + m.group(2))

	def is_binary(self, i):
		"""Whether the operator at i has an operand before it. A cast is no operand."""
		before = self.t[i - 1]
		if before.text == ')':
			head = self.s.match[i - 1]
			inside = self.t[head + 1:i - 1]
			is_cast = inside and all(t.kind == 'name' or t.text == '*' for t in inside) and \
				(inside[0].text in TYPES or re.search(r'_t$', inside[0].text)) and \
				self.t[head - 1].text != 'sizeof'
			return not is_cast
		return before.kind in ('name', 'number', 'char') and before.text != 'return' or \
			before.text == ']'

	def of_operator(self, i):
		op = self.t[i].text
		if op in ('++', '--'):
			self.add('arithmetic', i, i + 1, ARITH[op])
			return
		if op not in BINDS or not self.is_binary(i):
			return
		if op in COMPARE:
			self.add('compare', i, i + 1, COMPARE[op])
		elif op in LOGIC:
			self.add('logic', i, i + 1, LOGIC[op])
			self.drop_operands(i)
		elif op in ARITH:
			self.add('arithmetic', i, i + 1, ARITH[op])
			if op == '-':
				self.swap(i)

	def left(self, i):
		"""First token of the left operand of the operator at i; in a chain, of the nearest."""
		level, j = BINDS[self.t[i].text], i - 1
		while True:
			t = self.t[j]
			if t.text in OPENS.values() and t.kind == 'op':
				j = self.s.match[j]
			elif t.text in OPENS or t.text in (';', 'return', 'case') or \
			     t.text in BINDS and t.kind == 'op' and BINDS[t.text] <= level and \
			     self.is_binary(j):
				return j + 1
			j -= 1

	def right(self, i):
		"""The token after the right operand of the operator at i."""
		level, j = BINDS[self.t[i].text], i + 1
		while True:
			t = self.t[j]
			if t.text in OPENS and t.kind == 'op':
				j = self.s.match[j]
			elif t.text in OPENS.values() or t.text == ';' or \
			     t.text in BINDS and t.kind == 'op' and BINDS[t.text] <= level and \
			     self.is_binary(j):
				return j
			j += 1

	def drop_operands(self, i):
		"""
		Drops one operand of && or ||: the left one; and the right one, unless an operator
		of the same chain follows, which drops it as its own left operand.
		"""
		left, right = self.left(i), self.right(i)
		op, before, after = self.t[i], self.t[i - 1].end, self.t[i + 1].start
		stop = op.end if '\n' in self.s.text[op.end:after] else after
		self.add_span('drop operand', (self.t[left].start, stop), '')
		if not self.s.is_at(right, op.text):
			start = op.start if '\n' in self.s.text[before:op.start] else before
			self.add_span('drop operand', (start, self.t[right - 1].end), '')

	def swap(self, i):
		left, right = self.left(i), self.right(i)
		a, b = self.text(left, i), self.text(i + 1, right)
		if a != b:
			self.add('swap', left, right, b + ' - ' + a)


def mutants_of(path, text):
	"""All mutants of a file, in the order of its text."""
	return sorted(Maker(path, text).mutants(), key=lambda m: (m.start, m.end, m.new))
