/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that kernel/core and kernel/host need from their environment, for the kernel. The version for
 * user space, with the contract of each name, is lib/deps/tn_deps.h; the include path selects one.
 */
#ifndef TN_DEPS_H
#define TN_DEPS_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#include <asm/cpufeature.h>
#endif

#ifdef CONFIG_DEBUG_NET
#define tn_assert(cond)	((void)WARN_ON_ONCE(!(cond)))
#else
#define tn_assert(cond)	((void)(0 && (cond)))
#endif

static inline unsigned int tn_lowest(u64 bits)
{
	return (unsigned int)__ffs64(bits);
}

static inline u64 tn_read_once(const u64 *v)
{
	return READ_ONCE(*v);
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

static inline u32 tn_load32(const u32 *p)
{
	return smp_load_acquire(p);	/* pairs with stores of processes */
}

static inline u64 tn_load64(const u64 *p)
{
	return smp_load_acquire(p);	/* pairs with stores of processes */
}

static inline void tn_store32(u32 *p, u32 v)
{
	smp_store_release(p, v);	/* pairs with loads of processes */
}

static inline void tn_store64(u64 *p, u64 v)
{
	smp_store_release(p, v);	/* pairs with loads of processes */
}

static inline void tn_fence(void)
{
	smp_mb();	/* pairs with barriers of processes */
}

static inline bool tn_cas32(u32 *p, u32 *old, u32 v)
{
	return try_cmpxchg(p, old, v);
}

static inline bool tn_cas64(u64 *p, u64 *old, u64 v)
{
	return try_cmpxchg64(p, old, v);
}

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
static inline bool tn_crc32c_fast(void)
{
	return static_cpu_has(X86_FEATURE_XMM4_2);
}

static inline u64 tn_crc32c_word(u64 crc, u64 word)
{
	asm("crc32q %1, %0" : "+r" (crc) : "rm" (word));
	return crc;
}
#else
static inline bool tn_crc32c_fast(void)
{
	return false;
}

static inline u64 tn_crc32c_word(u64 crc, u64 word)
{
	return crc;
}
#endif

#define TN_CRC32C_SHORT 64	/* longest data whose CRC is computed here, bytes */

/*
 * The CRC of short data, such as the header and tail of a packet, is computed here, because a call
 * of the crypto library takes longer than the computation.
 */
static inline u32 tn_crc32c(u32 crc, const void *data, size_t len)
{
	const u8 *p = data, *end = p + len;
	u64 sum = crc;

	if (len > TN_CRC32C_SHORT || len % 8 || !tn_crc32c_fast())
		return crc32c(crc, data, len);
	for (; p < end; p += 8)
		sum = tn_crc32c_word(sum, tn_get_le64(p));
	return (u32)sum;
}

#endif /* TN_DEPS_H */
