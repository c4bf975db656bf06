"""The files that are kept as they were taken: their content must be that of `taken.sha256`."""

import gzip
import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

from core import Item
from taken_tables import OFFICE, PACKAGES, SHEETS, TEXTS

# Workbooks that openpyxl cannot read. The twin is read: saved again by LibreOffice, or with 1E400 in place of INF.
TWINS = {"libreoffice/numbers.xlsx",
         "xlsx2csv/formatted_inline_string.xlsx", "xlsx-stream-reader/test/nonumfmt.xlsx"}


def items(here: Path) -> list[Item]:
    found = []
    for package, rows in TEXTS.items():
        found += [item(here, package, path, {"kind": "csv", **how}) for path, how in rows]
    for package, rows in SHEETS.items():
        found += [item(here, package, path, {"kind": "xlsx", "form": "workbook", "header": -1, **how})
                  for path, how in rows]
    for path, how in OFFICE:
        workbook = {"kind": "xlsx", "form": "workbook", "header": -1} if path.endswith((".xlsx", ".xlsm")) else {}
        found.append(item(here, "libreoffice", path, {**workbook, **how}))
    stored = dict(reversed(line.split("  ")) for line in (here / "taken.sha256").read_text().splitlines())
    actual = {one.name: hashlib.sha256(one.data).hexdigest() for one in found}
    changed = sorted(name for name in stored.keys() | actual.keys() if stored.get(name) != actual.get(name))
    assert not changed, f"these files are not as they were taken: {changed}"
    return found


def item(here: Path, package: str, path: str, how: dict[str, Any]) -> Item:
    name = f"taken/{package}/{path}"
    data = (here / name).read_bytes()
    if package == "libreoffice":
        source = "made with LibreOffice 7.4.7"
    else:
        title, version, licence, _ = PACKAGES[package]
        source = f"{title} {version} ({licence})"
    if how.get("error"):
        how = {**how, "kind": "none"}
    if how.get("form") in ("gzip", "zip") and not how.get("error"):
        how = {**how, "inner": unpacked(data, how["form"])}
    if f"{package}/{path}" in TWINS:
        twin = (here / "twins" / package / path).read_bytes()
        how = {**how, "inner": twin, "note": "openpyxl cannot read it; the rows are those of its twin."}
    return Item(name, data, source=source, **how)


def unpacked(data: bytes, form: str) -> bytes:
    if form == "gzip":
        return gzip.decompress(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(archive.namelist()[0])
