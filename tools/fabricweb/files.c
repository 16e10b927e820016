// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>
#include <string.h>

#include "files.h"

/* The assembler copies the file into the program, between two symbols. */
#define EMBED(symbol, path)								\
	__asm__(".section .rodata\n"							\
		".globl " #symbol "_start\n" #symbol "_start:\n"			\
		".incbin \"tools/fabricweb/page/" path "\"\n"				\
		".globl " #symbol "_end\n" #symbol "_end:\n"				\
		".byte 0\n.previous\n");						\
	extern const unsigned char symbol##_start[] __attribute__((visibility("hidden")));	\
	extern const unsigned char symbol##_end[] __attribute__((visibility("hidden")))

EMBED(page_index, "index.html");
EMBED(page_style, "style.css");
EMBED(page_main, "main.js");
EMBED(page_model, "model.js");
EMBED(page_geometry, "geometry.js");
EMBED(page_map, "map.js");
EMBED(page_panels, "panels.js");
EMBED(page_trace, "trace.js");

#define FILE_OF(name, type, symbol) { name, type, symbol##_start, symbol##_end }

static const struct web_file files[] = {
	FILE_OF("index.html", "text/html; charset=utf-8", page_index),
	FILE_OF("style.css", "text/css; charset=utf-8", page_style),
	FILE_OF("main.js", "text/javascript; charset=utf-8", page_main),
	FILE_OF("model.js", "text/javascript; charset=utf-8", page_model),
	FILE_OF("geometry.js", "text/javascript; charset=utf-8", page_geometry),
	FILE_OF("map.js", "text/javascript; charset=utf-8", page_map),
	FILE_OF("panels.js", "text/javascript; charset=utf-8", page_panels),
	FILE_OF("trace.js", "text/javascript; charset=utf-8", page_trace),
};

const struct web_file *files_find(const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	return NULL;
}
