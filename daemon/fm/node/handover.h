/* SPDX-License-Identifier: GPL-2.0-only */
/* The root hands over to another node. */
#ifndef FM_HANDOVER_H
#define FM_HANDOVER_H

struct fm;
struct fm_lead;

/** fm_handover() - the root has said so, or this node, as the root, does: all below are told */
void fm_handover(struct fm *fm, const struct fm_lead *l);
/** fm_handover_obey() - this node asks to be root, or follows the one that does */
void fm_handover_obey(struct fm *fm, const struct fm_lead *l);

#endif /* FM_HANDOVER_H */
