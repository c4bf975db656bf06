"""Makes the corpus: `python make.py`. `python make.py --check` compares it with what is here, and writes nothing."""

import hashlib
import io
import json
import os
import sys
import zipfile
from pathlib import Path

# With lxml, openpyxl writes other bytes. It reads this when it is imported.
os.environ["OPENPYXL_LXML"] = "False"

import archives
import refusals
import shapes
import spreadsheets
import taken
import tables_money
import tables_people
import tables_shops
import workbook_parts
from core import Item
from readers import read

HERE = Path(__file__).parent
MADE = [tables_money, tables_people, tables_shops, shapes, archives, refusals, spreadsheets,
        workbook_parts]


def entry(item: Item) -> dict:
    """Returns what the manifest says about a file."""
    found = read(item)
    reading = dict(item.reading)
    options = dict(item.options)
    if item.types:
        schema = {column: {"date": {"type": "string", "format": "date"}}.get(kind, {"type": kind})
                  for column, (kind, _) in item.types.items()}
        options.setdefault("schema", {"properties": schema})
    return {
        "name": item.name,
        "source": item.source,
        "sha256": hashlib.sha256(item.data).hexdigest(),
        "form": item.form,
        "sample": item.sample,
        "reading": reading,
        "options": options,
        "expect": found.get("expect", {}),
        "columns": found.get("columns", []),
        "rows": found.get("rows", []),
        "values": found.get("values", []),
        "failing": found.get("failing", []) + item.failing,
        "disagreements": found.get("disagreements", []) + item.disagreements,
        "error": item.error,
        "note": item.note,
    }


def manifest(items: list[Item]) -> str:
    """Returns the manifest, one line for each row."""
    entries = []
    for item in sorted(items, key=lambda item: item.name):
        fields = []
        for key, value in entry(item).items():
            lines = value if isinstance(value, list) and value and isinstance(value[0], dict) else None
            if lines:
                body = ",\n".join("   " + json.dumps(line, ensure_ascii=True) for line in lines)
                fields.append(f'  "{key}": [\n{body}\n  ]')
            else:
                fields.append(f'  "{key}": {json.dumps(value, ensure_ascii=True)}')
        entries.append(" {\n" + ",\n".join(fields) + "\n }")
    return "[\n" + ",\n".join(entries) + "\n]\n"


def content(data: bytes) -> object:
    """Returns the parts of an archive: other versions of zlib compress to other bytes."""
    if not data.startswith(b"PK\x03\x04"):
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(info.filename, info.CRC, info.file_size) for info in archive.infolist()]
    except zipfile.BadZipFile:
        return data[:30]


def check(made: list[Item], whole: str) -> list[str]:
    """Returns what differs."""
    faults = [f"{item.name} differs" for item in made
              if not (HERE / item.name).exists() or content((HERE / item.name).read_bytes()) != content(item.data)]
    stored = json.loads((HERE / "corpus.json").read_text())
    wanted = json.loads(whole)
    ours = {item.name for item in made}
    for mine, theirs in zip(stored, wanted, strict=True):
        keys = [key for key in mine if not (key == "sha256" and mine["name"] in ours)]
        faults += [f"{mine['name']}: {key} differs" for key in keys if mine[key] != theirs[key]]
    names = {entry["name"] for entry in stored}
    folders = {name.split("/")[0] for name in names}
    files = {str(path.relative_to(HERE)) for folder in folders for path in (HERE / folder).rglob("*") if path.is_file()}
    return faults + [f"{name} is not in the manifest" for name in sorted(files - names) if "LICENSES" not in name]


def main() -> int:
    made = [item for module in MADE for item in module.items()]
    kept = taken.items(HERE)
    names = [item.name for item in made + kept]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    whole = manifest(made + kept)
    if "--check" in sys.argv:
        faults = check(made, whole)
        print("\n".join(faults) or f"{len(names)} files are as they should be")
        return 1 if faults else 0
    for item in made:
        path = HERE / item.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(item.data)
    (HERE / "corpus.json").write_text(whole)
    print(f"{len(names)} files, {sum(len(item.data) for item in made + kept)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
