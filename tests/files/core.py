"""A file of the corpus, and what the manifest says about it."""

from dataclasses import dataclass, field
from typing import Any

PYTHON = "made with Python"

# Names of the Encoding Standard, and the codecs of Python that read the same bytes.
CODECS = {
    "UTF-8": "utf-8",
    "UTF-16LE": "utf-16-le",
    "UTF-16BE": "utf-16-be",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "windows-1253": "cp1253",
    "windows-1254": "cp1254",
    "ISO-8859-2": "iso8859-2",
    "ISO-8859-7": "iso8859-7",
    "ISO-8859-15": "iso8859-15",
    "KOI8-R": "koi8-r",
    "macintosh": "mac-roman",
    "Shift_JIS": "cp932",
    "EUC-JP": "euc-jp",
    "EUC-KR": "cp949",
    "Big5": "big5",
    "gb18030": "gb18030",
}

MARKS = {"UTF-8": b"\xef\xbb\xbf", "UTF-16LE": b"\xff\xfe", "UTF-16BE": b"\xfe\xff"}


@dataclass
class Item:
    """A file, how it is read, and what is expected of an import."""

    name: str
    data: bytes
    source: str = PYTHON
    form: str = "text"
    kind: str = "csv"
    encoding: str = "UTF-8"
    delimiter: str | None = ","
    quote: str = '"'
    # For text, the number among the rows with text; for a sheet, the number in the sheet. 0 if there is no header.
    header: int = 1
    comment: str | None = None
    sheet: str | None = None
    # The text in an archive. A twin of a workbook that the independent reader cannot read.
    inner: bytes | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    # Column to ("number", decimal separator), ("date", format), or ("boolean", word for true).
    types: dict[str, tuple[str, str]] = field(default_factory=dict)
    # Rows that fail for a reason that the reader does not see.
    failing: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    note: str = ""
    sample: bool = False
    disagreements: list[dict[str, Any]] = field(default_factory=list)


def text(name: str, content: str, mark: bool = False, newline: str = "\n", **how: Any) -> Item:
    """Returns a text file with this content in its encoding."""
    encoding = how.get("encoding", "UTF-8")
    data = content.replace("\n", newline).encode(CODECS[encoding])
    if mark:
        data = MARKS[encoding] + data
    if encoding.startswith("UTF-16"):
        how.setdefault("form", "utf16")
    return Item(name, data, **how)


def refused(name: str, data: bytes, error: str, note: str, **how: Any) -> Item:
    """Returns a file that must be refused."""
    return Item(name, data, kind="none", error=error, note=note, **how)
