/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* kernel/req sees the structs of replies by this name, wherever the include path puts it. */
#include "../../include/torus/reply.h"
