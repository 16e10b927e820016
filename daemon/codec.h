/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of the codec share. */
#ifndef CODEC_H
#define CODEC_H

#include "daemon/codec_table.h"

/**
 * codec_pack() - @m with the body of @type set
 * @m: its schema is set, or 0: as in files
 * @data: the caller frees it
 * Return: 0, -ENOMEM.
 */
int codec_pack(Svc__Message *m, unsigned int type, uint8_t **data, size_t *len);

/**
 * codec_open() - a message with some body, of whatever schema
 * @m: NULL, or to be freed, also after an error
 * Return: 0, -EBADMSG.
 */
int codec_open(const uint8_t *data, size_t len, Svc__Message **m);
/** codec_fm_pack() - as fm_msg_pack(), with @m but for its body */
int codec_fm_pack(Svc__Message *m, const struct fm_msg *msg, uint8_t **data, size_t *len);
/** codec_fm() - its body. Return: 0, -EBADMSG none of the machine's or out of range, -ENOMEM */
int codec_fm(struct fm_msg *out, const Svc__Message *m);

/** codec_text() - a text that fits, of printable ASCII. Return: false: it is not */
bool codec_text(char *to, size_t room, const char *from);

#endif /* CODEC_H */
