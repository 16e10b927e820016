// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <torus/torus.h>

#include "fault.h"
#include "kind.h"
#include "line.h"
#include "nic.h"
#include "number.h"
#include "output.h"

int fault_wish_parse(const char *ber, const char *latency, struct fault_wish *out)
{
	if (ber && rate_parse(ber, &out->ber))
		return fail("bit error rate '%s': must be 0, or 1e-18 to 1, such as 1e-6", ber);
	if (latency && time_parse(latency, 0, TORUS_LATENCY_MAX, &out->latency_ns))
		return fail("latency '%s': must be 0 to 10s with a unit, such as 50us, 2ms",
			    latency);
	out->set_ber = ber;
	out->set_latency = latency;
	return OK;
}

static uint32_t choose_value(uint64_t wish, uint32_t is)
{
	return wish == FAULT_KEEP ? is : (uint32_t)wish;
}

static int set_port_line(struct torus_dev *dev, unsigned int port, const struct torus_line *is,
		      const struct fault_line *wish)
{
	struct torus_line l = {
		.length = choose_value(wish->length, is->length),
		.loss = choose_value(wish->loss, is->loss),
		.crosstalk = choose_value(wish->crosstalk, is->crosstalk),
		.drift = choose_value(wish->drift, is->drift),
		.ageing = choose_value(wish->ageing, is->ageing),
		.temperature = choose_value(wish->temperature, is->temperature),
		.aged = (uint16_t)choose_value(wish->aged, is->aged),
		.dead = (uint16_t)choose_value(wish->dead, is->dead),
	};

	if (l.length && !l.loss) {
		const struct line_class *usual = line_class(LINE_USUAL);

		l.loss = usual->loss;
		l.crosstalk = choose_value(wish->crosstalk, usual->crosstalk);
	}
	return torus_line_set(dev, port, &l);
}

static int set_port_fault(struct torus_dev *dev, unsigned int port, const struct fault_wish *wish)
{
	struct torus_link link;
	int err = torus_link_get(dev, port, &link);

	if (err)
		return err;
	if (wish->set_ber)
		link.fault.ber = wish->ber;
	if (wish->set_latency)
		link.fault.latency_ns = wish->latency_ns;
	if (wish->set_silence)
		link.fault.silence = wish->silence;
	if (wish->set_vb)
		link.fault.vb = wish->vb;
	if (wish->set_seed)
		link.fault.seed = wish->seed;
	if (wish->set_retry)
		err = torus_retry_set(dev, port, wish->retry);
	if (!err && wish->set_line)
		err = set_port_line(dev, port, &link.line, &wish->line);
	return err ? err : torus_fault_set(dev, port, &link.fault);
}

static int set_end(const struct lab *lab, uint32_t node, unsigned int port,
		   const struct fault_wish *wish)
{
	char text[LAB_TEXT_MAX];
	struct torus_dev *dev;
	int status = OK, err = nic_open(lab, node, &dev);

	if (err)
		return fail_as(kind_of_errno(err),
			       "NIC of node %s: %s; 'fabricctl lab revive' starts a killed one",
			       torus_node_text(&lab->shape, node, text), torus_error(NULL));
	err = set_port_fault(dev, port, wish);
	if (err)
		status = fail_as(kind_of_errno(err), "link %s: %s",
				 lab_link_text(lab, node, port, text), torus_error(dev));
	torus_close(dev);
	return status;
}

int fault_put(const struct lab *lab, uint32_t node, unsigned int port,
	      const struct fault_wish *wish)
{
	unsigned int peer_port;
	uint32_t peer;
	int status;

	lab_peer(lab, node, port, &peer, &peer_port);
	status = set_end(lab, node, port, wish);
	return status == OK && !wish->one_end ? set_end(lab, peer, peer_port, wish) : status;
}

int fault_everywhere(const struct lab *lab, const struct fault_wish *wish)
{
	int status = OK;

	if (!wish->set_ber && !wish->set_latency && !wish->set_silence)
		return OK;
	for (uint32_t id = 0; status == OK && id < lab->nodes; id++)
		for (unsigned int port = 0; status == OK && port < lab->shape.ndims; port++)
			if (lab_cable(lab, port))
				status = fault_put(lab, id, port, wish);
	return status;
}

static int get_end(const struct lab *lab, uint32_t node, unsigned int port,
		   struct torus_link *out)
{
	struct torus_dev *dev;
	int err = nic_open(lab, node, &dev);

	if (err)
		return err;
	err = torus_link_get(dev, port, out);
	torus_close(dev);
	return err;
}

/*
 * Return: the faults that both ends of a cable have, read from one end; the silence of one end is
 * not copied.
 */
static struct fault_wish wish_of(const struct torus_link *l)
{
	const struct torus_line *c = &l->line;

	return (struct fault_wish){
		.set_ber = true, .set_latency = true, .set_silence = true, .set_seed = true,
		.set_vb = true, .vb = l->fault.vb,
		.ber = l->fault.ber, .latency_ns = l->fault.latency_ns,
		.silence = l->fault.silence == TORUS_SILENCE_BOTH ? TORUS_SILENCE_BOTH : 0,
		.seed = l->fault.seed,
		.set_retry = true, .retry = l->retry_wanted,
		.set_line = true,
		.line = { c->length, c->loss, c->crosstalk, c->drift, c->ageing, c->aged,
			  c->dead, c->temperature },
	};
}

int fault_copy(const struct lab *lab, uint32_t node)
{
	unsigned int peer_port;
	int status = OK;
	uint32_t peer;

	for (unsigned int port = 0; status == OK && port < 2u * lab->shape.ndims; port++) {
		struct torus_link link;
		struct fault_wish wish;

		if (!lab_cable(lab, port))
			continue;
		lab_peer(lab, node, port, &peer, &peer_port);
		/* a peer that does not answer is dead; its faults are set when it is revived */
		if (get_end(lab, peer, peer_port, &link))
			continue;
		wish = wish_of(&link);
		status = set_end(lab, node, port, &wish);
	}
	return status;
}
