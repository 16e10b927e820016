/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plug of a cable: its memory describes vendor and part, and the present temperature and light.
 * The code does no I/O itself. The memory maps are those of SFF-8472 (SFP), SFF-8636 (QSFP) and
 * CMIS (QSFP-DD, OSFP). Powers of an SFP that its host has to calibrate are left out.
 */
#ifndef MODULE_H
#define MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_LANES	8

/**
 * struct module - contents of a plug's memory; texts without trailing blanks, "": none
 * @kind: "SFP", "QSFP28" and so on
 * @celsius, @volts: valid if @measured
 * @tx_mw, @rx_mw: light in each of @ntx, @nrx lanes; copper cables have 0 lanes with light
 */
struct module {
	char kind[16], vendor[17], part[17], revision[5], serial[17], date[9];
	bool measured;
	double celsius, volts;
	unsigned int ntx, nrx;
	double tx_mw[MODULE_LANES], rx_mw[MODULE_LANES];
};

/**
 * module_read() - read and decode the memory of a plug
 * @read: reads @len bytes, 128 at most, at @offset of a page, and returns 0 or a negative errno;
 *	@i2c: 0x50, or 0x51 for the second memory of an SFP
 * Return: 0; if @read fails for memory that every plug has, its error; -EPROTONOSUPPORT if the type
 * of the plug is not known.
 */
int module_read(int (*read)(void *arg, uint8_t i2c, uint8_t page, uint8_t offset, uint8_t len,
			    uint8_t *to), void *arg, struct module *out);

#endif /* MODULE_H */
