/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that kernel/core needs from its world, kernel version. User space's, with
 * the contract of each name, is lib/deps/tn_deps.h; the include path chooses.
 */
#ifndef TN_DEPS_H
#define TN_DEPS_H

#include <linux/bitops.h>
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

static inline unsigned int tn_lowest(u64 bits)
{
	return (unsigned int)__ffs64(bits);
}

static inline u32 tn_crc32c(u32 crc, const void *data, size_t len)
{
	return crc32c(crc, data, len);
}

static inline u16 tn_get_le16(const void *p)
{
	__le16 v;

	memcpy(&v, p, sizeof(v));
	return le16_to_cpu(v);
}

static inline u32 tn_get_le32(const void *p)
{
	__le32 v;

	memcpy(&v, p, sizeof(v));
	return le32_to_cpu(v);
}

static inline u64 tn_get_le64(const void *p)
{
	__le64 v;

	memcpy(&v, p, sizeof(v));
	return le64_to_cpu(v);
}

static inline void tn_put_le16(void *p, u16 v)
{
	__le16 le = cpu_to_le16(v);

	memcpy(p, &le, sizeof(le));
}

static inline void tn_put_le32(void *p, u32 v)
{
	__le32 le = cpu_to_le32(v);

	memcpy(p, &le, sizeof(le));
}

static inline void tn_put_le64(void *p, u64 v)
{
	__le64 le = cpu_to_le64(v);

	memcpy(p, &le, sizeof(le));
}

#endif /* TN_DEPS_H */
