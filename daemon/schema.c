// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/schema.h"

const unsigned int schema_oldest = 5, schema_newest = 7;
