// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricd of the release after this one: it speaks the next schema of the service network beside
 * the newest of this one, and each of its messages has a member that this one does not know. The
 * linker puts this in place of daemon/schema.c, and before svc_msg_pack() (--wrap).
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/schema.h"
#include "daemon/svc_msg.h"

const unsigned int schema_oldest = SCHEMA_OLDEST, schema_newest = SCHEMA_NEWEST;

int __real_svc_msg_pack(const struct svc_msg *msg, unsigned int schema, uint8_t **data, size_t *len);
int __wrap_svc_msg_pack(const struct svc_msg *msg, unsigned int schema, uint8_t **data, size_t *len);

int __wrap_svc_msg_pack(const struct svc_msg *msg, unsigned int schema, uint8_t **data, size_t *len)
{
	static const uint8_t member[] = { 0xf8, 0x7f, 1 };	/* number 2047 */
	int err = __real_svc_msg_pack(msg, schema, data, len);
	uint8_t *more;

	if (err)
		return err;
	more = realloc(*data, *len + sizeof(member));
	if (!more)
		abort();
	memcpy(more + *len, member, sizeof(member));
	*data = more;
	*len += sizeof(member);
	return 0;
}
