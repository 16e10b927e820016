/* SPDX-License-Identifier: GPL-2.0-only */
/* A fabricweb for each node of a lab, all in the network of the host. */
#ifndef WEB_H
#define WEB_H

#include "lab.h"

/** web_find() - find fabricweb, or print that it is missing. Return: OK or CANNOT */
int web_find(void);
/**
 * web_start() - start a fabricweb for each node, at free ports of 127.0.0.1
 * @port: gets the port of each node's fabricweb
 * Return: OK; CANNOT after printing the error.
 */
int web_start(const struct lab *lab, uint16_t *port);
/** web_url() - Return: @buf, LAB_TEXT_MAX bytes, set to the address of a node's page */
char *web_url(uint16_t port, char *buf);

#endif /* WEB_H */
