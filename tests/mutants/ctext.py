# SPDX-License-Identifier: GPL-2.0-only
"""Parses a C file into tokens, functions, and the expressions of their statements.

The parser knows only as much C as mutate.py needs. A statement that it does not recognise
is left alone and has no mutants.
"""
import re

TOKEN = re.compile(r'''
	(?P<comment>/\*.*?\*/|//[^\n]*)
	|(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
	|(?P<string>L?"(?:\\.|[^"\\\n])*")
	|(?P<char>L?'(?:\\.|[^'\\\n])+')
	|(?P<number>\.?[0-9](?:[eEpP][+-]|[0-9a-zA-Z_.])*)
	|(?P<name>[A-Za-z_]\w*)
	|(?P<op>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
''', re.X | re.S | re.M)

OPENS = {'(': ')', '[': ']', '{': '}'}
TYPES = {'void', 'char', 'short', 'int', 'long', 'float', 'double', 'signed', 'unsigned', 'bool',
	 'struct', 'enum', 'union', 'const', 'volatile', 'static', 'register', 'extern', 'typeof',
	 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', '_Bool', '_Thread_local', 'inline'}
KEYWORDS = {'if', 'else', 'while', 'for', 'do', 'switch', 'case', 'default', 'return', 'break',
	    'continue', 'goto', 'sizeof'}


class Token:
	"""One token: its kind (a group of TOKEN), its text, and where it is in the file."""

	def __init__(self, kind, text, start):
		self.kind = kind
		self.text = text
		self.start = start
		self.end = start + len(text)

	def __repr__(self):
		return self.text


class Function:
	"""
	A function: its name, the kind of its return type ('void', 'bool', 'pointer', 'struct',
	'number'), and its statements. Its body is the tokens first to last, which are braces.
	"""

	def __init__(self, name, returns, first, last):
		self.name = name
		self.returns = returns
		self.first = first
		self.last = last
		self.statements = []


class Statement:
	"""
	A statement, or the expression in the head of one. kind: call, assignment, other,
	condition (of if and while), part (of for or switch), declaration, return, jump.
	Its tokens are first to last - 1, without the semicolon or the brackets of a head.
	whole: first token of the whole statement. body: first token of the statement that a
	condition or switch controls.
	"""

	body = None

	def __init__(self, kind, first, last, whole):
		self.kind = kind
		self.first = first
		self.last = last
		self.whole = whole


class Source:
	"""A C file."""

	def __init__(self, text):
		self.text = text
		self.tokens = []
		for m in TOKEN.finditer(text):
			if m.lastgroup not in ('comment', 'directive'):
				self.tokens.append(Token(m.lastgroup, m.group(), m.start()))
		self.match = self.brackets()
		self.functions = []
		self.find_functions()

	def brackets(self):
		"""Maps the index of each bracket to the index of its partner, both ways."""
		match, stack = {}, []
		for i, t in enumerate(self.tokens):
			if t.text in OPENS and t.kind == 'op':
				stack.append(i)
			elif t.kind == 'op' and t.text in OPENS.values() and stack:
				match[i] = stack.pop()
				match[match[i]] = i
		return match

	def is_at(self, i, *texts):
		return i < len(self.tokens) and self.tokens[i].text in texts

	def line(self, position):
		"""Number of the line, from 1."""
		return self.text.count('\n', 0, position) + 1

	def whole_lines(self, start, end):
		"""Begin and end of the whole lines that hold start to end, without the newline."""
		begin = self.text.rfind('\n', 0, start) + 1
		stop = self.text.find('\n', end)
		return begin, stop if stop >= 0 else len(self.text)

	def find_functions(self):
		i = begin = 0
		while i < len(self.tokens):
			t = self.tokens[i].text
			if t == '{':
				f = self.function(begin, i)
				if f:
					Parser(self, f).block(i)
					self.functions.append(f)
				i = self.match.get(i, len(self.tokens))
				if f:
					begin = i + 1
			elif t == ';':
				begin = i + 1
			elif t == '(':
				i = self.match.get(i, len(self.tokens))
			i += 1

	def function(self, begin, brace):
		"""The function whose body begins at brace; None if this is no function body."""
		head = begin
		while head < brace and self.tokens[head].text != '(':
			head = self.match.get(head + 1, brace) + 1 if self.is_at(head, '__attribute__') else head + 1
		if head >= brace or head == begin or self.is_at(begin, 'typedef', 'struct {') or \
		   self.tokens[head - 1].kind != 'name' or \
		   any(self.tokens[i].text == '=' for i in range(begin, head)) or \
		   brace not in self.match:
			return None
		texts = [t.text for t in self.tokens[begin:head - 1]]
		if '*' in texts:
			returns = 'pointer'
		elif 'void' in texts:
			returns = 'void'
		elif 'bool' in texts:
			returns = 'bool'
		else:
			returns = 'struct' if 'struct' in texts else 'number'
		return Function(self.tokens[head - 1].text, returns, brace, self.match[brace])


class Parser:
	"""Finds the statements of a function."""

	def __init__(self, source, function):
		self.s = source
		self.f = function

	def add(self, kind, first, last, whole):
		if first < last or kind == 'jump':
			self.f.statements.append(Statement(kind, first, last, whole))

	def block(self, i):
		"""Parses from the brace at i to its partner. Return: the token after that."""
		end = self.s.match[i]
		i += 1
		while i < end:
			i = self.statement(i)
		return end + 1

	def end_of(self, i):
		"""The semicolon that ends the statement at i."""
		while i < self.f.last and not self.s.is_at(i, ';'):
			i = self.s.match[i] if self.s.tokens[i].text in OPENS else i
			i += 1
		return i

	def statement(self, i):
		t = self.s.tokens[i].text
		if t == ';':
			return i + 1
		if t == '{':
			return self.block(i)
		if t in ('if', 'while', 'switch'):
			return self.head(i, 'part' if t == 'switch' else 'condition')
		if t == 'for':
			return self.for_head(i)
		if t in ('else', 'do'):
			return self.statement(i + 1)
		if t in ('case', 'default') or (self.s.tokens[i].kind == 'name' and
						self.s.is_at(i + 1, ':')):
			while not self.s.is_at(i, ':'):
				i += 1
			return i + 1
		return self.simple(i)

	def head(self, i, kind):
		end = self.s.match[i + 1]
		self.add(kind, i + 2, end, i)
		self.f.statements[-1].body = end + 1
		return self.statement(end + 1) if not self.s.is_at(end + 1, ';') else end + 2

	def for_head(self, i):
		end = self.s.match[i + 1]
		first = i + 2
		for n in range(3):
			last = first
			while last < end and not self.s.is_at(last, ';'):
				last = self.s.match[last] if self.s.is_at(last, *OPENS) else last
				last += 1
			kind = 'declaration' if not n and self.is_declaration(first) else 'part'
			self.add(kind, first, last, i)
			first = last + 1
		return self.statement(end + 1)

	def simple(self, i):
		end = self.end_of(i)
		t = self.s.tokens[i]
		if t.text == 'return':
			self.add('return' if end > i + 1 else 'jump', i + 1, end, i)
		elif t.text in ('break', 'continue', 'goto'):
			self.add('jump', i, end, i)
		elif self.is_declaration(i):
			self.add('declaration', i, end, i)
		elif t.kind == 'name' and self.s.is_at(i + 1, '(') and \
		     self.is_loop(self.s.match[i + 1] + 1):
			return self.statement(self.s.match[i + 1] + 1)
		else:
			self.add(self.kind_of(i, end), i, end, i)
		return end + 1

	def is_loop(self, i):
		"""Whether a macro call is the head of a loop: a statement follows the call."""
		return self.s.tokens[i].kind == 'name' or self.s.is_at(i, '{')

	def is_declaration(self, i):
		a = self.s.tokens[i]
		if a.text in TYPES or a.text.startswith('_Static_assert'):
			return True
		if a.kind != 'name' or a.text in KEYWORDS:
			return False
		while self.s.is_at(i + 1, '*'):
			i += 1
		b = self.s.tokens[i + 1]
		return b.kind == 'name' and b.text not in KEYWORDS

	def kind_of(self, i, end):
		"""The kind of an expression statement, by its operators outside of all brackets."""
		while i < end:
			t = self.s.tokens[i].text
			if t in OPENS:
				i = self.s.match[i]
			elif t in ASSIGNS or t in ('++', '--'):
				return 'assignment'
			i += 1
		return 'call' if self.s.is_at(end - 1, ')') else 'other'


ASSIGNS = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
