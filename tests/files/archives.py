"""Compressed files: gzip, Zstandard, and ZIP with one file."""

import binascii
import gzip
import io
import struct
import zipfile
import zlib

import zstandard

from core import PYTHON, Item, refused
from tables_people import table

PLAIN = b"id,name,city\n1,Ann,Cork\n2,Bob,Galway\n3,Eve,Sligo\n"
MORE = b"4,Joe,Ennis\n5,Max,Trim\n"
GERMAN = table("german", ";").encode("cp1252")
RUSSIAN = table("russian", ";").encode("cp1251")
UNICODE = b"\xff\xfe" + table("german", "\t").encode("utf-16-le")
WHEN = (2024, 1, 31, 12, 0, 0)
ROWS = b"id,word\n" + b"".join(b"%d,word number %d\n" % (n, n) for n in range(1, 181))
ZSTANDARD = "made with zstandard"


def gz(data: bytes, name: str = "") -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(name, "wb", 9, out, mtime=0) as file:
        file.write(data)
    return out.getvalue()


def zst(data: bytes, **how: bool) -> bytes:
    return zstandard.ZstdCompressor(level=3, **how).compress(data)


def packed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    """Returns an archive with fixed times. A name that ends with a slash is a folder."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.comment = comment
        for name, data in files.items():
            info = zipfile.ZipInfo(name, WHEN)
            info.create_system = 3
            info.external_attr = (0o40755 << 16 | 0x10) if name.endswith("/") else 0o100644 << 16
            archive.writestr(info, data, zipfile.ZIP_STORED if name.endswith("/") else method)
    return out.getvalue()


class Pipe(io.RawIOBase):
    """A sink that cannot seek, so that sizes follow the data of each file."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self.data += bytes(data)
        return len(data)


def streamed(name: str, data: bytes) -> bytes:
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(name, WHEN)
        info.create_system = 3
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w") as file:
            file.write(data)
    return pipe.data


def encrypted(name: str, data: bytes, password: bytes) -> bytes:
    """Returns an archive with the encryption of PKZIP 2.0, which Python reads and does not write."""
    keys = [0x12345678, 0x23456789, 0x34567890]

    def crc(value: int, byte: int) -> int:
        return (binascii.crc32(bytes([byte]), value ^ 0xFFFFFFFF) ^ 0xFFFFFFFF) & 0xFFFFFFFF

    def update(byte: int) -> None:
        keys[0] = crc(keys[0], byte)
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = crc(keys[2], keys[1] >> 24)

    def cipher(byte: int) -> int:
        word = (keys[2] | 2) & 0xFFFF
        update(byte)
        return byte ^ (word * (word ^ 1) >> 8 & 0xFF)

    for byte in password:
        update(byte)
    check = zlib.crc32(data)
    body = bytes(cipher(byte) for byte in bytes(11) + bytes([check >> 24]) + data)
    common = struct.pack("<HHHHHLLLHH", 20, 1, 0, 0x6000, 0x583F, check, len(body), len(data), len(name), 0)
    local = b"PK\x03\x04" + common + name.encode() + body
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHLL", 0, 0, 0, 0, 0) + name.encode()
    end = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(entry), len(local), 0)
    archive = local + entry + end
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        assert file.read(name, password) == data
    return archive


def accepted(name: str, data: bytes, inner: bytes, **how: object) -> Item:
    form = {"gz": "gzip", "zst": "zstd"}.get(name.rsplit(".", 1)[1], "zip")
    source = ZSTANDARD if form == "zstd" else PYTHON
    return Item(f"archives/{name}", data, source=source, form=form, inner=inner, **how)


def good() -> list[Item]:
    german = {"encoding": "windows-1252", "delimiter": ";"}
    unicode = {"encoding": "UTF-16LE", "delimiter": "\t"}
    cyrillic = {"encoding": "windows-1251", "delimiter": ";"}
    skippable = b"\x50\x2a\x4d\x18" + struct.pack("<L", 5) + b"hello"
    other_skippable = b"\x5a\x2a\x4d\x18" + struct.pack("<L", 3) + b"abc"
    single = zst(PLAIN, write_content_size=False)
    mac = {"list.csv": PLAIN, "__MACOSX/": b"", "__MACOSX/._list.csv": b"\0\5\x16\7" + bytes(100),
           ".DS_Store": b"\0\0\0\1Bud1"}
    return [
        accepted("plain.csv.gz", gz(PLAIN, "plain.csv"), PLAIN, sample=True),
        accepted("no-name.csv.gz", gz(PLAIN), PLAIN),
        accepted("two-members.csv.gz", gz(PLAIN) + gz(MORE), PLAIN + MORE),
        accepted("empty-member-between.csv.gz", gz(PLAIN) + gz(b"") + gz(MORE), PLAIN + MORE),
        accepted("cut-within-row.csv.gz", gz(PLAIN[:20]) + gz(PLAIN[20:]), PLAIN, note="A member ends within a row."),
        accepted("zeros-behind.csv.gz", gz(PLAIN) + bytes(512), PLAIN, note="Tapes and some tools pad with zeros."),
        accepted("german-1252.csv.gz", gz(GERMAN), GERMAN, **german),
        accepted("german-utf-16.txt.gz", gz(UNICODE), UNICODE, sample=True, **unicode),
        accepted("one-eighty-rows.csv.gz", gz(ROWS), ROWS),
        accepted("plain.csv.zst", zst(PLAIN), PLAIN, sample=True),
        accepted("no-size.csv.zst", single, PLAIN),
        accepted("checksum.csv.zst", zst(ROWS, write_checksum=True), ROWS),
        accepted("two-frames.csv.zst", zst(PLAIN) + zst(MORE), PLAIN + MORE),
        accepted("skippable-first.csv.zst", skippable + zst(PLAIN), PLAIN),
        accepted("skippable-between.csv.zst", zst(PLAIN) + skippable + zst(MORE), PLAIN + MORE),
        accepted("skippable-of-another-number.csv.zst", other_skippable + zst(PLAIN), PLAIN,
                 note="A skippable frame can begin with any of 16 numbers, 0x184D2A50 to 0x184D2A5F."),
        accepted("russian-1251.csv.zst", zst(RUSSIAN), RUSSIAN, **cyrillic),
        accepted("plain.zip", packed({"plain.csv": PLAIN}), PLAIN, sample=True),
        accepted("stored.zip", packed({"plain.csv": PLAIN}, zipfile.ZIP_STORED), PLAIN),
        accepted("in-folder.zip", packed({"export/": b"", "export/2024/": b"", "export/2024/plain.csv": PLAIN}), PLAIN),
        accepted("from-macos.zip", packed(mac), PLAIN, note="Programs of macOS add files of their own."),
        accepted("streamed.zip", streamed("plain.csv", PLAIN), PLAIN, note="The sizes follow the data."),
        accepted("with-comment.zip", packed({"plain.csv": PLAIN}, comment=b"PK\x05\x06 not the end"), PLAIN),
        accepted("name-with-umlaut.zip", packed({"Übersicht 2024.csv": GERMAN}), GERMAN, **german),
        accepted("german-utf-16.zip", packed({"kunden.txt": UNICODE}), UNICODE, **unicode),
        accepted("lines.zip", packed({"events.csv": ROWS}), ROWS),
    ]


def bad() -> list[Item]:
    one = packed({"plain.csv": PLAIN})
    whole = gz(ROWS)
    crc = bytearray(gz(PLAIN))
    crc[-6] ^= 0xFF
    broken = bytearray(packed({"rows.csv": ROWS}))
    broken[60:70] = b"\xff" * 10
    damaged, several, text = "archive_damaged", "archive_not_one_file", "archive_not_text"
    listed = [
        ("truncated.csv.gz", whole[:-100], damaged, "gzip", "The end is missing."),
        ("truncated-header.csv.gz", whole[:6], damaged, "gzip", "Only a part of the header is there."),
        ("wrong-checksum.csv.gz", bytes(crc), damaged, "gzip", "The checksum is wrong."),
        ("gzip-in-gzip.csv.gz", gz(gz(PLAIN)), text, "gzip", "It was compressed twice."),
        ("zip-in-gzip.gz", gz(one), text, "gzip", "An archive in a compressed file."),
        ("truncated.csv.zst", zst(ROWS)[:-40], damaged, "zstd", "The end is missing."),
        ("two-files.zip", packed({"a.csv": PLAIN, "b.csv": MORE}), several, "zip", "Two files."),
        ("seven-files.zip", packed({f"part-{n}.csv": PLAIN for n in range(7)}), several, "zip", "Seven files."),
        ("empty.zip", packed({}), several, "zip", "No file."),
        ("only-folders.zip", packed({"a/": b"", "a/b/": b""}), several, "zip", "No file, but folders."),
        ("encrypted.zip", encrypted("plain.csv", PLAIN, b"secret"), "archive_password", "zip", "Password: secret."),
        ("zip-in-zip.zip", packed({"inner.zip": one}, zipfile.ZIP_STORED), text, "zip", "An archive in an archive."),
        ("gzip-in-zip.zip", packed({"plain.csv.gz": gz(PLAIN)}), text, "zip", "A compressed file in an archive."),
        ("bzip2.zip", packed({"plain.csv": PLAIN}, zipfile.ZIP_BZIP2), "archive_method", "zip", "A rare method."),
        ("lzma.zip", packed({"plain.csv": PLAIN}, zipfile.ZIP_LZMA), "archive_method", "zip", "A rare method."),
        ("truncated.zip", packed({"rows.csv": ROWS})[:-60], damaged, "zip", "The directory is missing."),
        ("wrong-bytes.zip", bytes(broken), damaged, "zip", "Bytes of the compressed data are wrong."),
        ("only-signature.zip", b"PK\x03\x04", damaged, "zip", "Four bytes."),
        ("empty-file-in-zip.zip", packed({"plain.csv": b""}), "file_empty", "zip", "The file has no bytes."),
        ("nothing.csv.gz", gz(b""), "file_empty", "gzip", "The file has no bytes."),
    ]
    return [refused(f"archives/refused/{name}", data, error, note, form=form,
                    source=ZSTANDARD if form == "zstd" else PYTHON, sample=name == "encrypted.zip")
            for name, data, error, form, note in listed]


def items() -> list[Item]:
    return good() + bad()
