/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * All that kernel/core and kernel/host need from their environment, for user space. The version
 * for the kernel is kernel/deps/tn_deps.h; the include path selects one. Both define the same
 * names, and the core includes nothing else.
 */
#ifndef TN_DEPS_H
#define TN_DEPS_H

#include <errno.h>		/* only for the numbers of errors */
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>		/* for memcpy() and memset() */

#include "invariant.h"

/**
 * tn_assert() - assert an invariant, which no input from cables, hosts or managers can break
 * @cond: without side effects
 *
 * In the kernel it warns once, if DEBUG_NET is configured.
 */
#define tn_assert(cond)	invariant(cond)

/* The core is compiled freestanding, where these would be calls even for 8 bytes. */
#define memcpy(to, from, n)	__builtin_memcpy(to, from, n)
#define memset(to, byte, n)	__builtin_memset(to, byte, n)

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif
#ifndef noinline
#define noinline	__attribute__((noinline))
#endif
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

/** tn_lowest() - Return: number of the lowest set bit of @bits, which is not 0 */
static inline unsigned int tn_lowest(u64 bits)
{
	return (unsigned int)__builtin_ctzll(bits);
}

/** tn_load32(), tn_load64() - Return: a word that other processors may change, read once */
static inline u32 tn_load32(const u32 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline u64 tn_load64(const u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/** tn_store32(), tn_store64() - store a word that others may read, after all stores before */
static inline void tn_store32(u32 *p, u32 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static inline void tn_store64(u64 *p, u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/**
 * tn_fence() - order all loads and stores before the call before those after it, for all processors
 */
static inline void tn_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/**
 * tn_cas32(), tn_cas64() - store @v if the word is *@old, in one step for all processors, and in
 * order with loads and stores before and after
 * Return: true if it was stored; else *@old is set to the value of the word.
 */
static inline bool tn_cas32(u32 *p, u32 *old, u32 v)
{
	return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline bool tn_cas64(u64 *p, u64 *old, u64 v)
{
	return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/**
 * tn_crc32c() - CRC-32C (Castagnoli, reflected, polynomial 0x82f63b78)
 * @crc: value to continue from; ~0 to start. There is no final inversion.
 * @data: bytes to add
 * @len: number of these bytes
 *
 * Return: the new value.
 */
u32 tn_crc32c(u32 crc, const void *data, size_t len);

/** tn_crc32c_fast() - Return: true if tn_crc32c_word() may be called, and is an instruction */
static inline bool tn_crc32c_fast(void)
{
	return false;	/* a program learns only when it runs which instructions there are */
}

/** tn_crc32c_word() - Return: @crc continued by the 8 bytes whose little-endian value is @word */
static inline u64 tn_crc32c_word(u64 crc, u64 word)
{
	(void)word;
	return crc;
}

/** tn_read_once() - Return: @v, read by a single load, because another processor may write to it */
static inline u64 tn_read_once(const u64 *v)
{
	return *(const volatile u64 *)v;
}

static inline u16 tn_get_le16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap16(v);
#endif
	return v;
}

static inline u32 tn_get_le32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

static inline u64 tn_get_le64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline void tn_put_le16(void *p, u16 v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap16(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static inline void tn_put_le32(void *p, u32 v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static inline void tn_put_le64(void *p, u64 v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, sizeof(v));
}

#endif /* TN_DEPS_H */
