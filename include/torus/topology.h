/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shape, coordinates and directions, as text and as IP addresses.
 *
 * Text forms: shape "4x4x2"; coordinates "1,0,3"; port "+x" to "-c"; link "1,0,3:+y". Parsers take
 * the whole text, and return 0, -EINVAL, or -ERANGE for a value beyond a limit. Functions take
 * valid shapes, and node ids below torus_nodes().
 */
#ifndef TORUS_TOPOLOGY_H
#define TORUS_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TORUS_TEXT_MAX 64	/* room for any text made here */

/** torus_nodes() - Return: number of nodes; 0 if the shape breaks a limit */
uint32_t torus_nodes(const struct torus_shape *shape);
uint32_t torus_node_id(const struct torus_shape *shape, const struct torus_coords *at);
void torus_node_coords(const struct torus_shape *shape, uint32_t id,
		       struct torus_coords *at);
/** torus_neighbour() - Return: id of the node one hop along @dir */
uint32_t torus_neighbour(const struct torus_shape *shape, uint32_t id, unsigned int dir);
unsigned int torus_dir_opposite(const struct torus_shape *shape, unsigned int dir);
/** torus_distance() - Return: hops of a minimal path, with all cables healthy */
uint32_t torus_distance(const struct torus_shape *shape, uint32_t a, uint32_t b);

int torus_shape_parse(const char *text, struct torus_shape *out);
int torus_coords_parse(const char *text, const struct torus_shape *shape,
		       struct torus_coords *out);
int torus_port_parse(const char *text, unsigned int ndims, unsigned int *port);
int torus_link_parse(const char *text, const struct torus_shape *shape,
		     uint32_t *node, unsigned int *port);
/* These write the text into @buf (TORUS_TEXT_MAX bytes) and return @buf. */
char *torus_shape_text(const struct torus_shape *shape, char *buf);
char *torus_coords_text(const struct torus_shape *shape, const struct torus_coords *at,
			char *buf);
char *torus_node_text(const struct torus_shape *shape, uint32_t id, char *buf);
char *torus_port_text(unsigned int ndims, unsigned int port, char *buf);

/*
 * Addresses of torus0. IPv6: fd74:6f72:x:y:z:a:b:c, a group for each coordinate.
 * IPv4, for up to 3 dimensions of at most 255 nodes: 10.x.y.z; else 10.0.0.0
 * plus the node id.
 */
struct in_addr torus_addr4(const struct torus_shape *shape, uint32_t id);
struct in6_addr torus_addr6(const struct torus_shape *shape, uint32_t id);
/* Return: id of the node with this address, or TORUS_NO_NODE. */
uint32_t torus_node_of_addr4(const struct torus_shape *shape, struct in_addr a);
uint32_t torus_node_of_addr6(const struct torus_shape *shape, const struct in6_addr *a);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_TOPOLOGY_H */
