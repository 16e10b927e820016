// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "number.h"
#include "output.h"
#include "slots.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"	/* editors of Windows begin files with this mark */
#define BLANKS " \t\r\n"

/** struct slot_list - what is needed to list slots */
struct slot_list {
	struct slots *out;
	const struct exclusions *table;
	uint32_t each, room;
	bool *taken;		/* for each node, if a host is this node */
};

static int append_slots(struct slot_list *l, uint32_t node, uint32_t count)
{
	struct slots *s = l->out;

	if (l->room - s->n < count) {
		uint32_t room = 2 * l->room + count;
		uint32_t *at = realloc(s->node, room * sizeof(*at)), *number;

		if (!at)
			return fail("out of memory");
		s->node = at;
		number = realloc(s->number, room * sizeof(*number));
		if (!number)
			return fail("out of memory");
		s->number = number;
		l->room = room;
	}
	for (uint32_t i = 0; i < count; i++) {
		s->node[s->n] = node;
		s->number[s->n++] = i;
	}
	return OK;
}

/* Return: node of a host, by name or coordinates; TORUS_NO_NODE if there is none */
static uint32_t find_host(const struct slots *s, const char *host)
{
	uint32_t nodes = torus_nodes(&s->shape);
	struct torus_coords at;

	for (uint32_t id = 0; id < nodes; id++)
		if (s->name[id] && !strcmp(s->name[id], host))
			return id;
	if (torus_coords_parse(host, &s->shape, &at))
		return TORUS_NO_NODE;
	return torus_node_id(&s->shape, &at);
}

/*
 * Reads the words after a host, of which only "slots=SLOTS" counts. Return: OK, or the kind of the
 * error
 */
static int read_host_words(char *words, const char *host, const char **number)
{
	char *save, *word = strtok_r(words, BLANKS, &save);

	for (; word && *word != '#'; word = strtok_r(NULL, BLANKS, &save))
		if (!strncmp(word, "slots=", strlen("slots=")))
			*number = word + strlen("slots=");
		else if (strncmp(word, "max_slots=", strlen("max_slots=")) &&
			 strncmp(word, "max-slots=", strlen("max-slots=")))
			return fail("--hosts: '%s' after host '%s': must be slots=SLOTS",
				    word, host);
	return OK;
}

/* Takes "HOST", "HOST:SLOTS" or "HOST slots=SLOTS", as launchers write it. */
static int take_host(struct slot_list *l, char *text)
{
	char *words = text + strcspn(text, BLANKS), *colon;
	const char *number = NULL;
	uint64_t count = l->each;
	uint32_t node;

	if (*words)
		*words++ = '\0';
	colon = strrchr(text, ':');
	if (colon)
		*colon = '\0', number = colon + 1;
	if (read_host_words(words, text, &number) != OK)
		return CANNOT;
	if (number && number_parse(number, 1, SLOTS_EACH_MAX, &count))
		return fail("--hosts: '%s' slots of host '%s': must be 1 to %u", number, text,
			    SLOTS_EACH_MAX);
	node = find_host(l->out, text);
	if (node == TORUS_NO_NODE)
		return fail("--hosts: '%s': must be a name or coordinates of a node, as 'fabricctl "
			    "nodes' shows them", text);
	if (!l->table->up[node])
		return fail("--hosts: '%s' is not up; 'fabricctl nodes' shows which nodes are",
			    text);
	if (l->taken[node])
		return fail("--hosts: '%s' is given twice; HOST:SLOTS gives a node more slots",
			    text);
	l->taken[node] = true;
	return append_slots(l, node, (uint32_t)count);
}

static int take_list(struct slot_list *l, const char *hosts)
{
	char *copy = strdup(hosts), *rest = copy, *host;
	int status = copy ? OK : fail("out of memory");

	while (status == OK && (host = strsep(&rest, ",")) != NULL)
		status = take_host(l, host);
	free(copy);
	return status;
}

static int take_file(struct slot_list *l, const char *file)
{
	FILE *f = fopen(file, "re");
	char *text = NULL;
	size_t size = 0;
	int status = OK;
	ssize_t n;

	if (!f)
		return fail("%s: %s", file, strerror(errno));
	while (status == OK && (n = getline(&text, &size, f)) >= 0) {
		char *host = text;

		if (!l->out->n && !strncmp(host, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
			host += strlen(BYTE_ORDER_MARK);
		host += strspn(host, BLANKS);
		if (strlen(text) != (size_t)n)
			status = fail("%s: a line has a NUL byte: must be text", file);
		else if (*host && *host != '#')
			status = take_host(l, host);
	}
	if (status == OK && ferror(f))
		status = fail("%s: %s", file, strerror(errno));
	free(text);
	fclose(f);
	return status;
}

static int take_all(struct slot_list *l)
{
	int status = OK;

	for (uint32_t id = 0; status == OK && id < torus_nodes(&l->out->shape); id++)
		if (l->table->up[id] && !l->table->out[id])
			status = append_slots(l, id, l->each);
	return status;
}

static void name_slots(struct slots *s)
{
	uint32_t id;
	size_t i;
	json_t *v;

	json_array_foreach(s->answer, i, v)
		if (!json_node_read(json_object_get(v, "node"), &s->shape, &id))
			s->name[id] = json_text(v, "name");
}

/* Prepares @l, and gives each node of @answer its name. Return: OK or CANNOT */
static int prepare_slots(struct slot_list *l, json_t *answer)
{
	struct slots *s = l->out;

	*s = (struct slots){ .shape = l->table->shape, .answer = json_incref(answer) };
	s->name = calloc(torus_nodes(&s->shape), sizeof(*s->name));
	l->taken = calloc(torus_nodes(&s->shape), sizeof(*l->taken));
	if (!s->name || !l->taken)
		return fail("out of memory");
	name_slots(s);
	return OK;
}

int slots_new(const struct exclusions *table, json_t *nodes, uint32_t each, const char *hosts,
	      struct slots *out)
{
	struct slot_list l = { .out = out, .table = table, .each = each };
	int status = prepare_slots(&l, nodes);

	if (status == OK)
		status = !hosts ? take_all(&l) : *hosts == '@' ? take_file(&l, hosts + 1) :
								 take_list(&l, hosts);
	if (status == OK && !out->n && hosts)
		status = fail("--hosts %s: names no hosts", hosts);
	else if (status == OK && !out->n)
		status = fail("there is no slot: no node is up and in service");
	free(l.taken);
	if (status != OK)
		slots_free(out);
	return status;
}

int slots_of_job(const struct exclusions *table, json_t *members, uint32_t each, struct slots *out,
		 uint32_t *missing)
{
	struct slot_list l = { .out = out, .table = table, .each = each };
	int status = prepare_slots(&l, members);
	uint32_t id;
	size_t i;
	json_t *v;

	*missing = 0;
	json_array_foreach(members, i, v) {
		bool known = !json_node_read(json_object_get(v, "node"), &table->shape, &id);

		if (status != OK)
			break;
		if (known && table->up[id] && !table->out[id])
			status = append_slots(&l, id, each);
		else
			*missing += 1;
	}
	if (status == OK && !out->n)
		status = fail("there is no slot: no node of the job is up and in service");
	free(l.taken);
	if (status != OK)
		slots_free(out);
	return status;
}

void slots_free(struct slots *s)
{
	free(s->node);
	free(s->number);
	free(s->name);
	json_decref(s->answer);
	*s = (struct slots){ .n = 0 };
}
