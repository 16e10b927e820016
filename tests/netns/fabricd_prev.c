// SPDX-License-Identifier: GPL-2.0-only
/* fabricd of a release that speaks one schema of the service network, the one before the newest. */
#include "daemon/schema.h"

const unsigned int schema_oldest = SCHEMA_OLDEST, schema_newest = SCHEMA_NEWEST;
