/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Remote memory: the rings between a process and a NIC. A context is memory that both share: a
 * head, a ring of requests (SQ), which the process fills, and a ring of completions (CQ), which the
 * NIC fills. Integers are in host order. Positions count entries from 0 and wrap at 2^32; entry i
 * is at i modulo the size of its ring, which is a power of two.
 *
 * To submit, a process writes entries of the SQ, then stores @sq_tail (release), then, after a full
 * barrier, loads @sleeps: if it is not 0, the NIC wants its doorbell, once for each value of @naps.
 * Each request gets one completion, in the order in which requests end. To take completions, it
 * loads @cq_tail (acquire), reads entries, stores @cq_head (release), and rings if @sleeps has
 * TORUS_RMA_CQ_FULL. Before it sleeps, it stores 1 to @wants, and after a full barrier it looks at
 * @cq_tail once more.
 *
 * Requests to one node are sent and executed in the order of the SQ; only a FE operation that waits
 * is executed later. TORUS_RMA_FENCE waits for all before it. A request that cannot be sent yet,
 * because the node is on hold, keeps those behind it to the same node waiting, and others if that
 * happens with many nodes. If too many are open, all wait.
 *
 * A message (SEND) goes to a context, which has posted memory for it (RECV); kernel/core/rma_ring.h
 * describes the order in which messages arrive. The context of a message is named by @name of its
 * head.
 *
 * Memory is a region: of another node, or of the context itself (@local), which is where data of a
 * PUT come from and those of a GET go. The NIC copies the data of a PUT when it sends them: they
 * may be changed after the completion. If a process breaks the rules of the rings, @broken contains
 * the reason, and the NIC takes nothing more from this context.
 */
#ifndef _UAPI_LINUX_TORUS_RMA_H
#define _UAPI_LINUX_TORUS_RMA_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define TORUS_RMA_MAGIC		0x616d7274
#define TORUS_RMA_VERSION	1
/* distance between members that different sides write, bytes: a cache line */
#define TORUS_RMA_LINE		64

enum torus_rma_op {
	TORUS_RMA_PUT = 1,	/* writes @bytes from @local, @offset to @addr */
	TORUS_RMA_GET,		/* reads @bytes from @addr to @local, @offset */
	TORUS_RMA_AMO,		/* executes an atomic operation on the word at @addr */
	/* executes an operation that may wait for a full/empty bit or a comparison */
	TORUS_RMA_FE,
	/* sends @bytes from @local, @offset to the context with the name @addr; @value: its tag */
	TORUS_RMA_SEND,
	/* ends the FE operation or RECV of this context whose cookie is @value */
	TORUS_RMA_CANCEL = 8,
	/* posts @bytes at @local, @offset for a message; ends when one is there */
	TORUS_RMA_RECV,
};

/* @addr is an offset in the region @region with the key @key; else it is an address */
#define TORUS_RMA_KEYED		1
/* PUT: then the owner adds @value to the word of 8 bytes at @compare */
#define TORUS_RMA_NOTIFY	4
/* this request is sent only when all earlier ones but RECV have ended */
#define TORUS_RMA_FENCE		8
#define TORUS_RMA_INLINE	16	/* PUT, SEND: the data are in @offset, up to 8 bytes */
/* AMO: the completion does not have the value before, and comes sooner */
#define TORUS_RMA_POSTED	32

enum torus_rma_amo {
	TORUS_RMA_ADD,
	TORUS_RMA_AND,
	TORUS_RMA_OR,
	TORUS_RMA_XOR,
	TORUS_RMA_MIN,
	TORUS_RMA_MAX,
	TORUS_RMA_SWAP,
	TORUS_RMA_CAS,		/* stores @value if the word is equal to @compare */
};

enum torus_rma_type { TORUS_RMA_U32, TORUS_RMA_U64, TORUS_RMA_S32, TORUS_RMA_S64 };

enum torus_rma_fe {
	/* waits until the bit is in state q, reads the word, sets the bit to r */
	TORUS_RMA_READ,
	TORUS_RMA_WRITE,	/* as READ, and stores @value in the word */
	TORUS_RMA_UPDATE,	/* as READ, and executes an atomic operation of 8 bytes */
	TORUS_RMA_WAIT,		/* waits until the comparison of the word with @value is true */
	TORUS_RMA_PURGE,	/* sets the bit to empty */
	TORUS_RMA_PURGE0,	/* sets the bit to empty, and the word to 0 */
};

enum torus_rma_state { TORUS_RMA_EMPTY, TORUS_RMA_FULL, TORUS_RMA_ANY };

enum torus_rma_cmp {
	TORUS_RMA_EQ, TORUS_RMA_NE, TORUS_RMA_LT, TORUS_RMA_LE, TORUS_RMA_GT, TORUS_RMA_GE,
};

/*
 * The member @word of a request. AMO: operation and type; FE: all fields that the operation uses.
 */
#define TORUS_RMA_WORD_AMO(amo, type)	((amo) << 10 | (type) << 13)
#define TORUS_RMA_WORD_FE(fe, q, r)	((fe) | (q) << 3 | (r) << 5)
#define TORUS_RMA_WORD_CMP(cmp)		((cmp) << 7)

/**
 * struct torus_rma_ask - a request; members that its operation does not have are 0
 * @op: enum torus_rma_op
 * @flags: TORUS_RMA_KEYED ...
 * @word: what an AMO or FE does
 * @node: whose memory it is
 * @addr: below 2^48; SEND: name of a context
 * @region: with TORUS_RMA_KEYED, as the next one
 * @key: of the region
 * @bytes: of a PUT, GET or SEND, or room of a RECV
 * @local: region of this context, where the data are
 * @offset: in it
 * @value: operand; SEND: tag
 * @compare: second operand
 * @cookie: comes back with the completion
 */
struct torus_rma_ask {
	__u8 op;
	__u8 flags;
	__u16 word;
	__u32 node;
	__u64 addr;
	__u32 region;
	__u32 key;
	__u32 bytes;
	__u32 local;
	__u64 offset;
	__u64 value;
	__u64 compare;
	__u64 cookie;
};

enum torus_rma_status {
	TORUS_RMA_DONE,
	TORUS_RMA_REFUSED,	/* the owner did not execute it; @reason: enum torus_rma_reason */
	/* not executed; @reason: 0: there is no path; 1: a link, or 2: a NIC is too old */
	TORUS_RMA_UNREACHABLE,
	TORUS_RMA_LOST,		/* not executed: the request was lost in a node or link that died */
	TORUS_RMA_UNKNOWN,	/* the owner does not answer; perhaps it has executed the request */
	/* the NIC did not send the request; @reason: enum torus_rma_invalid */
	TORUS_RMA_INVALID,
};

/* Why an owner refused a request; @value of the completion is what would be allowed. */
enum torus_rma_reason {
	TORUS_RMA_MALFORMED = 1,
	/* there is no such region, or none at this address; SEND: no such context */
	TORUS_RMA_REGION,
	TORUS_RMA_KEY,
	TORUS_RMA_GONE,		/* the region or context was closed */
	TORUS_RMA_JOB,		/* the region or context belongs to another user */
	TORUS_RMA_ACCESS,	/* allowed: mask of TORUS_RMA_ACCESS_* */
	TORUS_RMA_BOUNDS,	/* allowed: bytes from there to the end of the region */
	TORUS_RMA_ALIGN,	/* misaligned; allowed: a multiple of this */
	TORUS_RMA_LENGTH,	/* SEND: longer than the first posted RECV; allowed: its bytes */
	TORUS_RMA_NO_FE,	/* the region has no full/empty bits */
	/*
	 * too many requests wait in regions of the user, or of all users, already; allowed: how
	 * many. SEND: the receiver is not ready, because no RECV is posted
	 */
	TORUS_RMA_NO_ROOM,
	TORUS_RMA_BUSY,		/* a processor of the owner kept changing the word */
	TORUS_RMA_GAP,		/* not executed, because earlier requests were lost */
	TORUS_RMA_CANCELLED,
};

/* Why the NIC did not send a request. */
enum torus_rma_invalid {
	TORUS_RMA_BAD_OP = 1,
	TORUS_RMA_BAD_FLAGS,	/* @value: the flags that the operation may have */
	TORUS_RMA_BAD_NODE,	/* @value: the highest node */
	TORUS_RMA_BAD_ADDR,	/* @value: the end of the address space */
	TORUS_RMA_BAD_REGION,	/* @value: the highest region */
	TORUS_RMA_BAD_WORD,
	TORUS_RMA_BAD_LOCAL,	/* the context has no such region, or the data pass its end */
	TORUS_RMA_BAD_INLINE,	/* @value: most bytes that may be in @offset */
	TORUS_RMA_BAD_REST,	/* a member that the operation does not use is not 0 */
	TORUS_RMA_BAD_COOKIE,	/* CANCEL: no FE operation or RECV with this cookie is open */
	TORUS_RMA_BAD_LENGTH,	/* SEND: @value: most bytes of a message */
	TORUS_RMA_BAD_COUNT,	/* RECV: @value: most of them that may be posted */
};

#define TORUS_RMA_ACCESS_READ	1
#define TORUS_RMA_ACCESS_WRITE	2
#define TORUS_RMA_ACCESS_AMO	4
#define TORUS_RMA_ACCESS_FE	8

/**
 * struct torus_rma_end - a completion
 * @cookie: of the request
 * @value: AMO and FE: the value before; RECV: tag of the message; otherwise see @reason
 * @bytes: PUT, GET, SEND: how many of its bytes were transferred; if it did not succeed, some may
 *	be; RECV: bytes of the message
 * @node: of the request; RECV: node that sent the message
 * @status: enum torus_rma_status
 * @reason: depends on the status
 * @op: of the request
 * @context: RECV: number of the context that sent the message
 * @zero: 0, as @rest
 */
struct torus_rma_end {
	__u64 cookie;
	__u64 value;
	__u32 bytes;
	__u32 node;
	__u8 status;
	__u8 reason;
	__u8 op;
	__u8 zero;
	__u16 context;
	__u16 rest;
};

/* Bits of @sleeps: the process must ring the doorbell */
#define TORUS_RMA_ASLEEP	1	/* after it has stored @sq_tail */
#define TORUS_RMA_CQ_FULL	2	/* after it has stored @cq_head */

enum torus_rma_broken {
	TORUS_RMA_SQ_TAIL = 1,	/* @sq_tail is more than the size of the SQ ahead of @sq_head */
	TORUS_RMA_CQ_HEAD,	/* @cq_head is not within the size of the CQ before @cq_tail */
};

/**
 * struct torus_rma_head - the beginning of a context
 * @magic: TORUS_RMA_MAGIC; this and the next ones are written once, before the process sees them
 * @version: TORUS_RMA_VERSION
 * @sq_offset: where the SQ begins
 * @cq_offset: where the CQ begins
 * @sq_entries: size of the SQ
 * @cq_entries: size of the CQ
 * @node: number of this node
 * @nodes: of the torus
 * @job: which regions the context may use: those with this job
 * @message_max: most bytes of a message
 * @name: name of the context for messages: its number, and above 16 bits a random key
 * @sq_tail: written by the process, as the next two
 * @cq_head: entries before it may be used again
 * @wants: the process sleeps, and wants to be woken by a completion
 * @sq_head: written by the NIC, as all that follow: requests before it have been taken
 * @sleeps: mask of TORUS_RMA_ASLEEP ...
 * @broken: enum torus_rma_broken
 * @cq_tail: completions before it have been written
 * @naps: how often the NIC has gone to sleep: a process that has rung need not ring again before it
 *	changes
 */
struct torus_rma_head {
	__u32 magic;
	__u32 version;
	__u32 sq_offset;
	__u32 cq_offset;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 node;
	__u32 nodes;
	__u32 job;
	__u32 message_max;
	__u64 name;
	__u32 spare[4];

	__u32 sq_tail;
	__u32 cq_head;
	__u32 wants;
	__u32 process_spare[13];

	__u32 sq_head;
	__u32 sleeps;
	__u32 broken;
	__u32 cq_tail;
	__u32 naps;
	__u32 nic_spare[11];
};

/*
 * How a process gets a context from torusemu: it connects to the SOCK_SEQPACKET socket NAME.rma and
 * sends struct torus_rma_call; each is answered by another one, of the same size. The connection is
 * the context: when it closes, all regions of the context end, and so do its requests, without
 * completions. When the NIC closes it, the NIC has lost its place or ends. A NIC that has no file
 * descriptor left answers before any call, with an error, and closes the connection.
 *
 * How it gets one from torus.ko: it opens /dev/torus, and names a netdev of its network namespace
 * by TORUS_RMA_BIND. The open file is the context, as the connection is above; TORUS_RMA_CALL makes a
 * call, and the struct becomes its answer. An ioctl fails only if no answer can be given: ENOTCONN
 * before TORUS_RMA_BIND, ENODEV if the NIC has lost its place or was removed, EFAULT. After OPEN,
 * mmap() of @bytes bytes from offset 0 gives the rings. write() of 8 bytes is the doorbell; poll()
 * reports POLLIN when the process is woken, until read() has returned 8 bytes, and POLLHUP when the
 * NIC is gone.
 */
#define TORUS_RMA_DEVICE	"/dev/torus"
#define TORUS_RMA_BIND		_IOW(0xe9, 0, struct torus_rma_where)
#define TORUS_RMA_CALL		_IOWR(0xe9, 1, struct torus_rma_call)

/** struct torus_rma_where - the NIC of a context: name of its netdev, which ends with a 0 */
struct torus_rma_where {
	char ifname[16];
};

enum torus_rma_calls {
	/* must be the first request, and is sent once; the answer has three descriptors */
	TORUS_RMA_OPEN = 1,
	/* makes a region: of the memfd that the message carries, or of the memory @memory */
	TORUS_RMA_SHARE,
	TORUS_RMA_UNSHARE,	/* ends @region; -EBUSY: an open request uses the region */
	TORUS_RMA_REGION_GET,	/* describes the region with the lowest number from @region on */
	TORUS_RMA_WAIT_GET,	/* describes the first waiting request from number @bytes on */
};

/*
 * REGION_GET and WAIT_GET need no open context. They describe regions of the caller's job; to job
 * 0, the regions of all jobs. -ENOENT: there is none with this number or a higher one.
 */

/* Descriptors of the answer to OPEN. */
enum torus_rma_fds {
	TORUS_RMA_FD_RINGS,	/* memory: struct torus_rma_head, and the rings after it */
	TORUS_RMA_FD_BELL,	/* eventfd: doorbell of the NIC; the process only writes it */
	/* becomes readable to wake the process, which then reads it until it is empty */
	TORUS_RMA_FD_WAKE,
	TORUS_RMA_FDS,
};

#define TORUS_RMA_HAS_FE	1	/* SHARE: the words have full/empty bits, which are full */
#define TORUS_RMA_STARTS_EMPTY	2	/* SHARE: all full/empty bits are empty at first */
/* SHARE: the region has an address, too, in the space of its job at this node */
#define TORUS_RMA_AT		4

#define TORUS_RMA_WHY_MAX	160

/**
 * struct torus_rma_region_info - a region of this node
 * @bytes: its size
 * @region: its number
 * @context: number of the context that made it
 * @job: job to which it belongs
 * @access: mask of TORUS_RMA_ACCESS_*
 * @flags: TORUS_RMA_HAS_FE, TORUS_RMA_AT
 * @waits: requests that wait for its words
 * @addr: its address, with TORUS_RMA_AT
 */
struct torus_rma_region_info {
	__u64 bytes;
	__u32 region;
	__u32 context;
	__u32 job;
	__u32 access;
	__u32 flags;
	__u32 waits;
	__u64 addr;
};

/**
 * struct torus_rma_wait_info - a request that waits for a word of this node
 * @number: rises with each request that waits
 * @offset: of the word in its region
 * @age_ns: for how long it has waited
 * @value: the word now
 * @operand: of the request
 * @region: number of the region
 * @node: where the request comes from
 * @word: as of a request: TORUS_RMA_WORD_FE ...
 * @full: the word is full
 * @job: job of the request, which is that of the region
 */
struct torus_rma_wait_info {
	__u64 number;
	__u64 offset;
	__u64 age_ns;
	__u64 value;
	__u64 operand;
	__u32 region;
	__u32 node;
	__u16 word;
	__u8 full;
	__u8 zero;
	__u32 job;
};

/**
 * struct torus_rma_call - a call and its answer
 * @call: enum torus_rma_calls
 * @error: of an answer: 0, or a negative errno, and @why
 * @version: of OPEN: TORUS_RMA_VERSION of the process; a NIC with another one refuses with -EPROTO
 * @entries: of OPEN: size of the SQ, a power of two from 1 to 4096
 * @bytes: of the answer to OPEN of /dev/torus: size of the rings; of SHARE: size of the region,
 *	which the memfd has at least; it must be sealed against shrinking (F_SEAL_SHRINK); of
 *	WAIT_GET: the least number
 * @access: of SHARE: mask of TORUS_RMA_ACCESS_*: what others may do with it
 * @flags: of SHARE: TORUS_RMA_HAS_FE ...
 * @region: of the answer to SHARE, as @key: the name of the region; of UNSHARE; of REGION_GET: the
 *	least number
 * @addr: of SHARE with TORUS_RMA_AT: address of the region, a multiple of 8, which the owner
 *	chooses; the region must end at 2^48 and overlap no other one of its job at this node
 * @memory: of SHARE of /dev/torus: address of the region in the process, at the beginning of a
 *	page; its pages stay in memory, and count as locked (RLIMIT_MEMLOCK), until the region ends
 * @why: text of the error
 * @region_info: of the answer to REGION_GET
 * @wait_info: of the answer to WAIT_GET
 */
struct torus_rma_call {
	__u32 call;
	__s32 error;
	__u32 version;
	__u32 entries;
	__u64 bytes;
	__u32 access;
	__u32 flags;
	__u32 region;
	__u32 key;
	__u64 addr;
	union {
		__u64 memory;
		char why[TORUS_RMA_WHY_MAX];
		struct torus_rma_region_info region_info;
		struct torus_rma_wait_info wait_info;
	};
};

#endif /* _UAPI_LINUX_TORUS_RMA_H */
