//! Crafted CSV files. Each contains one construct about which CSV parsers disagree, on which they fail, or which they
//! read in blocks.

use super::case::{File, Work};

/// Name and bytes of each file. The first column is the key.
const FILES: &[(&str, &[u8])] = &[
    // Line ends.
    ("plain", b"id,a,b\n1,x,y\n2,z,w\n"),
    ("crlf", b"id,a\r\n1,x\r\n2,y\r\n"),
    ("cr alone", b"id,a\r1,x\r2,y\r"),
    ("all three line ends", b"id,a\n1,x\r2,y\r\n3,z\n"),
    ("no line end at the end", b"id,a\n1,x\n2,y"),
    ("cr at the end", b"id,a\n1,x\n2,y\r"),
    ("lf cr, the wrong way round", b"id,a\n\r1,x\n\r2,y\n\r"),
    ("cr cr lf", b"id,a\r\r\n1,x\r\r\n2,y\r\r\n"),
    ("cr within a quoted cell", b"id,a\n1,\"x\ry\"\n2,z\n"),
    ("crlf within a quoted cell", b"id,a\r\n1,\"x\r\ny\"\r\n2,z\r\n"),
    ("lf within a quoted cell of a crlf file", b"id,a\r\n1,\"x\ny\"\r\n,bad\r\n"),
    ("line ends only within one cell", b"id,a\n1,\"\n\r\n\r\n\n\"\n"),
    ("vertical tab and form feed", b"id,a\n1,x\x0by\n2,\x0c\n\x0c\n"),
    ("unicode line separators", "id,a\n1,x\u{2028}y\u{2029}z\n2,\u{85}\n\u{2028}\n".as_bytes()),
    (
        "noncharacters, which a message cannot hold",
        "id,a\n1,x\u{fffe}y\n2,\u{ffff}\n\u{fffe},z\n4,\u{fffd}\n".as_bytes(),
    ),
    // Blank lines.
    ("blank lines in between", b"id,a\n\n1,x\n\n\n2,y\n\n"),
    ("blank lines in front", b"\n\r\n\n\rid,a\n1,x\n"),
    ("blank lines behind", b"id,a\n1,x\n\n\n\r\n\r\n"),
    ("blank lines of a crlf file", b"id,a\r\n\r\n1,x\r\n\r\n\r\n2,y\r\n\r\n"),
    ("a line of a space is a row", b"id,a\n1,x\n \n2,y\n"),
    ("a line of a tab is a row", b"id\n\t\nx\n"),
    ("a line of an empty quoted cell is a row", b"id\n\"\"\n1\n"),
    ("a line of a comma is a row", b"id,a\n,\n1,x\n"),
    // Quotes.
    ("every cell quoted", b"\"id\",\"a\"\n\"1\",\"x\"\n\"2\",\"y\"\n"),
    ("every cell quoted, crlf", b"\"id\",\"a\"\r\n\"1\",\"x\"\r\n\"2\",\"\"\r\n"),
    ("doubled quotes", b"id,a\n1,\"say \"\"hi\"\"\"\n2,\"\"\"\"\n3,\"\"\"\"\"\"\n"),
    ("a quote inside a plain cell", b"id,a\n1,5\" pipe\n2,a\"b\"c\n"),
    ("a quote at the end of a plain cell", b"id,a\n1,x\"\n2,y\n"),
    ("a space before the opening quote", b"id,a,b\n1, \"x,y\"\n2, \"z\",w\n"),
    ("letters after the closing quote", b"id,a\n1,\"x\"y\n2,\"x\" \n3,\"x\"\"y\"z\n"),
    ("a closing quote and another cell's opening", b"id,a,b\n1,\"x\"\"y\",z\n2,\"x\",\"y\"\n"),
    ("a quote reopened after the closing one", b"id,a\n1,\"x\" \"y,z\"\n2,\"x\" \"y\n"),
    ("delimiters within quotes", b"id,a\n1,\",,,\"\n2,\",\"\n\",\",x\n"),
    ("a quote that is never closed", b"id,a\n1,x\n2,\"y\n3,z\n"),
    ("a quote that is never closed in the last cell", b"id,a\n1,x\n2,\""),
    ("a doubled quote at the very end", b"id,a\n1,x\n2,\"y\"\""),
    ("a closing quote at the very end", b"id,a\n1,x\n2,\"y\""),
    ("a lone quote as the last line", b"id,a\n1,x\n\""),
    ("quotes of typography", "id,a\n1,\u{201c}x,y\u{201d}\n2,\u{ab}z\u{bb}\n".as_bytes()),
    ("single quotes do not quote", b"id,a\n1,'x\n2,'y,z'\n"),
    ("backslashes do not escape", b"id,a\n1,\"x\\\"\n2,\\\n3,\"\\\\\"\n"),
    ("backslash before a quote", b"id,a\n1,\"a\\\"\",b\n2,\\\"x\n"),
    // Cells and columns.
    ("one column", b"id\n1\n2\n3\n"),
    ("one column without line end", b"id\n1"),
    ("too few cells", b"id,a,b\n1\n2,x\n3,x,y\n"),
    ("too many cells", b"id,a\n1,x,y\n2,x,,,\n3,\"x\",\"y,z\"\n4,w\n"),
    ("a trailing comma in each row", b"id,a\n1,x,\n2,y,\n"),
    ("a trailing comma in the header", b"id,a,\n1,x,y\n2,z,\n3,z\n"),
    ("empty cells", b"id,a,b\n1,,\n2,\"\",\n,,\n\"\",\"\",\"\"\n"),
    ("a column without a name", b"id,,b\n1,x,y\n,x,y\n"),
    ("a header of spaces around names", b" id , a \n1,x\n2,y\n"),
    ("a header in quotes with commas and line ends", b"id,\"a,b\",\"c\nd\"\n1,x,y\n,y,z\n"),
    ("names of the report's own columns", b"row,code,field,message,reason\n1,a,b,c,d\n,a,b,c,d\n"),
    ("names of the report's own columns, numbered", b"id,row,row_2,code,code_2\n1,a,b,c,d\n,a,b,c,d\n"),
    ("names in another case", b"id,Id,ID\n1,x,y\n2,z,w\n"),
    ("names that are numbers", b"1,2,3\n4,5,6\n,5,6\n"),
    ("keys that come twice", b"id,a\n1,x\n2,y\n1,z\n2,w\n1,v\n"),
    ("keys that differ in case and spaces", b"id,a\nk,1\nK,2\n k,3\nk ,4\n\"k\",5\n"),
    ("keys of what separates keys", b"id,a\n#,x\n/,y\na#b,z\n%23,w\n?,v\n&,u\n"),
    ("other delimiters are letters", b"id;a,b\n1;x,y\n2|z,w\n\t,u\n"),
    ("tabs between the cells", b"id\ta\n1\tx\n2\ty\n"),
    ("the hint of a spreadsheet for its delimiter", b"sep=,\nid,a\n1,x\n"),
    ("comments are rows", b"id,a\n#1,x\n# a comment\n2,y\n"),
    // Characters.
    ("a byte order mark", b"\xef\xbb\xbfid,a\n1,x\n2,y\n"),
    ("a byte order mark and blank lines", b"\xef\xbb\xbf\r\n\nid,a\r\n1,x\r\n"),
    ("a byte order mark before a quote", b"\xef\xbb\xbf\"id\",a\n1,x\n,y\n"),
    ("two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbfid,a\n1,x\n,y\n"),
    ("byte order marks at the rows", b"id,a\n\xef\xbb\xbf1,x\n2,\xef\xbb\xbf\n\xef\xbb\xbf\n"),
    ("a row in Latin-1", b"id,a\n1,x\n2,\xe4\n3,z\n"),
    ("bytes that are no UTF-8 anywhere", b"id,a\n\xff,\xfe\n1,\xc0\xaf\n\x80\x80,x\n\"\xff\",\"\n\xff\"\n"),
    ("a cut sequence at the end of a cell and of the file", b"id,a\n1,\xe2\x82\n2,x\n3,\xf0\x9f\x98"),
    ("surrogates in UTF-8", b"id,a\n1,\xed\xa0\x80\n2,\xed\xb0\x80x\n3,y\n"),
    ("overlong encodings", b"id,a\n1,\xc0\x80\n2,\xe0\x80\xaf\n3,y\n"),
    ("letters of every width", "id,a\n1,aü€😀\n😀,x\n,ü€😀\n".as_bytes()),
    ("combining marks and both normal forms", "id,a\n\u{e9},1\ne\u{301},2\n,\u{301}\n".as_bytes()),
    ("right to left, zero width, controls", "id,a\n1,\u{202e}x\u{200b}\n\u{200b},y\n\u{1},\u{7f}\n".as_bytes()),
    ("names in other scripts", "id,имя,名前,اسم\n1,а,山,ب\n,а,山,ب\n".as_bytes()),
    ("noncharacters", "id,a\n1,\u{fffe}\u{ffff}\n2,\u{10ffff}\n,\u{fffd}\n".as_bytes()),
    // Cells that a spreadsheet would evaluate as formulas (CSV injection).
    ("formulas that fail", b"id,a\n,=1+1\n,@SUM(A1)\n,+x\n,-y\n,\"=\"\"x\"\"\"\n,-5.2\n,+3e4\n"),
    ("formulas as keys", b"=id,a\n=1,x\n,=2\n"),
    ("apostrophes before formulas", b"id,a\n,'=1\n,''=1\n,'x\n,'-5\n,'\n,'-x\n"),
    ("cells that begin with tab and return", b"id,a\n,\"\t=1\"\n,\"\r=1\"\n,\"\n=1\"\n, =1\n"),
    // Files without rows.
    ("only a header", b"id,a\n"),
    ("only a header, without line end", b"id,a"),
    ("only a header and blank lines", b"id,a\r\n\r\n\n\r\n"),
];

/// Files for the probe, whose rows name their own outcome, in all dialects.
const ORDERS: &[(&str, &[u8])] = &[
    ("orders", b"action,text\nok,a\nskip,b\nreject,c\nok,d\npanic,e\nnonsense,f\nok\n"),
    (
        "orders in quotes, with line ends",
        b"\"action\",\"text\"\r\n\"ok\",\"a\r\nb\"\r\n\"skip\",\"\"\"\"\r\n\"reject\",\"\n\"\r\n",
    ),
    ("orders that are skipped with formulas", b"action,text\nskip,=1+1\nskip,-5\nskip,'=x\nskip,\"@a,b\"\n"),
    ("orders that go round again", b"action,rounds,text\nretry,1,a\nok,0,b\nretry,1,\"c\nd\"\nreject,0,e\n"),
    ("orders under a byte order mark, cr alone", b"\xef\xbb\xbfaction,text\rok,a\rskip,b\r\rreject,c"),
    ("orders that are never closed", b"action,text\nskip,a\nreject,\"b\nok,c\nskip,d\n"),
    ("orders that are no UTF-8", b"action,text\nskip,\xff\nskip,a\nok,\xe4\nreject,b\n"),
];

/// All crafted CSV files.
pub(super) fn files() -> Vec<File> {
    let plain = FILES.iter().map(|(name, bytes)| File::csv(name, *bytes));
    plain.chain(ORDERS.iter().map(|(name, bytes)| File::csv(name, *bytes).only(Work::Probe))).collect()
}
