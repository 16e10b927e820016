/* SPDX-License-Identifier: GPL-2.0-only */
/* Service addresses: "10.1.0.3:7117" or "[fd00::3]:7117". */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <sys/socket.h>

/**
 * address_parse() - parse a numeric IP address and a port from 1 to 65535; @text must contain
 * nothing after the port
 * Return: 0, or -EINVAL.
 */
int address_parse(const char *text, struct sockaddr_storage *out, socklen_t *len);
/** address_text() - write an address as text. Return: @buf, of FM_ADDR_MAX bytes */
char *address_text(const struct sockaddr_storage *a, char *buf);

#endif /* ADDRESS_H */
