//! Crafted JSON Lines: valid and invalid lines, and the bytes around them.

use super::case::File;

/// Name, bytes and failing rows of each file. `id` is the key.
const FILES: &[(&str, &[u8], &[u64])] = &[
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
    ("an array over lines", b"[\n{\"id\":1},\n{\"id\":2}\n]\n", &[1, 2, 4]),
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

/// All crafted JSON files.
pub(super) fn files() -> Vec<File> {
    let mut files: Vec<_> = FILES.iter().map(|(name, bytes, bad)| File::json_lines(name, *bytes, bad)).collect();
    let nested = DEPTHS.map(|n| format!("{{\"id\":{n},\"a\":{}1{}}}\n", "[".repeat(n), "]".repeat(n)));
    files.push(File::json_lines("nesting", nested.concat(), &[2, 3]));
    files
}
