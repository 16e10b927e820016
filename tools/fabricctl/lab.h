/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lab: what it is, where its files are, what has been done to it. Everything
 * lies in /run/torus/NAME/; lab.json is written first of all and removed last,
 * so that whatever happens "lab down" knows what there may be.
 */
#ifndef LAB_H
#define LAB_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

#include "command.h"

#define LAB_RUN "/run/torus"
#define LAB_NETNS "/run/netns"
#define LAB_ETC "/etc/netns"
#define LAB_NAME_MAX 31
#define LAB_NODES_MAX 1024
#define LAB_SERVICE_PORT 7117
#define LAB_INTERFACE "torus0"

enum lab_state {
	LAB_STARTING,		/* lab up works on it, or was interrupted */
	LAB_UP,
	LAB_GOING,		/* lab down works on it, or was interrupted */
	LAB_STATES,
};

/* The parts of a node that "lab kill" has ended. */
#define LAB_NO_NIC 1
#define LAB_NO_MANAGER 2
#define LAB_NO_POWER 4		/* and its cables */

#define LAB_REPLACED_MAX 8191	/* as many as a GUID has room for */

/**
 * struct lab - one lab
 * @lock: of its run directory, or -1
 * @shape: of the cabling
 * @auto_shape: the root discovers the shape
 * @packed: all NICs are in one process, all managers in one namespace (pack.h)
 * @bare: namespaces and cables only; no node has been started yet
 * @tun: nodes have a torus0, in namespaces of their own; not all of those packed have
 * @service, @service_bits: the service network
 * @pid, @since: who raises it, and when (unix time)
 * @nodes: of @shape
 * @cut: a bit for each port whose cable is cut, at both its ends
 * @killed: LAB_NO_... for each node
 * @kernel: for each node, is its NIC one of the kernel?
 * @names: for each node, the name that "lab replace --as" gave it; NULL: that of its place
 * @replaced: how often each node was replaced by another one, LAB_REPLACED_MAX at most
 * @log_level, @sets: what every NIC and manager is told
 */
struct lab {
	char name[LAB_NAME_MAX + 1];
	int lock;
	struct torus_shape shape;
	bool auto_shape;
	bool packed;
	bool bare;
	bool tun;
	struct in_addr service;
	unsigned int service_bits;
	enum lab_state state;
	int pid;
	double since;
	uint32_t nodes;
	uint16_t *cut;
	uint8_t *killed;
	uint8_t *kernel;
	char **names;
	uint16_t *replaced;
	char log_level[16];
	char *sets[OPT_LIST_MAX + 1];
};

enum lab_lock { LAB_READ, LAB_SHARED, LAB_ALONE };

/** lab_name_check() - letters, digits, '-' and '_', a letter first. OK or CANNOT */
int lab_name_check(const char *name);
/** lab_new() - all but the files; @lab is to be freed by lab_free() */
int lab_new(struct lab *lab, const char *name, const struct torus_shape *shape);
void lab_free(struct lab *lab);

/**
 * lab_open() - the lab that the user means
 * @name: or NULL: $TORUS_LAB, or the only one there is
 * Says what is wrong. A lab that is not up is refused unless @lock is LAB_READ.
 * Return: OK or CANNOT.
 */
int lab_open(struct lab *lab, const char *name, enum lab_lock lock);
/** lab_load() - quietly. Return: 0, -ENOENT, -EINVAL (damaged), ... */
int lab_load(struct lab *lab, const char *name);
/** lab_create() - makes the run directory and locks it. Return: 0, -EEXIST, ... */
int lab_create(struct lab *lab);
/** lab_busy() - somebody works on it right now; a half-dead lab is not busy */
bool lab_busy(const char *name);
/** lab_save() - writes lab.json in one step. Return: 0 or a negative errno */
int lab_save(const struct lab *lab);

/** lab_each() - call @fn with every name in /run/torus that holds a lab */
int lab_each(int (*fn)(const char *name, void *arg), void *arg);

/*
 * Texts of a node: its name; the name of its place, "n0-1-2", which is its name unless it was given
 * another; "NAME-x.y.z". Return @buf.
 */
char *lab_place_name(const struct lab *lab, uint32_t node, char *buf);
char *lab_host(const struct lab *lab, uint32_t node, char *buf);
char *lab_netns(const struct lab *lab, uint32_t node, char *buf);
/** lab_process_netns() - that of its manager and NIC; packed, all have the same */
char *lab_process_netns(const struct lab *lab, uint32_t node, char *buf);
char *lab_bridge_netns(const struct lab *lab, char *buf);
char *lab_link_text(const struct lab *lab, uint32_t node, unsigned int port, char *buf);
/** lab_port_name() - interface at a node's end of a cable: "px+". @buf: IFNAMSIZ */
char *lab_port_name(const struct lab *lab, unsigned int port, char *buf);
/** lab_path() - /run/torus/NAME/x.y.z/@file; @node TORUS_NO_NODE: the lab's own */
char *lab_path(const struct lab *lab, uint32_t node, const char *file, char *buf);
/** lab_device() - the node's NIC: "unix:PATH", or "genl:torus0" inside the node */
char *lab_device(const struct lab *lab, uint32_t node, char *buf);
#define LAB_TEXT_MAX 128

struct in_addr lab_service(const struct lab *lab, uint32_t node);
/** lab_guid() - of a node's NIC; the same whenever it is started, until the node is replaced */
uint64_t lab_guid(const struct lab *lab, uint32_t node);

/** lab_node_parse() - "x,y,z", "nx-y-z" or its name; says what is wrong. OK or CANNOT */
int lab_node_parse(const struct lab *lab, const char *text, uint32_t *node);
/** lab_node_find() - the same, quietly. Return: false: no node is meant by it */
bool lab_node_find(const struct lab *lab, const char *text, uint32_t *node);
/** lab_rename() - gives @node a name, which means no other node. Return: 0 or -ENOMEM */
int lab_rename(struct lab *lab, uint32_t node, const char *name);
int lab_link_parse(const struct lab *lab, const char *text, uint32_t *node,
		   unsigned int *port);
/** lab_cable() - does this port have one? */
bool lab_cable(const struct lab *lab, unsigned int port);
/** lab_peer() - the other end of a cable */
void lab_peer(const struct lab *lab, uint32_t node, unsigned int port, uint32_t *peer,
	      unsigned int *peer_port);
/** lab_end_up() - is the end of this cable to be up? Not if cut or without power */
bool lab_end_up(const struct lab *lab, uint32_t node, unsigned int port);

#endif /* LAB_H */
