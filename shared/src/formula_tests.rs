//! Cells in reports, and their originals.

use super::{harmless, original};

/// Returns true if any of the cells that some spreadsheet could see begins as a formula, except numbers. Written
/// without the code under test.
fn shows_a_formula(shown: &str, delimiter: u8) -> bool {
    let is_separator = |c: char| matches!(c, ';' | '\t' | '\r' | '\n') || (c == ',' && delimiter != b',');
    shown.split(is_separator).chain([shown]).any(|text| {
        let lead = text.trim_start_matches([' ', '"', '\u{a0}', '\u{3000}', '\u{feff}']);
        let number = text.parse::<f64>().is_ok() && !text.contains(['n', 'N', 'i', 'I']);
        lead.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) && !number
    })
}

/// Every cell of up to five of these characters: none is a formula, and each is restored.
fn check_cells(characters: &str, delimiter: u8) {
    let mut cells = vec![String::new()];
    for _ in 0..5 {
        cells = cells.iter().flat_map(|cell| characters.chars().map(move |c| format!("{cell}{c}"))).collect();
        for cell in &cells {
            let shown = harmless(cell.as_bytes(), delimiter);
            assert!(!shows_a_formula(std::str::from_utf8(&shown).unwrap(), delimiter), "{cell:?}");
            // Two cells that look the same would be restored to one.
            assert_eq!(original(&shown, delimiter), cell.as_bytes(), "{shown:?}");
        }
    }
    assert_eq!(cells.len(), characters.chars().count().pow(5));
}

#[test]
fn every_cell_is_restored_and_none_is_a_formula() {
    check_cells("'=-＋;\n\t 5.\"a", b',');
}

#[test]
fn a_comma_splits_the_cells_of_files_with_other_delimiters() {
    check_cells("'=-,;\n5a", b';');
    check_cells("'=-,;\t5a", b'\t');
    assert_eq!(&*harmless(b"x,=1", b';'), b"x,'=1");
}

#[test]
fn bytes_that_are_not_utf8_are_restored() {
    for cell in [&b"\xff=1"[..], b"=\xff", b";\xef\xbc\x9d\n=", b"\xef\xbc", b"'\xff;'=\xfe"] {
        assert_eq!(original(&harmless(cell, b','), b','), cell);
    }
}

#[test]
fn formulas_are_neutralised_but_numbers_are_not_and_all_are_restored() {
    for (cell, expected) in [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-x", "'-x"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1+1", "'＝1+1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\rx", "'\rx"),
        ("\n", "'\n"),
        ("\n=1", "'\n'=1"),
        (" =1", "' =1"),
        ("\u{a0}\u{3000}=1", "'\u{a0}\u{3000}=1"),
        ("\"=1\"", "'\"=1\""),
        ("+7\t1", "'+7\t1"),
        ("-5\n", "'-5\n"),
        ("a;=1", "a;'=1"),
        (";=1;-2;-x", ";'=1;-2;'-x"),
        ("text\n=1\r\n@a", "text\n'=1\r\n'@a"),
        ("a;'=1", "a;''=1"),
        ("-", "'-"),
        ("+", "'+"),
        ("-.", "'-."),
        ("-e5", "'-e5"),
        ("-5e", "'-5e"),
        ("--5", "'--5"),
        ("-1-2", "'-1-2"),
        ("-1.2.3", "'-1.2.3"),
        ("+49 30 1", "'+49 30 1"),
        ("-5.2", "-5.2"),
        ("-.5", "-.5"),
        ("+3e4", "+3e4"),
        ("+3E-4", "+3E-4"),
        ("-5", "-5"),
        ("+4930", "+4930"),
        ("a=b", "a=b"),
        ("a,=b", "a,=b"),
        ("a; b", "a; b"),
        ("", ""),
        ("'", "'"),
        ("'a", "'a"),
        ("'-5", "'-5"),
        ("'=1", "''=1"),
        ("''=1", "'''=1"),
    ] {
        let shown = harmless(cell.as_bytes(), b',');
        assert_eq!(String::from_utf8_lossy(&shown), expected, "{cell:?}");
        assert_eq!(original(&shown, b','), cell.as_bytes(), "{expected:?}");
    }
}

/// Earlier versions did not split cells into texts.
#[test]
fn cells_of_reports_of_earlier_versions_are_restored() {
    for (shown, cell) in [("'\t=1", "\t=1"), ("'=1", "=1"), ("'\rx", "\rx"), ("a;=1", "a;=1"), ("''=1", "'=1")] {
        assert_eq!(original(shown.as_bytes(), b','), cell.as_bytes());
    }
}
