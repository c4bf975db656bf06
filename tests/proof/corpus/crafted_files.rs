//! Crafted files, CSV and JSON Lines. Each CSV file contains one construct about which CSV parsers disagree, on which
//! they fail, or which they read in blocks. The JSON Lines have valid and invalid lines, and the bytes around them.

use super::case::{File, Work};

/// Name and bytes of each file. The first column is the key.
const CSV_FILES: &[(&str, &[u8])] = &[
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
    ("a line of a space is no row", b"id,a\n1,x\n \n2,y\n"),
    ("a line of a tab is no row", b"id\n\t\nx\n"),
    ("a line of an empty quoted cell is a row", b"id\n\"\"\n1\n"),
    ("a line of a comma is no row", b"id,a\n,\n1,x\n"),
    ("rows without text", b"id,a\n,\n1,x\n , \n\t\n,,,,\r\n2,y\n,"),
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

/// All crafted files.
pub(super) fn files() -> Vec<File> {
    let mut files = csv_files();
    files.extend(json_files());
    files
}

fn csv_files() -> Vec<File> {
    let plain = CSV_FILES.iter().map(|(name, bytes)| File::csv(name, *bytes));
    plain.chain(ORDERS.iter().map(|(name, bytes)| File::csv(name, *bytes).only(Work::Probe))).collect()
}

/// Name, bytes and failing rows of each file. `id` is the key.
const JSON_FILES: &[(&str, &[u8], &[u64])] = &[
    ("lines", b"{\"id\":1}\n{\"id\":2}\n", &[]),
    ("lines without line end", b"{\"id\":1}\n{\"id\":2}", &[]),
    ("lines with crlf", b"{\"id\":1}\r\n{\"id\":2}\r\n", &[]),
    ("lines with cr alone are one line", b"{\"id\":1}\r{\"id\":2}\r", &[1]),
    ("lines with cr cr lf", b"{\"id\":1}\r\r\n{\"id\":2,\r\r\n{\"id\":3}\r", &[2]),
    ("blank lines between lines", b"\n\n{\"id\":1}\n \n\t\r\n{\"id\":2}\n\n", &[]),
    ("white space around lines", b"  {\"id\":1}  \n\t{\"id\":2}\t\r\n \r {\"id\":3}\n", &[]),
    ("a byte order mark before lines", b"\xef\xbb\xbf{\"id\":1}\n{\"id\":2}\n", &[]),
    ("a byte order mark before a later line", b"{\"id\":1}\n\xef\xbb\xbf{\"id\":2}\n", &[2]),
    ("lines that are no objects", b"1\nnull\n[]\n\"x\"\ntrue\n{}\n{\"id\":1}\n", &[1, 2, 3, 4, 5, 6]),
    ("lines that are no JSON", b"{\"id\":1}\nid,a\n{'id':2}\n{\"id\":3,}\n{id:4}\n{\"id\":NaN}\n", &[2, 3, 4, 5, 6]),
    ("lines that are broken off", b"{\"id\":1}\n{\"id\":2\n}\n{\"id\":\"3\n", &[2, 3, 4]),
    ("two values in a line", b"{\"id\":1}{\"id\":2}\n{\"id\":3} {\"id\":4}\n{\"id\":5},\n{\"id\":6}\n", &[1, 2, 3]),
    ("a file of one array", b"[{\"id\":1},{\"id\":2}]", &[1]),
    ("nested values", b"{\"id\":1,\"a\":{\"b\":[1,{\"c\":null}]}}\n{\"a\":{\"id\":2}}\n", &[2]),
    ("escaped line ends", b"{\"id\":\"a\\nb\"}\n{\"id\":\"\\u000a\",\"x\":\"\\r\\n\"}\n", &[]),
    ("unicode line separators in lines", "{\"id\":\"a\u{2028}b\"}\n\u{2028}\n{\"id\":\"\u{85}\"}\n".as_bytes(), &[2]),
    ("noncharacters in lines", "{\"id\":\"\u{fffe}\"}\n{\"id\":\"x\u{ffff}\",\"\u{ffff}\":\"\\ufffe\"}\n".as_bytes(), &[]),
    ("escaped surrogates", b"{\"id\":\"\\ud83d\\ude00\"}\n{\"id\":\"\\ud83d\"}\n{\"id\":\"\\ude00\\ud83d\"}\n", &[2, 3]),
    ("lines that are no UTF-8", b"{\"id\":1}\n{\"id\":\"\xe4\"}\n{\"id\":2}\n\xff\xff\n", &[2, 4]),
    ("surrogates in UTF-8 in lines", b"{\"id\":\"\xed\xa0\x80\"}\n{\"id\":2}\n", &[1]),
    ("members that come twice", b"{\"id\":1,\"id\":2}\n{\"a\":1,\"id\":3,\"a\":2}\n", &[]),
    ("keys of every kind", b"{\"id\":true}\n{\"id\":1.5}\n{\"id\":null}\n{\"id\":[1]}\n{\"id\":\"\"}\n{\"id\":-7}\n{\"id\":\"x\"}\n", &[2, 3, 4, 5]),
    ("keys that look alike", b"{\"id\":1}\n{\"id\":\"1\"}\n{\"id\":1}\n{\"id\":\"01\"}\n{\"id\":\"1.0\"}\n", &[]),
    ("numbers at their limits", b"{\"id\":18446744073709551615}\n{\"id\":-9223372036854775808}\n{\"id\":1,\"n\":1e400}\n{\"id\":2,\"n\":1e300}\n{\"id\":3,\"n\":-0.5}\n", &[3, 4]),
    ("numbers with too many digits", b"{\"id\":1,\"n\":18446744073709551616}\n{\"id\":2,\"n\":12345678901234567890123}\n{\"id\":3,\"n\":0.1234567890123456789}\n", &[1, 2]),
    ("properties without a name", b"{\"id\":1,\"\":2}\n{\"id\":2,\"a\":{\"\":1}}\n{\"id\":3}\n", &[1, 2]),
    ("controls within strings", b"{\"id\":\"a\x01b\"}\n{\"id\":\"a\tb\"}\n{\"id\":\"a\\u0001b\"}\n", &[1, 2]),
    ("lines that a spreadsheet takes for formulas", b"=1+1\n-5\n+x\n@a\n'=1\n{\"id\":1}\n", &[1, 2, 3, 4, 5]),
    ("quotes over lines", b"\"a\nb\"\n{\"id\":1}\n", &[1, 2]),
    ("comments in lines", b"// a comment\n{\"id\":1} // one\n# two\n/* */ {\"id\":2}\n", &[1, 2, 3, 4]),
];

/// Levels of nesting: within a record's limit, beyond that limit, and beyond the JSON parser's limit.
const DEPTHS: [usize; 3] = [20, 40, 200];

fn json_files() -> Vec<File> {
    let mut files: Vec<_> = JSON_FILES.iter().map(|(name, bytes, bad)| File::json_lines(name, *bytes, bad)).collect();
    let nested = DEPTHS.map(|n| format!("{{\"id\":{n},\"a\":{}1{}}}\n", "[".repeat(n), "]".repeat(n)));
    files.push(File::json_lines("nesting", nested.concat(), &[2, 3]));
    files
}
