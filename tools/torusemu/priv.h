/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef EMU_PRIV_H
#define EMU_PRIV_H

#include <stdbool.h>

/**
 * priv_drop() - keep only what attaching devices and addresses needs
 * @visits: and entering other network namespaces
 */
int priv_drop(bool visits);

#endif /* EMU_PRIV_H */
