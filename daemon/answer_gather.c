// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers that are gathered from several nodes.
 *
 * A list of items of all nodes would take the root twenty times the memory of its text if it was
 * made as one JSON value, and a client that reads slowly would keep that memory occupied. So the
 * root keeps the answers of nodes as text, and asks a large fabric piece by piece: the next nodes
 * are asked when the items of those before are written. A client of the control socket gets the
 * items of one node after the other (request.more); while it does not read, nothing is made for it.
 * For a node that passed the request on, the text of the reply is collected, because the message
 * ANSWER carries it as a whole. That node waits little longer than this one waits for a silent
 * node, so all nodes are asked at once.
 *
 * Those texts are limited: one request keeps at most CONTROL_REPLY_MAX bytes of them, and all
 * requests together ANSWER_KEPT_MAX. A request that would need more ends with an error, and is
 * counted. Lists that are asked piece by piece are not counted: each keeps one piece, and the
 * number of clients is limited (control.c). Whole replies are written one at a time, so no more
 * than one of them takes memory besides the texts.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/control.h"
#include "daemon/log.h"
#include "daemon/query.h"

#define SEND_BYTES	16384		/* text is sent when there is this much of it */
#define SLOW		(3 * SEC)	/* wait for silent nodes after which all the rest are asked
					 * at once, because clients wait only some seconds */
#define DUMP		(JSON_COMPACT | JSON_REAL_PRECISION(15))

/**
 * struct gathering - the answers to a request that is sent to several nodes
 * @end: makes the reply from the answers of all nodes; NULL: the reply is @list
 * @shape, @n: sizes of the fabric, and number of its nodes
 * @from, @to: the nodes that are asked now are @from to @to - 1
 * @last: the request is about nodes before this one
 * @piece: most nodes that are asked at once
 * @next: node whose items are written next
 * @awaited: number of nodes that should answer and have not answered yet
 * @asked: time of the question; @waited: how long answers were waited for before
 * @begun: a part of the reply has been sent
 * @whole: all nodes are asked at once, so the texts kept count
 * @kept: bytes of the texts that count
 * @full: there was no memory for the reply
 * @too_long: the texts, or the whole reply, would be longer than a reply may be
 * @crowded: the texts of all requests would take too much memory
 * @items: number of items written
 * @missing: coordinates of nodes that should have answered and did not answer
 * @out, @len, @room: text of the reply that was not sent yet
 * @only: the answer of the node if only one is asked, and the reply is not a list
 * @text: the other answers by node
 */
struct gathering {
	void (*end)(struct request *rq, json_t **by_node, uint32_t n);
	const struct listing *list;
	struct torus_shape shape;
	uint32_t n, from, to, last, piece, next;
	uint32_t awaited;
	uint64_t asked, waited, items;
	size_t kept;
	struct meter *meter;
	bool begun, whole, full, too_long, crowded;
	json_t *missing;
	char *out;
	size_t len, room;
	json_t *only;
	char *text[];
};

void gathering_free(struct gathering *g)
{
	for (uint32_t i = 0; g && i < g->n; i++)
		free(g->text[i]);
	if (g) {
		g->meter->kept -= g->kept;
		json_decref(g->missing);
		json_decref(g->only);
		free(g->out);
	}
	free(g);
}

static bool is_asked(const struct gathering *g, uint32_t node)
{
	return node >= g->from && node < g->to;
}

/* Return: true if the reply has to list @node as missing in case that node does not answer. */
static bool is_answer_awaited(const struct request *rq, uint32_t node)
{
	const struct fm_entry *e =
		rq->d->fm && is_asked(rq->g, node) ? fm_node(rq->d->fm, node) : NULL;

	if (!e || e->state == FM_NODE_UP)
		return e;
	/*
	 * If the manager of a node that is out of service is silent, the answer is waited for only
	 * if the request names this node alone.
	 */
	return e->state == FM_NODE_SILENT &&
	       (rq->node != TORUS_NO_NODE || !fm_out_of_service(rq->d->fm, node));
}

/* Return: true if the request names one node, whose failure is the failure of the request. */
static bool is_about_one(const struct request *rq)
{
	return rq->node != TORUS_NO_NODE && !rq->count;
}

static json_t *parse_answer(const char *text)
{
	return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

static void count_answer(struct request *rq, uint32_t node)
{
	struct gathering *g = rq->g;

	if (is_answer_awaited(rq, node) && g->awaited && !--g->awaited)
		query_enough(rq->ask);
}

/* Counts a text that is to be kept. Return: false if it must not be kept */
static bool reserve_text(struct gathering *g, size_t bytes)
{
	if (!g->whole)
		return true;
	if (g->kept + bytes > CONTROL_REPLY_MAX)
		g->too_long = true;
	else if (g->meter->kept + bytes > ANSWER_KEPT_MAX)
		g->crowded = true;
	if (g->too_long || g->crowded)
		return false;
	g->kept += bytes;
	g->meter->kept += bytes;
	return true;
}

static void gathered_text(void *arg, uint32_t node, const char *text)
{
	struct request *rq = arg;
	struct gathering *g = rq->g;

	if (node >= g->n || g->text[node] || !is_asked(g, node))
		return;
	if (reserve_text(g, strlen(text) + 1))
		g->text[node] = strdup(text);
	else
		query_enough(rq->ask);
	count_answer(rq, node);
}

static void gathered_item(void *arg, uint32_t node, json_t *data)
{
	struct request *rq = arg;
	struct gathering *g = rq->g;

	if (node != rq->node || g->only)
		return;
	g->only = json_incref(data);
	count_answer(rq, node);
}

/* Ends a request whose answers cannot all be kept. Return: true then. */
static bool refuse_unkept(struct request *rq)
{
	const struct gathering *g = rq->g;

	if (!g->too_long && !g->crowded)
		return false;
	g->meter->unkept++;
	if (g->too_long)
		answer_error(rq, "failed", "the reply is longer than 16 MiB: ask for one node");
	else
		answer_error(rq, "failed", "other requests keep the memory for replies: try again");
	return true;
}

/* --- a reply that is made from all answers at once ----------------------------- */

/* Parses the answers, and lets @end make the reply, which frees the request. */
static void end_whole(struct request *rq)
{
	struct gathering *g = rq->g;
	json_t **by_node;

	if (refuse_unkept(rq))
		return;
	by_node = calloc(g->n, sizeof(*by_node));
	if (!by_node) {
		answer_error(rq, "failed", "out of memory");
		return;
	}
	for (uint32_t i = g->from; i < g->to; i++)
		by_node[i] = g->only ? json_incref(g->only) : parse_answer(g->text[i]);
	rq->g = NULL;
	g->end(rq, by_node, g->n);
	for (uint32_t i = g->from; i < g->to; i++)
		json_decref(by_node[i]);
	free(by_node);
	gathering_free(g);
	malloc_trim(0);
}

/* --- a reply that is a list, written node by node -------------------------------- */

/* Appends @text to the reply. If out of memory, the reply ends with an error. */
static void append_reply(struct gathering *g, const char *text)
{
	size_t n = strlen(text), room = g->room ? g->room : 4096;
	char *out;

	g->too_long |= g->whole && !g->begun && g->len + n > CONTROL_REPLY_MAX;
	if (g->full || g->too_long)
		return;
	while (room < g->len + n + 1)
		room *= 2;
	out = room == g->room ? g->out : realloc(g->out, room);
	if (!out) {
		g->full = true;
		return;
	}
	g->out = out;
	g->room = room;
	memcpy(out + g->len, text, n + 1);
	g->len += n;
}

/* Appends @before and the text of @j; takes over the reference to @j. */
static void write_json(struct gathering *g, const char *before, json_t *j)
{
	char *text = json_dumps(j, DUMP | JSON_ENCODE_ANY);

	if (text) {
		append_reply(g, before);
		append_reply(g, text);
	} else {
		g->full = true;
	}
	free(text);
	json_decref(j);
}

/* Appends the items in @list; takes over the reference to @list. */
static void write_list(struct request *rq, json_t *list)
{
	struct gathering *g = rq->g;
	json_t *v;
	size_t i;

	if (rq->cmd->flags & ANSWER_KNOWN)
		answer_label(rq, list);
	json_array_foreach(list, i, v)
		write_json(g, g->items++ ? "," : "", json_incref(v));
	json_decref(list);
}

/*
 * Return: the end of the first element of an array, whose text without the bracket at the begin is
 * @at: the comma or the bracket after it; NULL: the array is not complete.
 */
static char *element_end(char *at)
{
	unsigned int depth = 0;
	bool quoted = false;

	for (; *at; at++) {
		if (quoted && *at == '\\' && at[1])
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (!quoted && !depth && (*at == ',' || *at == ']'))
			return at;
		else if (!quoted && (*at == '[' || *at == '{'))
			depth++;
		else if (!quoted && (*at == ']' || *at == '}'))
			depth--;
	}
	return NULL;
}

/* Writes the items that are made from @answer; takes over the reference to it. */
static void write_answer(struct request *rq, uint32_t node, json_t *answer)
{
	json_t *items = rq->g->list->items(rq, node, answer);

	if (items)
		write_list(rq, items);
	else
		rq->g->full = true;
	json_decref(answer);
}

/*
 * Writes the items of an array one after the other, because a JSON value takes more memory than its
 * text. Return: false if a part of the array could not be read.
 */
static bool write_elements(struct request *rq, uint32_t node, char *at)
{
	bool whole = true;
	char *end;

	while ((end = element_end(at))) {
		bool last = *end == ']', empty = end == at;
		json_t *answer;

		*end = '\0';
		answer = empty ? NULL : json_pack("[o]", parse_answer(at));
		if (answer)
			write_answer(rq, node, answer);
		whole &= answer || empty;
		if (last)
			return whole;
		at = end + 1;
	}
	return false;
}

/*
 * Writes the items of one node. A node that could not ask its NIC is missing, and so is one whose
 * answer cannot be read as a whole.
 */
static void write_node(struct request *rq, uint32_t node)
{
	struct gathering *g = rq->g;
	char *text = g->text[node];
	bool array = text && *text == '[';
	json_t *answer = array ? NULL : parse_answer(text);
	bool answered;

	g->text[node] = NULL;
	if (json_is_string(json_object_get(answer, "error"))) {
		json_decref(answer);
		answer = NULL;
	}
	answered = array ? write_elements(rq, node, text + 1) : answer != NULL;
	if (!array && (answer || g->list->unanswered))
		write_answer(rq, node, answer);
	if (!answered && is_answer_awaited(rq, node) &&
	    json_array_append_new(g->missing, node_json(rq->d, node)))
		g->full = true;
	free(text);
}

/*
 * Ends a reply of which a part was sent already, and so cannot become an error: the client sees
 * that the connection ends in the middle of the reply.
 */
static void break_off(struct request *rq, const char *why)
{
	bool (*more)(void *arg, const char *text, size_t len) = rq->more;
	void *arg = rq->arg;

	log_warning("control", "the reply to '%s' is broken off: %s", rq->cmd->name, why);
	answer_drop(rq);
	more(arg, NULL, 0);
}

/* Return: true if the fabric is still the one that was asked; else the request has ended. */
static bool is_same_fabric(struct request *rq)
{
	struct gathering *g = rq->g;
	const struct fm *fm = rq->d->fm;

	if (fm && fm_own(fm) != TORUS_NO_NODE && !memcmp(fm_shape(fm), &g->shape, sizeof(g->shape)))
		return true;
	if (g->begun)
		break_off(rq, "the fabric begins anew");
	else if (answer_ready(rq))
		answer_error(rq, "failed", "the fabric begins anew: try again");
	return false;
}

/* Sends what is written. Return: true if the client can take more. */
static bool send_written(struct request *rq)
{
	struct gathering *g = rq->g;
	size_t len = g->len;

	if (!rq->more || len < SEND_BYTES)
		return true;
	g->begun = true;
	g->len = 0;
	return rq->more(rq->arg, g->out, len);
}

static void write_list_end(struct request *rq)
{
	struct gathering *g = rq->g;
	char *text;

	if (g->to == g->n && g->list->rest)
		write_list(rq, g->list->rest(rq));
	append_reply(g, "]");
	if (json_array_size(g->missing))
		write_json(g, ",\"missing\":", json_incref(g->missing));
	if (rq->rootless)
		write_json(g, ",\"rootless\":", rootless_json(rq));
	append_reply(g, "}");
	if (g->full && g->begun) {
		break_off(rq, "out of memory");
		return;
	}
	if (refuse_unkept(rq))
		return;
	text = g->full ? NULL : g->out;
	if (text)
		g->out = NULL;
	answer_finish(rq, text);
	free(text);
	malloc_trim(0);
}

/* If the request is about one node that has not answered, gives the reason. Return: true then. */
static bool refuse_one(struct request *rq)
{
	json_t *answer = is_about_one(rq) ? parse_answer(rq->g->text[rq->node]) : NULL;
	const char *error = json_string_value(json_object_get(answer, "error"));
	bool silent = is_about_one(rq) && !answer;

	if (error)
		answer_error(rq, "failed", "%s", error);
	else if (silent && rq->g->list->silent)
		rq->g->list->silent(rq);
	else if (silent)
		answer_silent(rq);
	json_decref(answer);
	return error || silent;
}

/* Return: true if the whole reply is going to be too long, judged by the first piece of it. */
static bool is_too_long(const struct gathering *g)
{
	uint64_t bytes = 0;

	for (uint32_t i = g->from; i < g->to; i++)
		bytes += g->text[i] ? strlen(g->text[i]) : 0;
	return bytes * (g->last - g->from) / (g->to - g->from) > CONTROL_REPLY_MAX;
}

static void ask_piece(struct request *rq);

/* Writes the items of the nodes that have answered, until the client has to read first. */
static void write_items(struct request *rq)
{
	struct gathering *g = rq->g;

	if (!is_same_fabric(rq))
		return;
	while (g->next < g->to) {
		write_node(rq, g->next++);
		if (!send_written(rq))
			return;
	}
	if (g->to == g->last || g->full)
		write_list_end(rq);
	else
		ask_piece(rq);
}

void answer_continue(struct request *rq)
{
	if (rq->g && rq->g->list && !rq->ask)
		write_items(rq);
}

/* Begins the reply with the answers of the first piece. */
static void begin_list(struct request *rq)
{
	if (!answer_ready(rq) || refuse_unkept(rq) || refuse_one(rq))
		return;
	rq->g->too_long = is_too_long(rq->g);
	if (refuse_unkept(rq))
		return;
	append_reply(rq->g, "{\"ok\":true,\"data\":[");
	write_items(rq);
}

/* --- questions -------------------------------------------------------------------- */

static void gathered_end(void *arg)
{
	struct request *rq = arg;
	struct gathering *g = rq->g;

	rq->ask = NULL;
	g->waited += loop_now() - g->asked;
	if (!g->list)
		end_whole(rq);
	else if (g->len || g->begun)
		write_items(rq);
	else
		begin_list(rq);
}

static const struct query_done gathered = {
	.text = gathered_text,
	.end = gathered_end,
};

static const struct query_done gathered_only = {
	.item = gathered_item,
	.end = gathered_end,
};

/* Return: the request as it is sent to nodes @from to @to - 1 of all nodes. */
static json_t *piece_request(const struct request *rq)
{
	const struct gathering *g = rq->g;
	json_t *cmd = json_copy(rq->args);
	char text[TORUS_TEXT_MAX];

	json_object_set_new(cmd, "node", json_string(torus_node_text(fm_shape(rq->d->fm), g->from,
								     text)));
	json_object_set_new(cmd, "count", json_integer(g->to - g->from));
	return cmd;
}

/* Asks the nodes from @to on, or the rest of them if silent nodes have taken much time already. */
static void ask_piece(struct request *rq)
{
	struct gathering *g = rq->g;
	uint32_t first = rq->node == TORUS_NO_NODE ? 0 : rq->node;
	bool whole = g->waited > SLOW || g->last - g->to <= g->piece;
	json_t *cmd;

	g->from = g->next = g->to;
	g->to = whole ? g->last : g->from + g->piece;
	g->awaited = 0;
	for (uint32_t i = g->from; i < g->to; i++)
		g->awaited += is_answer_awaited(rq, i);
	cmd = whole && g->from == first ? json_incref(rq->args) : piece_request(rq);
	g->asked = loop_now();
	rq->ask = query_ask(rq->d->query, is_about_one(rq) ? SVC_TO_NODE : SVC_TO_ALL, rq->node,
			    cmd, &rq->user, QUERY_NODE_MS,
			    is_about_one(rq) && !g->list ? &gathered_only : &gathered, rq);
	json_decref(cmd);
	if (!rq->ask && g->begun)
		break_off(rq, "too many requests at once");
	else if (!rq->ask)
		answer_error(rq, "failed", "too many requests at once: try again");
}

/* Begins to gather. @piece: most nodes to be asked at once; 0: all */
static void begin_gathering(struct request *rq, const struct gathering *what, uint32_t piece)
{
	uint32_t n = torus_nodes(fm_shape(rq->d->fm));
	struct gathering *g = calloc(1, sizeof(*g) + n * sizeof(char *));
	uint64_t last = is_about_one(rq) ? rq->node + 1ull :
			rq->count ? rq->node + (uint64_t)rq->count : n;

	if (!g) {
		answer_error(rq, "failed", "out of memory");
		return;
	}
	*g = *what;
	g->shape = *fm_shape(rq->d->fm);
	g->n = n;
	g->to = rq->node == TORUS_NO_NODE ? 0 : rq->node;
	g->last = last < n ? (uint32_t)last : n;
	g->whole = !piece || !rq->more;
	g->piece = g->whole ? n : piece;
	g->meter = &rq->d->meter;
	g->missing = json_array();
	rq->g = g;
	ask_piece(rq);
}

void answer_gather(struct request *rq,
		   void (*end)(struct request *rq, json_t **by_node, uint32_t n))
{
	begin_gathering(rq, &(struct gathering) { .end = end }, 0);
}

void answer_list(struct request *rq, const struct listing *list, uint32_t piece)
{
	begin_gathering(rq, &(struct gathering) { .list = list }, piece);
}

void answer_list_some(struct request *rq, uint32_t max, unsigned int each,
		      const struct listing *list, uint32_t piece)
{
	bool some = json_is_integer(json_object_get(rq->args, "count"));
	uint32_t dims;

	if (!answer_ready(rq))
		return;
	dims = each ? each * fm_shape(rq->d->fm)->ndims : 1;
	if (some ? answer_range(rq, max / dims) : !answer_node(rq, false, &rq->node))
		answer_list(rq, list, piece / dims ? piece / dims : piece > 0);
}

json_t *flat_items(struct request *rq, uint32_t node, json_t *answer)
{
	(void)rq;
	(void)node;
	return json_is_array(answer) ? json_incref(answer) : json_pack("[O]", answer);
}

const struct listing listing_flat = { .items = flat_items };
