// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <unistd.h>

#include "tn_deps.h"
#include "lib/util/clock.h"
#include "traffic.h"

static uint32_t record_crc(const unsigned char *buf, uint32_t size)
{
	return ~tn_crc32c(~0U, buf + sizeof(uint32_t), size - sizeof(uint32_t));
}

void record_fill(void *buf, uint32_t size, uint64_t number, uint64_t last)
{
	struct record r = { .size = size, .number = number, .last = last };

	memcpy(buf, &r, sizeof(r));
	/* The bytes differ from record to record, so that an old one is not taken for a new one. */
	memset((char *)buf + sizeof(r), (int)(number * 37 & 0xff), size - sizeof(r));
	r.crc = record_crc(buf, size);
	memcpy(buf, &r.crc, sizeof(r.crc));
}

int record_good(const void *buf, uint32_t size)
{
	struct record r;

	if (size < sizeof(r))
		return 0;
	memcpy(&r, buf, sizeof(r));
	return r.size == size && r.crc == record_crc(buf, size);
}

double traffic_now(void)
{
	return seconds_now();
}

bool traffic_pace(const struct load *load, double start, uint64_t sent)
{
	double end = start + load->seconds, now = traffic_now(), due = now;

	if (load->rate)
		due = start + (double)sent / (double)load->rate;
	while (now < due && now < end) {
		double wait = (due < end ? due : end) - now;

		usleep(wait < 0.001 ? 1000 : wait < 0.1 ? (useconds_t)(wait * 1e6) : 100000);
		now = traffic_now();
	}
	return now < end;
}
