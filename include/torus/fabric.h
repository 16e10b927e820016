/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtorus: requests to the fabric manager of this node, over its control socket. Requests and
 * replies are JSON objects of one line; fabricd-control(7) describes them.
 *
 * Functions return 0 or a negative errno; torus_fabric_error() then has the text. A handle is not
 * thread-safe.
 */
#ifndef TORUS_FABRIC_H
#define TORUS_FABRIC_H

#include <stdint.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct torus_fabric;

/**
 * torus_fabric_open() - connect to fabricd
 * @path: path of the control socket; NULL: $TORUS_CONTROL or /run/fabricd/control
 * @fp: set to the handle, which the caller closes with torus_fabric_close(); unchanged on error
 * Return: 0, or a negative errno: -ECONNREFUSED, -ENOENT, ...
 */
int torus_fabric_open(const char *path, struct torus_fabric **fp);
/** torus_fabric_close() - close the connection and free @f, which may be NULL */
void torus_fabric_close(struct torus_fabric *f);
/**
 * torus_fabric_error() - Return: text of the last error; with @f NULL, text of the last error of
 * torus_fabric_open()
 */
const char *torus_fabric_error(const struct torus_fabric *f);

/**
 * torus_fabric_call() - send one request and wait for its reply
 * @f: the handle
 * @request: JSON object without a newline
 * @reply: gets the reply, a JSON text that the caller frees with free()
 * @timeout_ms: longest time to wait
 * Return: 0, or a negative errno: -ETIMEDOUT, -ECONNRESET, ...; after an error, the next call
 * connects again.
 */
int torus_fabric_call(struct torus_fabric *f, const char *request, char **reply,
		      int timeout_ms);
/**
 * torus_fabric_fd() - Return: descriptor that becomes readable when a further reply of the request
 * arrives
 */
int torus_fabric_fd(const struct torus_fabric *f);
/**
 * torus_fabric_next() - wait for a further reply of the last request; arguments and result are
 * those of torus_fabric_call()
 */
int torus_fabric_next(struct torus_fabric *f, char **reply, int timeout_ms);

/**
 * torus_fabric_place() - get the shape of the fabric and the coordinates of this node
 * Return: 0; -EAGAIN while the fabric has no shape or the node no coordinates.
 */
int torus_fabric_place(struct torus_fabric *f, struct torus_shape *shape,
		       struct torus_coords *own);
/** torus_fabric_node() - get the coordinates of the node @name: its name, or "x,y,z" */
int torus_fabric_node(struct torus_fabric *f, const char *name, struct torus_coords *at);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_FABRIC_H */
