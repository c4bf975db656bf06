"""Files that are no tables, or not in a form that can be read."""

import bz2
import io
import lzma
import tarfile

from core import Item, refused, text

PLAIN = "id,name,city\n1,Ann,Cork\n2,Bob,Galway\n"

HTML = '''<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head><meta charset="utf-8"></head><body>
<table border="1"><tr><th>id</th><th>name</th></tr>
<tr><td>1</td><td>Ann, Cork</td></tr>
<tr><td>2</td><td>Bob</td></tr></table></body></html>
'''

XML = '''<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="Sheet1"><Table>
<Row><Cell><Data ss:Type="String">id</Data></Cell><Cell><Data ss:Type="String">name</Data></Cell></Row>
<Row><Cell><Data ss:Type="Number">1</Data></Cell><Cell><Data ss:Type="String">Ann</Data></Cell></Row>
</Table></Worksheet></Workbook>
'''

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000 1f15c489".replace(" ", ""))


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        info = tarfile.TarInfo("plain.csv")
        info.size = len(PLAIN)
        archive.addfile(info, io.BytesIO(PLAIN.encode()))
    return out.getvalue()


def items() -> list[Item]:
    binary, empty = "file_binary", "file_empty"
    not_utf8 = "file_not_utf8"
    listed = [
        ("no-bytes.csv", b"", empty, "No bytes."),
        ("only-mark.csv", b"\xef\xbb\xbf", empty, "Only a byte order mark."),
        ("only-breaks.csv", b"\n\r\n\n", empty, "Only line breaks."),
        ("document.csv", PDF, binary, "A PDF with the name of a table."),
        ("picture.csv", PNG, binary, "A picture with the name of a table."),
        ("tar.csv", tar(), binary, "A tar archive: its header has zero bytes."),
        ("plain.csv.bz2", bz2.compress(PLAIN.encode() * 20), binary, "bzip2 is no supported compression."),
        ("plain.csv.xz", lzma.compress(PLAIN.encode() * 20), binary, "xz is no supported compression."),
        ("utf-32-le.csv", b"\xff\xfe\0\0" + PLAIN.encode("utf-32-le"), not_utf8, "UTF-32 with a mark."),
        ("utf-32-be.csv", b"\0\0\xfe\xff" + PLAIN.encode("utf-32-be"), not_utf8, "UTF-32 with a mark."),
        ("utf-16-le-without-mark.csv", PLAIN.encode("utf-16-le"), not_utf8, "UTF-16 without a mark."),
        ("utf-16-be-without-mark.csv", PLAIN.encode("utf-16-be"), not_utf8, "UTF-16 without a mark."),
        ("html-table.xls", HTML.encode(), "file_not_a_table", "An HTML page that programs call .xls."),
        ("spreadsheet-2003.xml", XML.encode(), "file_not_a_table", "It is text, but no CSV."),
        ("array.json", b'[{"id":1},\n {"id":2}]\n', "file_not_a_table", "It is text, but no JSON Lines."),
    ]
    made = [refused(f"refused/{name}", data, error, note, sample=name == "document.csv")
            for name, data, error, note in listed]
    made.append(text("refused/sep-line-colon.csv", "sep=:\nid:name\n1:Ann\n", kind="none",
                     error="unsupported_delimiter", note="A delimiter that is not supported."))
    made.append(text("refused/two-delimiters-fit.csv", "a;b,c\nx;y,z\n", kind="none",
                     error="ambiguous_delimiter", note="Commas and semicolons fit."))
    return made
