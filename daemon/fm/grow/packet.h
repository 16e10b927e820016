/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of a message of a growth: a management packet between neighbours. */
#ifndef FM_GROWTH_PACKET_H
#define FM_GROWTH_PACKET_H

#include <stddef.h>

#include "daemon/fm/grow/facts.h"

#define FM_GROWTH_VERSION 1
#define FM_GROWTH_BYTES 82	/* length of each message */

/**
 * fm_growth_is_packet() - Return: true if a management packet is a message of a growth, of this
 * version or another
 */
bool fm_growth_is_packet(const uint8_t *buf, size_t len);
/** fm_growth_put() - encode a message. @buf: FM_GROWTH_BYTES bytes */
void fm_growth_put(uint8_t *buf, const struct fm_growth_msg *m);
/**
 * fm_growth_get() - decode a message and check its values
 * Return: 0, -EBADMSG malformed or out of range, -EPROTONOSUPPORT another version.
 */
int fm_growth_get(const uint8_t *buf, size_t len, struct fm_growth_msg *out);

#endif /* FM_GROWTH_PACKET_H */
