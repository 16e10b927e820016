/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of the codec share. */
#ifndef CODEC_H
#define CODEC_H

#include "daemon/codec_table.h"

/**
 * codec_pack() - pack @m, whose body is set, as a message of @type
 * @m: the message; if its schema is 0, it gets SCHEMA_FILES, the schema of files
 * @data: set to the bytes, to be freed by the caller
 * Return: 0, -ENOMEM.
 */
int codec_pack(Svc__Message *m, unsigned int type, uint8_t **data, size_t *len);

/**
 * codec_open() - unpack the outer layer of a message, of any schema and with any body
 * @m: set to NULL or to a message that the caller has to free, also after an error
 * Return: 0, -EBADMSG.
 */
int codec_open(const uint8_t *data, size_t len, Svc__Message **m);
/** codec_fm_pack() - as fm_msg_pack(), with the members of @m other than its body */
int codec_fm_pack(Svc__Message *m, const struct fm_msg *msg, uint8_t **data, size_t *len);
/**
 * codec_fm() - read the body of a message of the state machine. Return: 0; -EBADMSG if there is no
 * such message, or it is malformed; -ENOMEM
 */
int codec_fm(struct fm_msg *out, const Svc__Message *m);

/** codec_text() - copy a text. Return: false if it does not fit or is not printable ASCII */
bool codec_text(char *to, size_t room, const char *from);

#endif /* CODEC_H */
