"""Determines which rows of a file an import must accept: the independent check of the demo.

It shares no code with the import: it has another language, another CSV reader and another
implementation of JSON Schema (`jsonschema`, a dependency of SAM).

    expected_rows.py FILE --key COLUMN [--schema FILE] [--insert]

prints {"items": number of rows, "invalid": numbers of the rows that must fail, counted from 1,
"keys": distinct keys of the other rows}.
"""

import argparse
import csv
import json
import re
import sys

import jsonschema

INTEGER = re.compile(r"-?[0-9]+")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
JSON_LINES = (".jsonl", ".ndjson")


def csv_rows(file, types):
    """Yields each row as an object, or None if its cells do not fit the header."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(file)
    header = next(reader, [])
    for cells in reader:
        if not cells:  # a blank line is not a row
            continue
        if len(cells) != len(header):
            yield None
            continue
        # An empty cell is an absent property.
        yield {name: coerce(cell, types.get(name)) for name, cell in zip(header, cells) if cell}


def coerce(cell, type_):
    """Converts a cell to the type of its schema. Returns an unsuitable cell unchanged; the schema then refuses it."""
    types = type_ if isinstance(type_, list) else [type_]
    if "integer" in types and INTEGER.fullmatch(cell):
        return int(cell)
    if "number" in types and NUMBER.fullmatch(cell):
        return float(cell)
    if "boolean" in types and cell in ("true", "false"):
        return cell == "true"
    return cell


def json_rows(file):
    for line in file:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        yield row if isinstance(row, dict) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--key", required=True)
    parser.add_argument("--schema")
    parser.add_argument("--insert", action="store_true")
    options = parser.parse_args()

    schema = {}
    if options.schema:
        with open(options.schema, encoding="utf-8") as file:
            schema = json.load(file)
    validator = jsonschema.Draft202012Validator(schema)
    properties = schema.get("properties", {})
    types = {name: p.get("type") for name, p in properties.items() if isinstance(p, dict)}

    items, invalid, keys = 0, [], {}
    with open(options.file, encoding="utf-8-sig", newline="") as file:
        rows = json_rows(file) if options.file.endswith(JSON_LINES) else csv_rows(file, types)
        for items, row in enumerate(rows, 1):
            key = row and row.get(options.key)
            # In insert mode, the first row with a key wins.
            taken = options.insert and key is not None and str(key) in keys
            if key in (None, "") or taken or not validator.is_valid(row):
                invalid.append(items)
            else:
                keys[str(key)] = None
    print(json.dumps({"items": items, "invalid": invalid, "keys": list(keys)}))


if __name__ == "__main__":
    main()
