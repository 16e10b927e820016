/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef EMU_PRIV_H
#define EMU_PRIV_H

#include <stdbool.h>

/**
 * priv_drop() - drop all capabilities but CAP_NET_ADMIN and CAP_NET_RAW
 * @visits: also keep CAP_SYS_ADMIN, to enter other network namespaces
 */
int priv_drop(bool visits);

#endif /* EMU_PRIV_H */
