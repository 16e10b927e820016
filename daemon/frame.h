/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages on a byte stream: 4 bytes of length, big endian, then the message
 * as svc.proto has it.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "daemon/svc_msg.h"

#define FRAME_HEADER	4
#define FRAME_MAX	(16u << 20)	/* most bytes of a message: a table of 1.3 million nodes */
/* most bytes of a message of a peer that is not authenticated yet */
#define FRAME_MAX_STRANGER 1024

/**
 * frame_pack() - pack a message, with its length before it
 * @data: set to the bytes, to be freed by the caller
 * Return: 0, -EINVAL, -EMSGSIZE past FRAME_MAX, -ENOMEM.
 */
int frame_pack(const struct svc_msg *msg, unsigned int schema, uint8_t **data, size_t *len);

/** frame_length() - Return: the length of a message, read from the 4 bytes at @header */
size_t frame_length(const uint8_t *header);

/**
 * frame_next() - find the first message in what was received
 * @max: longest message to accept
 * @body, @body_len: set to the message within @data
 * Return: bytes of the message with its length field; 0 if the message is incomplete; -EMSGSIZE if
 * it is longer than @max, -EBADMSG if it is empty.
 */
ssize_t frame_next(const uint8_t *data, size_t len, size_t max,
		   const uint8_t **body, size_t *body_len);

#endif /* FRAME_H */
