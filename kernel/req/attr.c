// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "attr.h"

const struct nlattr *torus_attr_next(struct torus_span *s)
{
	const struct nlattr *a = s->at;
	size_t step;

	if (s->left < TORUS_ATTR_HEAD || a->nla_len < TORUS_ATTR_HEAD || a->nla_len > s->left)
		return NULL;
	step = (size_t)NLA_ALIGN(a->nla_len);
	if (step > s->left)	/* the last attribute need not be padded */
		step = s->left;
	s->at = (const u8 *)s->at + step;
	s->left -= step;
	return a;
}

u64 torus_number_at(const void *p, unsigned int width)
{
	u16 v16;
	u32 v32;
	u64 v64;

	switch (width) {
	case 1:
		return *(const u8 *)p;
	case 2:
		memcpy(&v16, p, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, p, sizeof(v32));
		return v32;
	default:
		memcpy(&v64, p, sizeof(v64));
		return v64;
	}
}

int torus_refuse(struct torus_refusal *why, int err, const struct nlattr *attr,
		 const char *fmt, ...)
{
	va_list ap;

	why->attr = attr;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return err;
}
