/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the command line and of fabricweb.conf(5). */
#ifndef FABRICWEB_CONF_H
#define FABRICWEB_CONF_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CONF_PATH_MAX	256

/**
 * struct conf - the options; "" if a path is not given
 * @address, @address_len: where to listen
 * @hosts: names that clients may call this server by, with blanks between them
 * @check: read the configuration, and end
 */
struct conf {
	char listen[64];
	struct sockaddr_storage address;
	int address_len;
	char control[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char tls_cert[CONF_PATH_MAX], tls_key[CONF_PATH_MAX], users[CONF_PATH_MAX];
	char hosts[CONF_PATH_MAX + 256];
	bool allow_changes;
	bool check;
};

/**
 * conf_take() - read the options; those of the command line replace those of the file
 * Prints errors, and the help.
 * Return: -1, or the status to exit with at once.
 */
int conf_take(struct conf *conf, int argc, char **argv);

/** conf_is_open() - Return: true if others than this machine can connect */
bool conf_is_open(const struct conf *conf);

#endif /* FABRICWEB_CONF_H */
