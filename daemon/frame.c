// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/frame.h"

int frame_pack(const struct svc_msg *msg, unsigned int schema, uint8_t **data, size_t *len)
{
	uint8_t *body, *all;
	size_t n;
	int err;

	err = svc_msg_pack(msg, schema, &body, &n);
	if (err)
		return err;
	if (n > FRAME_MAX) {
		free(body);
		return -EMSGSIZE;
	}
	all = realloc(body, n + FRAME_HEADER);
	if (!all) {
		free(body);
		return -ENOMEM;
	}
	memmove(all + FRAME_HEADER, all, n);
	for (unsigned int i = 0; i < FRAME_HEADER; i++)
		all[i] = (uint8_t)(n >> (8 * (FRAME_HEADER - 1 - i)));
	*data = all;
	*len = n + FRAME_HEADER;
	return 0;
}

size_t frame_length(const uint8_t *header)
{
	size_t n = 0;

	for (unsigned int i = 0; i < FRAME_HEADER; i++)
		n = n << 8 | header[i];
	return n;
}

ssize_t frame_next(const uint8_t *data, size_t len, size_t max,
		   const uint8_t **body, size_t *body_len)
{
	size_t n;

	if (len < FRAME_HEADER)
		return 0;
	n = frame_length(data);
	if (n > max)
		return -EMSGSIZE;
	if (!n)
		return -EBADMSG;
	if (len - FRAME_HEADER < n)
		return 0;
	*body = data + FRAME_HEADER;
	*body_len = n;
	return (ssize_t)(FRAME_HEADER + n);
}
