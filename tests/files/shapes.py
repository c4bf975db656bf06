"""Shapes of text tables: delimiters, quotes, line breaks, headers, blank and ragged rows."""

from core import MARKS, Item, text

PLAIN = "id,name,city\n1,Ann,Cork\n2,Bob,Galway\n3,Eve,Sligo\n"
QUOTED = 'id,text,note\n1,"a, b","say ""hi"""\n2,"first\nsecond\n\nlast",x\n3,"",""\n4," spaced ","\ttab"\n'
MIXED = "id;name;amount\r\n1;Ann;1,5\n2;Bob;2,25\r3;Eve;3\r\n4;Max;4,125\n"
GREEK = ["alpha", "beta", "gamma", "delta", "epsilon"]


def swapped(content: str, delimiter: str) -> str:
    return content.replace(",", delimiter)


def delimiters() -> list[Item]:
    names = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
    made = []
    for name, delimiter in names.items():
        made.append(text(f"shapes/{name}.csv", swapped(PLAIN, delimiter), delimiter=delimiter))
        for breaks, newline in (("crlf", "\r\n"), ("cr", "\r")):
            made.append(text(f"shapes/{name}-{breaks}.csv", swapped(PLAIN, delimiter), delimiter=delimiter,
                             newline=newline))
        made.append(text(f"shapes/{name}-sep-line.csv", f"sep={delimiter}\n" + swapped(PLAIN, delimiter),
                         delimiter=delimiter, newline="\r\n", sample=name == "semicolon"))
    made.append(text("shapes/sep-line-quoted.csv", '"sep=;"\n' + swapped(PLAIN, ";"), delimiter=";", mark=True))
    made.append(text("shapes/sep-line-utf-16.csv", "sep=;\n" + swapped(PLAIN, ";"), delimiter=";", mark=True,
                     encoding="UTF-16LE", newline="\r\n"))
    made.append(text("shapes/semicolon-with-decimal-commas.csv", MIXED.replace("\r\n", "\n").replace("\r", "\n"),
                     delimiter=";", types={"amount": ("number", ",")}))
    prices = "art;text;price\n1;a, b, c;1,50\n2;d, e;2,75\n3;f;3,00\n"
    made.append(text("shapes/semicolon-with-commas-in-texts.csv", prices, delimiter=";"))
    tabs = "id\tnote\n1\ta, b; c|d\n2\tx; y, z|w\n"
    made.append(text("shapes/tab-with-other-delimiters.tsv", tabs, delimiter="\t"))
    lists = "id,tags,more\n1,a|b|c,x|y\n2,d|e,z\n3,,u|v|w\n"
    made.append(text("shapes/comma-with-lists.csv", lists))
    return made


def quotes() -> list[Item]:
    return [
        text("shapes/quotes-and-breaks.csv", QUOTED, sample=True),
        text("shapes/quotes-and-breaks-crlf.csv", QUOTED, newline="\r\n"),
        text("shapes/quotes-and-breaks-semicolon.csv", swapped(QUOTED, ";"), delimiter=";"),
        text("shapes/all-quoted.csv", '"id","name","zip"\n"1","Ann","01067"\n"2","Bob; Co","00501"\n'),
        text("shapes/apostrophes.csv", "'id','name'\n'1','Ann, Cork'\n'2','it''s'\n'3','x'\n", quote="'"),
        text("shapes/no-quotes-inches.tsv", 'id\tsize\n1\t"3/4" pipe"\n2\t5" x 7"\n3\t"\n', delimiter="\t", quote="",
             reading={"quote": ""}),
        text("shapes/quote-inside-cell.csv", 'id,size\n1,5" pipe\n2,a"b"c\n3,plain\n'),
        text("shapes/quote-then-text.csv", 'id,text\n1,"abc"def\n2,"a"b"c"\n3,ok\n',
             note="Text after a closing quote belongs to the cell."),
        text("shapes/space-before-quote.csv", 'id, text\n1, "a"\n2, "b"\n',
             note="The quote is no quote after a space."),
        text("shapes/open-quote-at-end.csv", 'id,text\n1,a\n2,"never closed\n3,c\n',
             failing=[{"row": 2, "code": "unterminated_quote"}], note="Python takes the last row as it is."),
    ]


def headers() -> list[Item]:
    title = "Customer report\n\nPrinted on 2024-01-31\n\n" + PLAIN
    commented = "# exported by tool 1.2\n# 3 rows\n" + PLAIN + "# end\n"
    given = {"comment": "#"}
    wide = "Sales 2024,,,\n,,,\nregion,q1,q2,q3\nnorth,1,2,3\nsouth,4,5,6\n,,,\nTotal,5,7,9\n"
    two = ",2023,,2024,\nregion,q1,q2,q1,q2\nnorth,1,2,3,4\nsouth,5,6,7,8\n"
    return [
        text("shapes/header-in-row-3.csv", title, header=3, sample=True),
        text("shapes/title-padded-by-spreadsheet.csv", wide, header=2, newline="\r\n"),
        text("shapes/two-header-rows.csv", two, header=2, reading={"headerRow": 2}),
        text("shapes/comments.csv", commented, reading=given, comment="#"),
        text("shapes/no-header.csv", PLAIN.split("\n", 1)[1], header=0, reading={"headerRow": 0}),
        text("shapes/no-header-numbers.csv", "1,2.5,2024-01-31\n2,3.5,2024-02-01\n3,4,2024-02-02\n", header=0,
             reading={"headerRow": 0}),
        text("shapes/header-repeated-names.csv", "name,name,,name,name_2,\na,b,c,d,e,f\n"),
        text("shapes/header-empty-names.csv", ",name,,\n1,Ann,x,y\n2,Bob,z,w\n", reading={"headerRow": 1}),
        text("shapes/decimal-commas-everywhere.csv", "a,b;c,d\n1,2;3,4\n5,6;7,8\n", delimiter=";"),
        text("shapes/header-spaces.csv", " id , first name ,\u00a0city\u00a0\n1,Ann,Cork\n"),
        text("shapes/header-with-breaks.csv", '"id","long\nname"\n1,a\n2,b\n'),
        text("shapes/header-only.csv", "id,name\n", note="There are no rows."),
        text("shapes/single-column.csv", "email\nann@example.com\nbob@example.com\n", delimiter=None),
        text("shapes/single-column-numbers.txt", "1001\n1002\n1003\n", delimiter=None, header=0,
             reading={"headerRow": 0}),
        text("shapes/single-row.csv", "a,b\n1,2"),
        text("shapes/unicode-names.csv", "ключ,値,🔑 key,ß\n1,2,3,4\n"),
        text("shapes/numbers-as-names.csv", "region,2022,2023,2024\nnorth,1,2,3\nsouth,4,5,6\n"),
    ]


def rows() -> list[Item]:
    ragged = "id,name,city\n1,Ann\n2,Bob,Galway,extra\n3\n4,Eve,Sligo\n5,Max,Cork\n6,Joe,Ennis\n"
    many = ",".join(f"c{column}" for column in range(1, 301)) + "\n"
    many += "".join(",".join(f"{row}.{column}" for column in range(1, 301)) + "\n" for row in range(1, 4))
    long = "id,text\n1," + "lorem ipsum " * 1500 + "\n2,short\n"
    rows = "id,word,square\n" + "".join(f"{n},{GREEK[n % 5]},{n * n}\n" for n in range(1, 201))
    return [
        text("shapes/ragged.csv", ragged, note="Rows 1 to 3 must fail alone."),
        text("shapes/trailing-delimiters.csv", "id;name;\n1;Ann;\n2;Bob;\n", delimiter=";"),
        text("shapes/trailing-delimiters-rows-only.csv", "id;name\n1;Ann;\n2;Bob;\n", delimiter=";",
             note="Each row has one more cell than the header."),
        text("shapes/blank-rows.csv", "\n\nid,name\n\n1,Ann\n,\n  \n \t,\n2,Bob\n\n\n"),
        text("shapes/blank-rows-crlf.csv", "id,name,x\n1,Ann,\n,,\n,,\n2,Bob,\n,,\n,,\n", newline="\r\n"),
        text("shapes/blank-quoted-row.csv", 'id,name\n1,Ann\n"",""\n2,Bob\n', note="A row of quotes is a row."),
        text("shapes/no-last-break.csv", PLAIN.rstrip("\n")),
        Item("shapes/mixed-breaks.csv", MIXED.encode(), delimiter=";", types={"amount": ("number", ",")}),
        Item("shapes/two-marks.csv", MARKS["UTF-8"] * 2 + PLAIN.encode(), note="Two files were joined."),
        Item("shapes/joined-with-mark.csv", MARKS["UTF-8"] + PLAIN.encode() + MARKS["UTF-8"] + b"4,Joe,Ennis\n",
             note="The mark in the middle belongs to its cell."),
        Item("shapes/bad-byte-in-utf-8.csv",
             "id,name\n1,Zoë\n2,Käthe\n3,José\n4,Søren\n5,caf".encode() + b"\xe9\n6,ok\n",
             note="Row 5 must fail alone."),
        Item("shapes/bad-byte-in-1252.csv", b"id;name\n1;Caf\xe9 K\xf6ln\n2;a\x81b\n3;M\xfcller\n", delimiter=";",
             encoding="windows-1252", reading={"encoding": "windows-1252"}, note="Row 2 must fail alone."),
        text("shapes/wide.csv", many),
        text("shapes/long-cell.csv", long),
        text("shapes/two-hundred-rows.csv", rows, types={"square": ("number", ".")}),
        text("shapes/formulas.csv", "id,text\n1,=1+1\n2,+44 20 7946 0000\n3,-5\n4,@cmd\n5,'=quoted\n"),
        text("shapes/control-characters.csv", "id,text\n1,a\x01b\n2,\x1b[31mred\n3,x\x7fy\n"),
        text("shapes/invisible-characters.csv",
             "id,text\n1,zero\u200bwidth\n2,\u202eright\n3,no\u00a0break\n4,e\u0301\n"),
        text("shapes/emoji.csv", "id,text\n1,👩‍👩‍👧‍👦 family\n2,🇮🇪\n3,𝒳\n"),
        text("shapes/ends-with-ctrl-z.csv", PLAIN + "\x1a", note="A mark of DOS for the end of a file is a row."),
    ]


def values() -> list[Item]:
    dates = "id;iso;dotted;us;short\n1;2024-01-31;31.01.2024;1/31/2024;31.01.24\n"
    dates += "2;2024-02-29;29.2.2024;2/29/2024;29.02.99\n"
    asked = "id,date\n1,01/02/2024\n2,03/04/2024\n3,05/06/2024\n"
    numbers = "id,point,group\n1,0.5,\"1,234.50\"\n2,-12.25,\"12,345,678.00\"\n3,1e3,7\n"
    words = "id;de;fr;en;it;nl\n1;wahr;vrai;TRUE;sì;ja\n2;falsch;faux;FALSE;no;nee\n3;Ja;Oui;yes;vero;waar\n"
    return [
        text("values/dates.csv", dates, delimiter=";", types={
            "iso": ("date", "%Y-%m-%d"), "dotted": ("date", "%d.%m.%Y"), "us": ("date", "%m/%d/%Y")}),
        text("values/dates-ambiguous.csv", asked, error="ambiguous_column",
             options={"schema": {"properties": {"date": {"type": "string", "format": "date"}}}}),
        text("values/dates-ambiguous-given.csv", asked, types={"date": ("date", "%d/%m/%Y")},
             options={"dateOrder": "dmy"}),
        text("values/dates-two-digit-years.csv", "id;born\n1;31.12.49\n2;13.01.68\n3;28.02.07\n", delimiter=";",
             error="pivot_year_missing",
             options={"schema": {"properties": {"born": {"type": "string", "format": "date"}}}}),
        text("values/dates-two-digit-years-given.csv", "id;born\n1;31.12.71\n2;13.01.99\n3;28.02.07\n", delimiter=";",
             types={"born": ("date", "%d.%m.%y")}, options={"pivotYear": 1969}),
        text("values/numbers.csv", numbers.replace("3,1e3,7", "3,1000,7"),
             types={"point": ("number", "."), "group": ("number", ".")}),
        text("values/numbers-ambiguous.csv", 'id,n\n1,"1,234"\n2,"5,678"\n', error="ambiguous_column",
             options={"schema": {"properties": {"n": {"type": "number"}}}}),
        text("values/numbers-conflicting.csv", 'id;n\n1;1.234,50\n2;1,234.50\n', delimiter=";",
             error="conflicting_column", options={"schema": {"properties": {"n": {"type": "number"}}}}),
        text("values/booleans.csv", words, delimiter=";", options={"schema": {"properties": {
            column: {"type": "boolean"} for column in ("de", "fr", "en", "it", "nl")}}}),
        text("values/leading-zeros.csv",
             "zip,phone,id\n01067,0049351,00000000000000000001\n00501,+1 555,9007199254740993\n"),
        text("values/spaces-around.csv", "id,n,d\n1, 5 , 2024-01-31\n2,\t7,2024-02-01 \n"),
    ]


def items() -> list[Item]:
    return delimiters() + quotes() + headers() + rows() + values()
