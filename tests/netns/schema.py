# SPDX-License-Identifier: GPL-2.0-only
"""Judges answers of fabricctl --json by their JSON Schemas.

usage: schema.py DIR SCHEMA FILE...   the values in these files, one after the other, by DIR/SCHEMA.json

The schemas allow further keys, because later releases may add some. Here a key that a schema does
not name is an error, and so is a word of JSON Schema that this judge does not know. Exit status 1 if
anything is wrong; each error names the place in the value.
"""

import json
import os
import sys

TYPES = {
    "null": lambda v: v is None,
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
}
WORDS = {"$schema", "$id", "$ref", "$defs", "title", "description", "type", "properties", "required",
         "items", "additionalProperties", "enum", "anyOf", "minItems", "maxItems"}


class Judge:
    def __init__(self, folder):
        self.folder = folder
        self.files = {}

    def load(self, name):
        if name not in self.files:
            with open(os.path.join(self.folder, name), encoding="utf-8") as f:
                self.files[name] = json.load(f)
        return self.files[name]

    def resolve(self, ref, name):
        """The schema that a reference in the file NAME means, and the file that it is in."""
        file, _, path = ref.partition("#")
        name = file or name
        schema = self.load(name)
        for step in path.split("/")[1:]:
            schema = schema[step]
        return schema, name

    def errors(self, value, schema, name, at="$"):
        if unknown := set(schema) - WORDS:
            yield f"{name}: this judge does not know {', '.join(sorted(unknown))}"
        if not set(schema) - {"title", "description"}:
            return  # anything
        if "$ref" in schema:
            target, where = self.resolve(schema["$ref"], name)
            yield from self.errors(value, target, where, at)
            return
        if "anyOf" in schema:
            tries = [list(self.errors(value, s, name, at)) for s in schema["anyOf"]]
            if all(tries):
                yield from min(tries, key=len)
            return
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(TYPES[t](value) for t in types):
            yield f"{at}: {json.dumps(value)[:60]} is not {' or '.join(types)}"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield f"{at}: {json.dumps(value)[:60]} is none of {schema['enum']}"
        if isinstance(value, dict):
            yield from self.object_errors(value, schema, name, at)
        if isinstance(value, list):
            yield from self.array_errors(value, schema, name, at)

    def object_errors(self, value, schema, name, at):
        known = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                yield f"{at}: there is no {key}"
        for key, v in value.items():
            of = known.get(key, schema.get("additionalProperties"))
            if isinstance(of, dict):
                yield from self.errors(v, of, name, f"{at}.{key}")
            elif not of:
                yield f"{at}: the schema does not name {key}"

    def array_errors(self, value, schema, name, at):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items"
        for i, v in enumerate(value):
            if "items" not in schema:
                yield f"{at}: the schema does not tell what the items are"
                return
            yield from self.errors(v, schema["items"], name, f"{at}[{i}]")


def values(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text.rstrip()):
        while text[at].isspace():
            at += 1
        value, at = decoder.raw_decode(text, at)
        yield value


def main():
    folder, schema = sys.argv[1:3]
    judge = Judge(folder)
    found, n = [], 0
    for path in sys.argv[3:]:
        for value in values(path):
            n += 1
            found += judge.errors(value, judge.load(f"{schema}.json"), f"{schema}.json")
    for text in found[:10]:
        print(f"{schema}: {text}")
    if not n:
        print(f"{schema}: there is no answer")
    return 1 if found or not n else 0


sys.exit(main())
