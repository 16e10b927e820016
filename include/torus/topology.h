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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* TORUS_TEXT_MAX is enough for each text that these functions write */
#define TORUS_TEXT_MAX 64

/** torus_nodes() - Return: number of nodes; 0 if the shape breaks a limit */
uint32_t torus_nodes(const struct torus_shape *shape);
uint32_t torus_node_id(const struct torus_shape *shape, const struct torus_coords *at);
void torus_node_coords(const struct torus_shape *shape, uint32_t id,
		       struct torus_coords *at);
/** torus_neighbour() - Return: id of the neighbour in direction @dir */
uint32_t torus_neighbour(const struct torus_shape *shape, uint32_t id, unsigned int dir);
unsigned int torus_dir_opposite(const struct torus_shape *shape, unsigned int dir);
/** torus_distance() - Return: hops of a minimal path if all cables are healthy */
uint32_t torus_distance(const struct torus_shape *shape, uint32_t a, uint32_t b);

int torus_shape_parse(const char *text, struct torus_shape *out);
int torus_coords_parse(const char *text, const struct torus_shape *shape,
		       struct torus_coords *out);
int torus_port_parse(const char *text, unsigned int ndims, unsigned int *port);
int torus_link_parse(const char *text, const struct torus_shape *shape,
		     uint32_t *node, unsigned int *port);
/* The functions below write the text into @buf (TORUS_TEXT_MAX bytes) and return @buf. */
char *torus_shape_text(const struct torus_shape *shape, char *buf);
char *torus_coords_text(const struct torus_shape *shape, const struct torus_coords *at,
			char *buf);
char *torus_node_text(const struct torus_shape *shape, uint32_t id, char *buf);
char *torus_port_text(unsigned int ndims, unsigned int port, char *buf);

/*
 * Addresses of torus0, by the address plan of the fabric: torus(4) has the rule. The default plan
 * is 10.0.0.0/8 and fd74:6f72::/32. Functions take a plan that is valid and holds the shape.
 */
void torus_plan_default(struct torus_plan *plan);
/** torus_plan_valid() - Return: true if both prefixes may be used for addresses of nodes */
bool torus_plan_valid(const struct torus_plan *plan);
/** torus_plan_holds4() - Return: true if the IPv4 prefix has an address for each node of @shape */
bool torus_plan_holds4(const struct torus_plan *plan, const struct torus_shape *shape);
bool torus_plan_holds6(const struct torus_plan *plan, const struct torus_shape *shape);
/**
 * torus_plan_longest() - Return: length of the longest prefix, of addresses with @bits bits, that
 *	holds @shape
 */
unsigned int torus_plan_longest(const struct torus_shape *shape, unsigned int bits);
/** torus_plan_parse4() - set the IPv4 prefix from "10.0.0.0/8". Return: 0 or -EINVAL */
int torus_plan_parse4(const char *text, struct torus_plan *plan);
int torus_plan_parse6(const char *text, struct torus_plan *plan);
/* The two functions below write the prefix into @buf (TORUS_TEXT_MAX bytes) and return @buf. */
char *torus_plan_text4(const struct torus_plan *plan, char *buf);
char *torus_plan_text6(const struct torus_plan *plan, char *buf);
struct in_addr torus_plan_addr4(const struct torus_plan *plan, const struct torus_shape *shape,
				uint32_t id);
struct in6_addr torus_plan_addr6(const struct torus_plan *plan, const struct torus_shape *shape,
				 uint32_t id);
/* Return: id of the node with this address, or TORUS_NO_NODE. */
uint32_t torus_plan_node4(const struct torus_plan *plan, const struct torus_shape *shape,
			  struct in_addr a);
uint32_t torus_plan_node6(const struct torus_plan *plan, const struct torus_shape *shape,
			  const struct in6_addr *a);

/* The following functions do the same with the default plan. */
struct in_addr torus_addr4(const struct torus_shape *shape, uint32_t id);
struct in6_addr torus_addr6(const struct torus_shape *shape, uint32_t id);
uint32_t torus_node_of_addr4(const struct torus_shape *shape, struct in_addr a);
uint32_t torus_node_of_addr6(const struct torus_shape *shape, const struct in6_addr *a);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_TOPOLOGY_H */
