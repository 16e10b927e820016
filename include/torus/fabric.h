/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtorus: questions to the fabric manager of this node, over its control
 * socket: one JSON object a line each way. daemon/CONTROL.md has the requests.
 */
#ifndef TORUS_FABRIC_H
#define TORUS_FABRIC_H

#include <stdint.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct torus_fabric;

/** torus_fabric_open() - @path NULL: $TORUS_CONTROL or /run/fabricd/control */
int torus_fabric_open(const char *path, struct torus_fabric **fp);
void torus_fabric_close(struct torus_fabric *f);
const char *torus_fabric_error(const struct torus_fabric *f);

/**
 * torus_fabric_call() - one request, one reply
 * @request: JSON object, no newline
 * @reply: JSON text, to be freed by the caller
 * Return: 0, or a negative errno: -ETIMEDOUT, -ECONNRESET, ...
 */
int torus_fabric_call(struct torus_fabric *f, const char *request, char **reply,
		      int timeout_ms);
/** torus_fabric_fd(), torus_fabric_next() - for requests with many replies */
int torus_fabric_fd(const struct torus_fabric *f);
int torus_fabric_next(struct torus_fabric *f, char **reply, int timeout_ms);

/* Shape of the fabric and this node's coordinates. */
int torus_fabric_place(struct torus_fabric *f, struct torus_shape *shape,
		       struct torus_coords *own);
/** torus_fabric_node() - coordinates of a node by name or as "x,y,z" */
int torus_fabric_node(struct torus_fabric *f, const char *name, struct torus_coords *at);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_FABRIC_H */
