/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic receive offload: successive UDP datagrams of one flow, of equal length (the last may be
 * shorter), go to the host as one message, which its kernel segments again (USO). That takes one
 * system call, and mostly one passage through the host's network stack, instead of one of each for
 * every datagram.
 *
 * The host's programs receive the same bytes: the kernel repeats the headers of the first datagram,
 * with lengths and checksums of each datagram and consecutive identifications. So all other header
 * fields must be equal, and identifications must be consecutive unless they have no meaning
 * (RFC 6864: DF is set). Only datagrams whose checksum is left to the device are merged
 * (VIRTIO_NET_HDR_F_NEEDS_CSUM), so a wrong checksum is never replaced by a right one.
 */
#ifndef EMU_GRO_H
#define EMU_GRO_H

#include "tn_deps.h"

#define GRO_MAX	64	/* most datagrams in a message; each kernel with USO segments this many */
#define GRO_HEAD	(10 + 40 + 8)	/* bytes of virtio_net_hdr, IPv6 and UDP headers */

/**
 * struct gro - datagrams merged so far
 * @head: headers of the first datagram; after gro_finish(), headers of the merged message
 * @len: bytes of @head
 * @size: payload of each datagram but the last, bytes
 * @bytes: payload of all datagrams, bytes
 * @count: number of datagrams, at most GRO_MAX; 0: there is no datagram, and the other members are
 *	undefined
 * @ended: no more datagrams can be merged, because the last one was shorter or there is no room
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
 * gro_begin() - begin to merge, with the datagram in @msg of @bytes, which begins with a
 * virtio_net_hdr
 * Return: false if no other datagram can be merged with this message.
 */
bool gro_begin(struct gro *g, const u8 *msg, size_t bytes);
/** gro_join() - merge the next message. Return: false if it cannot be merged. */
bool gro_join(struct gro *g, const u8 *msg, size_t bytes);
/** gro_finish() - make @head the headers of the merged message; all payloads follow it */
void gro_finish(struct gro *g);

#endif /* EMU_GRO_H */
