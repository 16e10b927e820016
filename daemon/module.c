// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/module.h"

#define HALF	128		/* bytes of the lower half of the memory, and of a page */
#define FIRST	0x50		/* I2C addresses of the two memories */
#define SECOND	0x51

/** struct plug - function that reads a plug, and the bytes that were read last */
struct plug {
	int (*read)(void *arg, uint8_t i2c, uint8_t page, uint8_t offset, uint8_t len, uint8_t *to);
	void *arg;
	uint8_t low[HALF];	/* lower half of the first memory */
	uint8_t page[HALF];
};

static int read_page(struct plug *p, uint8_t page)
{
	return p->read(p->arg, FIRST, page, HALF, HALF, p->page);
}

/* Copies a text that is padded with blanks. Bytes that are not printable become '?'. */
static void copy_text(char *to, const uint8_t *from, size_t len)
{
	while (len && (from[len - 1] == ' ' || !from[len - 1]))
		len--;
	for (size_t i = 0; i < len; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? (char)from[i] : '?';
	to[len] = '\0';
}

static unsigned int read_be16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

static void set_measured(struct module *m, const uint8_t *celsius, const uint8_t *volts)
{
	m->measured = read_be16(celsius) || read_be16(volts);
	m->celsius = (double)(int16_t)read_be16(celsius) / 256;
	m->volts = read_be16(volts) * 100e-6;
}

/* Powers are in units of 0.1 uW. A plug without light reports 0 for all lanes. */
static unsigned int get_powers(double *mw, const uint8_t *p, unsigned int lanes)
{
	bool some = false;

	for (unsigned int i = 0; i < lanes; i++) {
		mw[i] = read_be16(p + 2 * i) * 1e-4;
		some |= read_be16(p + 2 * i) != 0;
	}
	return some ? lanes : 0;
}

static int read_sfp(struct plug *p, struct module *m)
{
	const uint8_t *a = p->low;
	uint8_t monitor;

	snprintf(m->kind, sizeof(m->kind), "SFP");
	copy_text(m->vendor, a + 20, 16);
	copy_text(m->part, a + 40, 16);
	copy_text(m->revision, a + 56, 4);
	copy_text(m->serial, a + 68, 16);
	copy_text(m->date, a + 84, 8);
	monitor = a[92];
	/*
	 * The monitors are at the second address. They can be used only if they exist and are
	 * calibrated in the plug, and if no change of address is needed.
	 */
	if (!(monitor & 0x40) || !(monitor & 0x20) || monitor & 0x04 ||
	    p->read(p->arg, SECOND, 0, 0, HALF, p->page))
		return 0;
	set_measured(m, p->page + 96, p->page + 98);
	m->ntx = get_powers(m->tx_mw, p->page + 102, 1);
	m->nrx = get_powers(m->rx_mw, p->page + 104, 1);
	return 0;
}

static int read_qsfp(struct plug *p, struct module *m, const char *kind)
{
	int err = read_page(p, 0);
	const uint8_t *a = p->page;

	if (err)
		return err;
	snprintf(m->kind, sizeof(m->kind), "%s", kind);
	copy_text(m->vendor, a + 20, 16);
	copy_text(m->part, a + 40, 16);
	copy_text(m->revision, a + 56, 2);
	copy_text(m->serial, a + 68, 16);
	copy_text(m->date, a + 84, 8);
	set_measured(m, p->low + 22, p->low + 26);
	m->nrx = get_powers(m->rx_mw, p->low + 34, 4);
	m->ntx = get_powers(m->tx_mw, p->low + 50, 4);
	return 0;
}

static int read_cmis(struct plug *p, struct module *m, const char *kind)
{
	int err = read_page(p, 0);
	const uint8_t *a = p->page;

	if (err)
		return err;
	snprintf(m->kind, sizeof(m->kind), "%s", kind);
	copy_text(m->vendor, a + 1, 16);
	copy_text(m->part, a + 20, 16);
	copy_text(m->revision, a + 36, 2);
	copy_text(m->serial, a + 38, 16);
	copy_text(m->date, a + 54, 8);
	set_measured(m, p->low + 14, p->low + 16);
	/* A flat memory has no pages, so it has no monitors of lanes. */
	if (p->low[2] & 0x80 || read_page(p, 0x11))
		return 0;
	m->ntx = get_powers(m->tx_mw, a + 26, MODULE_LANES);
	m->nrx = get_powers(m->rx_mw, a + 58, MODULE_LANES);
	return 0;
}

int module_read(int (*read)(void *arg, uint8_t i2c, uint8_t page, uint8_t offset, uint8_t len,
			    uint8_t *to), void *arg, struct module *out)
{
	struct plug p = { .read = read, .arg = arg };
	int err = read(arg, FIRST, 0, 0, HALF, p.low);

	*out = (struct module) { .measured = false };
	if (err)
		return err;
	switch (p.low[0]) {		/* the identifier of the plug's type, SFF-8024 */
	case 0x03:
		return read_sfp(&p, out);
	case 0x0c:
		return read_qsfp(&p, out, "QSFP");
	case 0x0d:
		return read_qsfp(&p, out, "QSFP+");
	case 0x11:
		return read_qsfp(&p, out, "QSFP28");
	case 0x18:
		return read_cmis(&p, out, "QSFP-DD");
	case 0x19:
		return read_cmis(&p, out, "OSFP");
	case 0x1e:
		return read_cmis(&p, out, "QSFP+ CMIS");
	default:
		return -EPROTONOSUPPORT;
	}
}
