/* SPDX-License-Identifier: GPL-2.0-only */
/* Printing of JSON, and reading of coordinates in it. */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>
#include <torus/topology.h>

/**
 * json_show() - print @j, in its envelope after json_full(), and drop the reference; @j NULL: print
 * "out of memory"
 */
void json_show(json_t *j);
/** json_full() - print later answers in an envelope: {data, missing, rootless} */
void json_full(void);
/**
 * json_missing() - set two members of the envelope of the next answer
 * @nodes: nodes that did not answer
 * @rootless: text that says that the answer was made without the root; NULL: it was not
 */
void json_missing(const json_t *nodes, const json_t *rootless);
/** json_code() - set the code of a refusal by the manager */
void json_code(const char *code);
/**
 * json_failed() - print an error object, unless an answer was printed
 * @status: exit status; OK: forget that an answer was printed; called before a command repeats its
 *	output
 */
void json_failed(int status);
json_t *json_shape(const struct torus_shape *shape);
json_t *json_node(const struct torus_shape *shape, uint32_t id);
/** json_shape_read() - read a shape. Return: 0 or -EINVAL */
int json_shape_read(const json_t *j, struct torus_shape *shape);
/** json_node_read() - read coordinates. Return: 0 or -EINVAL */
int json_node_read(const json_t *j, const struct torus_shape *shape, uint32_t *id);

/** json_names_set() - set the answer to "nodes", so that later texts have names of nodes */
void json_names_set(const json_t *nodes);

/** json_coords_text() - write coordinates as 1,0; "-" for null */
char *json_coords_text(const json_t *j, char *buf);
/*
 * The functions below write texts for people, "-" for null. After json_names_set(), texts have
 * names of nodes in place of coordinates. @buf has TORUS_TEXT_MAX bytes.
 */
/** json_id_text() - write the node @id */
char *json_id_text(const struct torus_shape *shape, uint32_t id, char *buf);
char *json_node_text(const json_t *j, char *buf);
/** json_end_text() - write {"node","port"} as 1,0:+x */
char *json_end_text(const json_t *j, char *buf);

/* The functions below read members of an object; a missing member is 0, NULL or false. */
const char *json_text(const json_t *j, const char *key);
uint64_t json_count(const json_t *j, const char *key);

#endif /* JSON_H */
