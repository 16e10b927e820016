/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Curves drawn as SVG: panels, each with its axes, over a common legend. Curves differ by colour,
 * and by dashes and marks, so that they can be told apart in black and white, too.
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct plot;

/** plot_new() - a drawing with @title over it; NULL: out of memory */
struct plot *plot_new(const char *title);

/** plot_panel() - the next panel; curves that follow belong to it. @x, @y: axes, with their units */
void plot_panel(struct plot *p, const char *title, const char *x, const char *y);
/** plot_log() - the axes of this panel that are logarithmic; values <= 0 are left out */
void plot_log(struct plot *p, bool x, bool y);
/** plot_top() - the y axis of this panel ends here at most: what is above is clipped */
void plot_top(struct plot *p, double top);
/** plot_words() - the x axis of this panel has @n words at 0, 1, ...; they must stay until plot_write() */
void plot_words(struct plot *p, const char *const *words, size_t n);

/** plot_curve() - begins a curve; one of the same name looks the same in every panel */
void plot_curve(struct plot *p, const char *name);

enum plot_look { PLOT_BOTH, PLOT_LINE, PLOT_MARKS };

/** plot_look() - this curve has only a line, or only marks, and otherwise looks like curve @like */
void plot_look(struct plot *p, const char *like, enum plot_look look);
/** plot_point() - the next point of the curve, with an error bar of +-@error unless 0 */
void plot_point(struct plot *p, double x, double y, double error);

/**
 * plot_write() - writes the drawing into @file and drops it
 * Return: OK, or CANNOT after it has printed the error.
 */
int plot_write(struct plot *p, const char *file);

#endif /* PLOT_H */
