// SPDX-License-Identifier: GPL-2.0-only
/* Lines of a recording: any line is an event, or is refused. */
#include <stdint.h>
#include <stdlib.h>

#include "daemon/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	json_t *line = json_loadb((const char *)data, len, 0, NULL), *again;
	struct record_event e, f;

	if (line && record_event_parse(line, &e) == 0) {
		again = record_event_json(&e);
		if (!again || record_event_parse(again, &f) || f.kind != e.kind || f.now != e.now)
			abort();
		record_event_clear(&f);
		record_event_clear(&e);
		json_decref(again);
	}
	json_decref(line);
	return 0;
}
