/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic receive offload: UDP datagrams of one flow that follow one another, equally
 * long (the last may be shorter), go to the host as one message that its kernel cuts up
 * again (UDP segmentation, USO). That is one system call and mostly one passage through
 * the host's network stack instead of one of each for every datagram.
 *
 * What the host's programs receive is the same, byte for byte: the kernel repeats the
 * headers of the first datagram, with lengths and checksums of each and consecutive
 * identifications. So all else in the headers must be equal, and identifications
 * consecutive unless they mean nothing (RFC 6864: DF is set). Only datagrams whose
 * checksum is left to the device are merged (VIRTIO_NET_HDR_F_NEEDS_CSUM), so none is
 * vouched for that was not before.
 */
#ifndef EMU_GRO_H
#define EMU_GRO_H

#include "tn_deps.h"

#define GRO_MAX	64	/* datagrams: what any kernel segments */
#define GRO_HEAD	(10 + 40 + 8)	/* virtio_net_hdr, IPv6, UDP */

/**
 * struct gro - datagrams merged so far
 * @head: headers of the first one, in the end those of the whole
 * @len: bytes of @head
 * @size: payload bytes of each datagram but the last
 * @bytes: payload bytes of all
 * @count: how many; 0: none, the rest means nothing
 * @ended: the last one was shorter, or there is no room for more
 */
struct gro {
	u8 head[GRO_HEAD];
	u32 len;
	u32 size;
	u32 bytes;
	u32 count;
	bool ended;
};

/**
 * gro_begin() - @msg, of @bytes from its virtio_net_hdr on, is the first
 * Return: false: it is no datagram that others may follow.
 */
bool gro_begin(struct gro *g, const u8 *msg, size_t bytes);
/** gro_join() - @msg is the next. Return: false: it does not belong here. */
bool gro_join(struct gro *g, const u8 *msg, size_t bytes);
/** gro_finish() - make @head that of the whole, which all payloads then follow */
void gro_finish(struct gro *g);

#endif /* EMU_GRO_H */
