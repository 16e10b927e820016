/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lab: its description, its files and its state, all in /run/torus/NAME/. lab.json is written
 * before anything else is made and removed last, so that "lab down" always knows what may exist.
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
	LAB_STARTING,		/* lab up is making the lab, or was interrupted */
	LAB_UP,
	LAB_GOING,		/* lab down is removing the lab, or was interrupted */
	LAB_STATES,
};

#define LAB_PLANNED 0

/* Flags of the parts of a node that "lab kill" has ended. */
#define LAB_NO_NIC 1
#define LAB_NO_MANAGER 2
#define LAB_NO_POWER 4		/* the node has no power: its cables are down, too */

#define LAB_REPLACED_MAX 8191	/* largest number for which a GUID has room */

/**
 * struct lab - one lab
 * @lock: descriptor that locks the run directory, or -1
 * @shape: shape of the cabling
 * @auto_shape: the root discovers the shape
 * @packed: all NICs are in one process, all managers in one namespace (pack.h)
 * @bare: namespaces and cables only; no node has been started yet
 * @tun: each node has a torus0, in a namespace of its own; false only in some packed labs
 * @plan: address plan with which the lab was started
 * @service, @service_bits: the service network
 * @pid: process that makes the lab
 * @since: when the lab was made (unix time)
 * @nodes: number of nodes of @shape
 * @cut: a bit for each port whose cable is cut, at both its ends
 * @joined: for each end of a cable that is not plugged as planned, the other end; LAB_PLANNED if it
 *	is plugged as planned
 * @killed: LAB_NO_... for each node
 * @kernel: for each node, true if its NIC is one of the kernel
 * @names: for each node, the name that "lab replace --as" gave it; NULL: that of its place
 * @replaced: how often each node was replaced by another one, LAB_REPLACED_MAX at most
 * @log_level: log level of every NIC and manager
 * @sets: options --set of every NIC
 */
struct lab {
	char name[LAB_NAME_MAX + 1];
	int lock;
	struct torus_shape shape;
	bool auto_shape;
	bool packed;
	bool bare;
	bool tun;
	struct torus_plan plan;
	struct in_addr service;
	unsigned int service_bits;
	enum lab_state state;
	int pid;
	double since;
	uint32_t nodes;
	uint16_t *cut;
	uint16_t *joined;
	uint8_t *killed;
	uint8_t *kernel;
	char **names;
	uint16_t *replaced;
	char log_level[16];
	char *sets[OPT_LIST_MAX + 1];
};

enum lab_lock { LAB_READ, LAB_SHARED, LAB_ALONE };

/**
 * lab_name_check() - check the name of a lab: letters, digits, '-' and '_', a letter first. Return:
 * OK or CANNOT
 */
int lab_name_check(const char *name);
/** lab_new() - initialise @lab, for lab_free(), without its files */
int lab_new(struct lab *lab, const char *name, const struct torus_shape *shape);
void lab_free(struct lab *lab);

/**
 * lab_open() - open the lab that the user means
 * @name: name of the lab; NULL: $TORUS_LAB, or the only lab that exists
 * Prints the error. A lab that is not up is refused unless @lock is LAB_READ.
 * Return: OK or CANNOT.
 */
int lab_open(struct lab *lab, const char *name, enum lab_lock lock);
/** lab_load() - load a lab without messages. Return: 0, -ENOENT, -EINVAL (damaged), ... */
int lab_load(struct lab *lab, const char *name);
/** lab_create() - make the run directory, and lock it. Return: 0, -EEXIST, ... */
int lab_create(struct lab *lab);
/** lab_busy() - Return: true if a process holds the lab's lock */
bool lab_busy(const char *name);
/** lab_save() - write lab.json in one step. Return: 0 or a negative errno */
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
/** lab_process_netns() - namespace of its manager and NIC; in a packed lab all have the same */
char *lab_process_netns(const struct lab *lab, uint32_t node, char *buf);
char *lab_bridge_netns(const struct lab *lab, char *buf);
char *lab_link_text(const struct lab *lab, uint32_t node, unsigned int port, char *buf);
/** lab_port_name() - interface at a node's end of a cable: "px+". @buf: IFNAMSIZ */
char *lab_port_name(const struct lab *lab, unsigned int port, char *buf);
/**
 * lab_path() - /run/torus/NAME/x.y.z/@file; @node TORUS_NO_NODE: the path of a file of the whole
 * lab
 */
char *lab_path(const struct lab *lab, uint32_t node, const char *file, char *buf);
/** lab_device() - the node's NIC: "unix:PATH", or "genl:torus0" inside the node */
char *lab_device(const struct lab *lab, uint32_t node, char *buf);
/**
 * lab_rma() - where the node's NIC offers remote memory: "unix:PATH", or "dev:torus0" inside the
 * node
 */
char *lab_rma(const struct lab *lab, uint32_t node, char *buf);
#define LAB_TEXT_MAX 128

struct in_addr lab_service(const struct lab *lab, uint32_t node);
/** lab_guid() - Return: GUID of a node's NIC, the same at every start until it is replaced */
uint64_t lab_guid(const struct lab *lab, uint32_t node);

/** lab_node_parse() - parse "x,y,z", "nx-y-z" or a name; prints the error. OK or CANNOT */
int lab_node_parse(const struct lab *lab, const char *text, uint32_t *node);
/** lab_node_find() - the same without messages. Return: false if there is no such node */
bool lab_node_find(const struct lab *lab, const char *text, uint32_t *node);
/** lab_rename() - give @node a name that no other node has. Return: 0 or -ENOMEM */
int lab_rename(struct lab *lab, uint32_t node, const char *name);
int lab_link_parse(const struct lab *lab, const char *text, uint32_t *node,
		   unsigned int *port);
/** lab_cable() - Return: true if this port has a cable */
bool lab_cable(const struct lab *lab, unsigned int port);
/** lab_join() - note in the description of the lab that one cable joins these two ends */
void lab_join(struct lab *lab, uint32_t node, unsigned int port, uint32_t peer,
	      unsigned int peer_port);
/** lab_is_swapped() - Return: true if the cable in this port does not lead to the planned end */
bool lab_is_swapped(const struct lab *lab, uint32_t node, unsigned int port);
/** lab_peer() - get the other end of a cable */
void lab_peer(const struct lab *lab, uint32_t node, unsigned int port, uint32_t *peer,
	      unsigned int *peer_port);
/**
 * lab_end_up() - Return: true if this end has to be up: its cable is not cut, and its node has
 * power
 */
bool lab_end_up(const struct lab *lab, uint32_t node, unsigned int port);

#endif /* LAB_H */
