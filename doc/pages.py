#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""pages.py OUT: makes HTML of all documents and manual pages, in OUT, with OUT/index.html.

Needs cmark-gfm and mandoc. A link to a file that does not exist, or to a heading that a document does
not have, is an error: exit status 1.
"""
import html
import os
import re
import subprocess
import sys

top = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
STYLE = ("body{max-width:60rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}"
         "pre,code{font-family:monospace}pre{overflow:auto;padding:.6rem;border:1px solid #8888}"
         "table{border-collapse:collapse}td,th{border:1px solid #8888;padding:.2rem .5rem;text-align:left}")
INDEX = [
    ("Begin", ["README.md", "doc/TUTORIAL.md", "doc/GLOSSARY.md"]),
    ("Run a torus", ["doc/OPERATIONS.md", "doc/METRICS.md"]),
    ("Use it", ["doc/MPI.md", "doc/RESEARCH.md", "doc/DRIVER.md", "doc/PAPERS.md"]),
]


def find(pattern):
    """Return: files of the repository, or of an unpacked archive of it, from the top"""
    found = []
    for at, folders, names in os.walk(top):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "corpus"]
        found += [os.path.relpath(os.path.join(at, n), top) for n in names if re.search(pattern, n)]
    return sorted(found)


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def page_of(source):
    return re.sub(r"\.md$", ".html", source)


def heading_id(text):
    """The name that GitHub gives a heading"""
    text = html.unescape(re.sub(r"<[^>]*>", "", text)).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def name_headings(body):
    seen = {}

    def name(m):
        at = heading_id(m[2])
        n = seen[at] = seen.get(at, -1) + 1
        return f'<h{m[1]} id="{at}{f"-{n}" if n else ""}">{m[2]}</h{m[1]}>'
    return re.sub(r"<h([1-6])>(.*?)</h\1>", name, body, flags=re.S)


def link_manuals(body, source, manuals):
    """Makes a link of each name(section) that has a page here"""
    up = os.path.relpath("man", os.path.dirname(source) or ".")

    def link(m):
        page = f"{m[1]}.{m[2]}.html"
        return f'<a href="{up}/{page}">{m[0]}</a>' if page in manuals else m[0]
    return re.sub(r"\b([a-z][a-z0-9.-]*)\(([1-8])\)", link, body)


def document(source, manuals):
    """Return: a page of HTML; links lead to HTML where there is some"""
    with open(os.path.join(top, source), encoding="utf-8") as f:
        body = run("cmark-gfm", "-e", "table", text=f.read())
    body = name_headings(body)
    body = re.sub(r'href="([^":#]+)\.md(#[^"]*)?"', lambda m: f'href="{m[1]}.html{m[2] or ""}"', body)
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.S)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<title>{re.sub("<[^>]*>", "", title[1]) if title else source}</title><style>{STYLE}</style></head>\n'
            f'<body>\n{link_manuals(body, source, manuals)}</body></html>\n')


def index(documents, manuals, titles):
    listed = {d for _, some in INDEX for d in some}
    groups = INDEX + [("Manual pages", manuals), ("Folders", [d for d in documents if d not in listed])]
    body = ["# torus", ""]
    for name, some in groups:
        body += [f"## {name}", ""] + [f"- [{titles.get(d, d)}]({d})" for d in some] + [""]
    text = run("cmark-gfm", text="\n".join(body))
    text = re.sub(r'href="([^":#]+)\.md"', r'href="\1.html"', text)
    return f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>torus</title><style>{STYLE}</style></head>\n<body>\n{text}</body></html>\n'


def write(out, path, text):
    at = os.path.join(out, path)
    os.makedirs(os.path.dirname(at), exist_ok=True)
    with open(at, "w", encoding="utf-8") as f:
        f.write(text)


def broken_links(out, pages):
    """Return: each local link of these pages that leads nowhere. A file of the repository may be its end."""
    texts, wrong = {}, []
    for page in pages:
        with open(os.path.join(out, page), encoding="utf-8") as f:
            texts[page] = f.read()
    ids = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in texts.items()}
    for page, text in texts.items():
        for link in re.findall(r'<a [^>]*href="([^"]+)"', text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, part = html.unescape(link).partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if to not in texts and not any(os.path.exists(os.path.join(at, to)) for at in (out, top)):
                wrong.append(f"{page}: there is no {to}")
            elif part and to in texts and part not in ids[to]:
                wrong.append(f"{page}: {to} has no heading #{part}")
    return wrong


def main():
    out = sys.argv[1] if len(sys.argv) == 2 and re.match("[^-]", sys.argv[1]) else sys.exit("usage: doc/pages.py OUT")
    documents, sources = find(r"\.md$"), find(r"^[a-z].*\.[1-8]$")
    manuals = {f"{os.path.basename(s)}.html": s for s in sources}
    titles = {}
    for source in documents:
        text = document(source, manuals)
        titles[source] = re.search(r"<title>(.*?)</title>", text, re.S)[1]
        write(out, page_of(source), text)
    for page, source in manuals.items():
        write(out, f"man/{page}", run("mandoc", "-T", "html", "-O", "man=%N.%S.html", os.path.join(top, source)))
        titles[f"man/{page}"] = re.sub(r"(.*)\.([1-8])\.html$", r"\1(\2)", page)
    manual_pages = [f"man/{page}" for page in sorted(manuals)]
    write(out, "index.html", index(documents, manual_pages, titles))
    # mandoc makes links to all pages that a page names, also to those of other projects.
    wrong = broken_links(out, [page_of(d) for d in documents] + ["index.html"])
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
