/* SPDX-License-Identifier: GPL-2.0-only */
/* The root hands over to another node. */
#ifndef FM_HANDOVER_H
#define FM_HANDOVER_H

struct fm;
struct fm_lead;

/** fm_handover() - the root hands over, or this node as the root does: tells all nodes below */
void fm_handover(struct fm *fm, const struct fm_lead *l);
/** fm_handover_obey() - asks to be root if this node is named, else follows the named node */
void fm_handover_obey(struct fm *fm, const struct fm_lead *l);

#endif /* FM_HANDOVER_H */
