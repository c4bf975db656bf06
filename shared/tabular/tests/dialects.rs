//! Recognition of delimiters and quotes in tables as programs write them.

use longshore_domain::records::{Delimiter, Dialect, Extent, Quote, TextEncoding};
use longshore_tabular::{DetectedDialect, detect_dialect};

use Delimiter::{Comma, Pipe, Semicolon, Tab};

fn detect(text: &str) -> DetectedDialect {
    detect_dialect(text.as_bytes(), Extent::Whole, TextEncoding::UTF_8)
}

const fn dialect(delimiter: Delimiter) -> Dialect {
    Dialect { delimiter, quote: Quote::Double }
}

#[test]
fn a_delimiter_is_found_in_tables_of_every_kind() {
    let table: [(&str, Delimiter); 23] = [
        ("id,name\n1,Ann\n2,Bob\n", Comma),
        ("id;name\n1;Ann\n2;Bob\n", Semicolon),
        ("id\tname\n1\tAnn\n2\tBob\n", Tab),
        ("id|name\n1|Ann\n2|Bob\n", Pipe),
        // Decimal commas.
        ("Name;Betrag;Datum\nMüller;1.234,56;01.02.2024\nMaier;7,00;02.02.2024\n", Semicolon),
        ("Preis;Menge\n1,5;2,5\n3,5;4,5\n", Semicolon),
        ("Preis,netto;Preis,brutto\n1,5;2,5\n", Semicolon),
        ("Name\tBetrag\nMüller\t1,5\nMaier\t2,5\n", Tab),
        // Another delimiter within text.
        ("name,notes\nAnn,a;b;c\nBob,d;e;f\n", Comma),
        ("name;notes\nAnn;one, two\nBob;three, four\n", Semicolon),
        ("name,notes\nAnn,\"x; y; z\"\nBob,\"u; v; w\"\n", Comma),
        ("time\tmessage\n10:00\ta, b\n10:01\tc, d\n", Tab),
        // Rows above the table.
        (
            "Kontoauszug, erstellt am 1.2.2024\n\nDatum;Betrag;Text\n1.2.2024;5,00;Miete\n2.2.2024;6,50;Strom\n",
            Semicolon,
        ),
        ("Report\nid,name\n1,Ann\n2,Bob\n", Comma),
        ("Umsätze\nKonto: 123;\n;\nDatum;Betrag;Text\n1.2.2024;5,00;Miete\n2.2.2024;6,50;Strom\n", Semicolon),
        (
            "\"Girokonto\";\"DE02\"\n\"\"\n\"Stand:\";\"1.234,56\"\n\"\"\n\"Datum\";\"Text\";\"Betrag\"\n\"1.2.24\";\"a\";\"-1.080,00\"\n\
             \"2.2.24\";\"b\";\"312,77\"\n\"3.2.24\";\"c\";\"-54,3\"\n",
            Semicolon,
        ),
        ("Bank;ING\nKunde;Ann\nZeitraum;Mai\nDatum;Text;Betrag\n1.2.24;Miete;-42,50\n2.2.24;Strom;7,00\n", Semicolon),
        // Rows of different lengths.
        ("id,name,age\n1101,John\n1102,Julie,26,Potatoes\n", Comma),
        ("a,b,c\n1,2\n3\n4,5,6\n7,8,9\n", Comma),
        ("a;b;c\nx,1;y;z\nu,2;v\np,3;q;r\n", Semicolon),
        // Header only, and quotes.
        ("id;name;e-mail\n", Semicolon),
        ("\"id\",\"name, first\"\n\"1\",\"Ann, B\"\n", Comma),
        ("\"a\nb\";c\n\"d\ne\";f\n", Semicolon),
    ];
    for (text, delimiter) in table {
        assert_eq!(detect(text), DetectedDialect::Found(dialect(delimiter)), "{text:?}");
    }
}

#[test]
fn a_file_without_a_delimiter_has_a_single_column() {
    for (text, delimiter) in [
        ("", Comma),
        ("email\nann@example.com\nbob@example.com\n", Comma),
        ("Preis\n1,5\n2,5\n3,75\n", Semicolon),
        ("text\nHello, you\nGood evening\nYes, indeed, it is\n", Semicolon),
        ("text\na,b\nc;d\ne\tf\ng|h\ni\nj\nk\n", Comma),
    ] {
        assert_eq!(detect(text), DetectedDialect::SingleColumn(dialect(delimiter)), "{text:?}");
    }
}

#[test]
fn the_first_line_can_name_the_delimiter() {
    for (text, delimiter, table_from) in [
        ("sep=;\r\na;b\r\n", Semicolon, 7),
        ("SEP=,\na,b\n", Comma, 6),
        ("\"sep=\t\"\na\tb\n", Tab, 8),
        ("sep=|", Pipe, 5),
        ("sep=;\ra;b\r", Semicolon, 6),
    ] {
        assert_eq!(detect(text), DetectedDialect::Named { dialect: dialect(delimiter), table_from }, "{text:?}");
    }
    assert_eq!(detect("sep=:\na:b\n"), DetectedDialect::Unsupported { delimiter: ':', table_from: 6 });
    // A column of this name.
    assert_eq!(detect("sep=x,b\n1,2\n"), DetectedDialect::Found(dialect(Comma)));
}

#[test]
fn a_file_that_fits_two_delimiters_is_ambiguous() {
    let ambiguous = |first, second| DetectedDialect::Ambiguous([dialect(first), dialect(second)]);
    assert_eq!(detect("a;b,c\nx;y,z\n"), ambiguous(Comma, Semicolon));
    assert_eq!(detect("a;b|c\n1;2|3\n4;5|6\n"), ambiguous(Semicolon, Pipe));
}

#[test]
fn apostrophes_quote_if_they_surround_all_cells_of_a_column() {
    let single = |delimiter| DetectedDialect::Found(Dialect { delimiter, quote: Quote::Single });
    assert_eq!(detect("'id','name'\n'1','Ann, B'\n'2','O\n'\n"), single(Comma));
    assert_eq!(detect("id;'name'\n1;'a;b'\n2;'c'\n"), single(Semicolon));
    for text in ["id,name\n'007,Ann\n'008,Bob\n", "id,name\n1,'Ann'\n2,Bob\n", "id,\n1,\n2,\n"] {
        assert_eq!(detect(text), DetectedDialect::Found(dialect(Comma)), "{text:?}");
    }
}

#[test]
fn the_last_row_of_a_beginning_may_be_cut_off() {
    let head = b"id;a,b;c\n1;2,0;3\n4;5,";
    let found = detect_dialect(head, Extent::Start, TextEncoding::UTF_8);
    assert_eq!(found, DetectedDialect::Found(dialect(Semicolon)));
    let only = detect_dialect(b"id;a;b;c;d", Extent::Start, TextEncoding::UTF_8);
    assert_eq!(only, DetectedDialect::Found(dialect(Semicolon)));
}

/// `|` is the second byte of a character: the text must not be cut there.
#[test]
fn a_part_of_a_character_is_no_delimiter() {
    let shift_jis = TextEncoding::named("shift_jis").unwrap();
    // The second byte of "ポ" is 0x7C.
    let head = b"\x83\x7c,\x83\x7c\n\x83\x7c,\x83\x7c\n";
    assert!(head.contains(&b'|'));
    assert_eq!(detect_dialect(head, Extent::Whole, shift_jis), DetectedDialect::Found(dialect(Comma)));
}

/// Any bytes are read without a panic.
#[test]
fn hostile_bytes_are_read() {
    let mut heads: Vec<Vec<u8>> = vec![
        b",;\t|".repeat(16 << 10),
        b"\"".repeat(64 << 10),
        b"'\n".repeat(32 << 10),
        b"\n".repeat(64 << 10),
        (0..=255).cycle().take(64 << 10).collect(),
        b"sep=".to_vec(),
        b"\"sep=\"".to_vec(),
    ];
    heads.push((1..400).flat_map(|width| [b",".repeat(width), b"\n".to_vec()].concat()).collect());
    for head in heads {
        for extent in [Extent::Whole, Extent::Start] {
            detect_dialect(&head, extent, TextEncoding::UTF_8);
        }
    }
}
