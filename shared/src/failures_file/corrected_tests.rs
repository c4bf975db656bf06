//! Corrected files as spreadsheets and people save them.

use longshore_domain::outcome::Rejection;
use longshore_domain::work_file::End;

use super::*;
use crate::failures_file::Findings;
use crate::formula::harmless;

fn columns() -> Columns {
    Columns::Named(vec!["id".into(), "name".into()])
}

fn parse(file: &str) -> CorrectedFile {
    CorrectedFile::parse(file.as_bytes().to_vec(), columns(), 100).unwrap()
}

fn failed(n: u64, raw: &str, damaged: bool) -> Entry {
    Entry { n, end: End::Failed(Rejection::new("bad", None, "no")), raw: raw.into(), damaged }
}

fn correction(file: &CorrectedFile, n: u64) -> Option<String> {
    match file.correction(&failed(n, "1,old", false)) {
        Correction::As(raw) => Some(raw),
        Correction::Absent | Correction::Unchanged => None,
    }
}

/// Returns the codes of the findings after these items have failed.
fn issues(file: &CorrectedFile, items: &[Entry]) -> Vec<(String, String)> {
    let mut findings = Findings::new(file);
    items.iter().for_each(|item| findings.compare(item));
    let code_and_numbers = |issue: longshore_domain::job::JobError| {
        let numbers = issue.message.split(['(', ')']).nth(1).unwrap_or_default().to_owned();
        (issue.code, numbers)
    };
    findings.issues().into_iter().map(code_and_numbers).collect()
}

#[test]
fn a_row_becomes_a_record_in_the_format_of_the_job() {
    for (file, expected) in [
        ("row,id,name\r\n7,1,Ann\r\n", "1,Ann"),
        ("row;name;id\r\n7;\"A; \"\"nn\"\"\";1\r\n", "1,\"A; \"\"nn\"\"\""),
        ("\u{feff}name\trow\tid\tmessage\n\"two\nlines\"\t 07 \t\t-\n", ",\"two\nlines\""),
        ("row,id,name,code\n7,'=1,''=1,c\n", "=1,'=1"),
        ("row,id,name\n7,'-x,-5\n", "-x,-5"),
        ("row,id,name,,\n7,1,,,\n,,,,\n\n", "1,"),
        ("row,name,id\n7,Ann\n", ",Ann"),
        ("row,id,name\n7,\"1,2\",\"\"\n", "\"1,2\","),
    ] {
        assert_eq!(correction(&parse(file), 7).as_deref(), Some(expected), "{file:?}");
        assert_eq!(correction(&parse(file), 8), None, "{file:?}");
        assert_eq!(issues(&parse(file), &[failed(7, "", false)]), [], "{file:?}");
    }
}

#[test]
fn an_ambiguous_row_has_no_effect_and_is_reported() {
    for (file, codes) in [
        ("row,id,name\n7,1,a\n7,2,b\n7,3,c\n9,1,a\n", vec![("corrected_rows_repeated", "7")]),
        ("row,id,name\n7,1,a,torn\n9,1,a\n", vec![("corrected_rows_unreadable", "2")]),
        ("row,id,name\n9,1,a\n7.0,1,a\n-7,1,a\n,1,a\n", vec![("corrected_rows_unreadable", "3, 4, 5")]),
        ("row,id,name\n9,1,a\n7,1,\"a\n8,2,b\n", vec![("corrected_rows_unreadable", "3")]),
        (
            "row,id,name\n7,1,a,torn\n7,1,a\n9,1,a\n",
            vec![("corrected_rows_repeated", "7"), ("corrected_rows_unreadable", "2")],
        ),
        (
            "row,id,name\n8,1,a\n9,1,a\n99999999999999999999,1,a\n",
            vec![("corrected_rows_unknown", "8"), ("corrected_rows_unreadable", "4")],
        ),
        (
            "row,id,name\n1,,a\n2,,a\n3,,a\n4,,a\n5,,a\n6,,a\n9,1,a\n",
            vec![("corrected_rows_unknown", "1, 2, 3, 4, 5, …")],
        ),
    ] {
        let read = parse(file);
        assert_eq!((correction(&read, 7), correction(&read, 9).as_deref()), (None, Some("1,a")), "{file:?}");
        let expected: Vec<_> = codes.into_iter().map(|(code, rows)| (code.to_owned(), rows.to_owned())).collect();
        assert_eq!(issues(&read, &[failed(7, "", false), failed(9, "", false)]), expected, "{file:?}");
    }
    let read = parse(&format!("row,id,name\n10,1,{}\n9,1,a\n", "x".repeat(100)));
    assert_eq!((correction(&read, 10), correction(&read, 9).as_deref()), (None, Some("1,a")));
    let mostly_utf8 = [b"row,id,name\n7,1,\xe4\n".as_slice(), "9,1,\u{e4}\u{f6}\u{fc}\u{df}\n".as_bytes()].concat();
    let read = CorrectedFile::parse(mostly_utf8, columns(), 100).unwrap();
    assert_eq!((correction(&read, 7), correction(&read, 9).as_deref()), (None, Some("1,\u{e4}\u{f6}\u{fc}\u{df}")));
}

#[test]
fn a_file_in_an_encoding_of_windows_is_read_and_reported() {
    let german = b"row;id;name\n7;1;M\xfcller\n8;2;Gr\xf6\xdfe\n9;1;J\xe4ger\n".to_vec();
    let read = CorrectedFile::parse(german, columns(), 100).unwrap();
    assert_eq!(correction(&read, 7).as_deref(), Some("1,M\u{fc}ller"));
    let codes = issues(&read, &[failed(7, "", false), failed(8, "", false), failed(9, "", false)]);
    assert_eq!(codes.iter().map(|(code, _)| code.as_str()).collect::<Vec<_>>(), ["corrected_encoding_guessed"]);
}

#[test]
fn an_unchanged_cell_keeps_its_kind_and_a_corrected_number_has_one() {
    let (number, error) = (CellKind::Number.encode("1.234"), CellKind::Error("why").encode("#N/A"));
    let raw = format!("{number},\"{error}\"");
    for (file, expected) in [
        ("row,id,name\n7,1.234,#N/A\n", raw.replace('"', "")),
        ("row,id,name\n7,1.234,x\n", format!("{number},x")),
        ("row,id,name\n7,\"1,5\",#N/A\n", format!("\"1,5\",{error}")),
        ("row,id,name\n7,\u{fdd1}1.5,y\n", format!("{},y", CellKind::Number.encode("1.5"))),
    ] {
        let corrected = parse(file);
        assert_eq!(corrected.correction(&failed(7, &raw, false)), Correction::As(expected), "{file:?}");
    }
    let corrected = |file: &str, raw: &str, damaged| parse(file).correction(&failed(7, raw, damaged));
    let surplus = corrected("row,id,name\n7,1.234,y\n", &format!("{number},{error},z"), false);
    assert_eq!(surplus, Correction::As(format!("{number},y")), "only the last cell is joined with others");
    // A person has typed the number 1.5 in the place of a text, or a program has made one of the text of CSV.
    let typed = "row,id,name\n7,\u{fdd1}1.5,caf\u{fffd}\n";
    assert_eq!(corrected(typed, "1.5,caf\u{fffd}", true), Correction::Unchanged, "nobody has corrected the row");
    let number = CellKind::Number.encode("1.5");
    assert_eq!(corrected(typed, "1.5,cafe", false), Correction::As(format!("{number},caf\u{fffd}")));
}

#[test]
fn rows_of_utf_8_are_read_in_a_file_that_is_mostly_not() {
    let mixed = b"row;id;name\n7;1;M\xfcller\n8;2;Gr\xf6\xdfe\n9;1;J\xc3\xa4ger\n".to_vec();
    let read = CorrectedFile::parse(mixed, columns(), 100).unwrap();
    let names = [7, 9].map(|n| correction(&read, n));
    assert_eq!(names.map(Option::unwrap), ["1,M\u{fc}ller", "1,J\u{e4}ger"]);
}

#[test]
fn a_file_without_rows_is_reported() {
    let codes = issues(&parse("row,id,name\n,,\n"), &[failed(7, "1,a", false)]);
    assert_eq!(codes.iter().map(|(code, _)| code.as_str()).collect::<Vec<_>>(), ["corrected_file_without_rows"]);
}

#[test]
fn a_row_of_an_item_that_did_not_fail_is_unknown() {
    let waiting =
        Entry { end: End::Transient { attempts: 1, reason: "busy".into(), due: None }, ..failed(7, "1,a", false) };
    let codes = issues(&parse("row,id,name\n7,1,a\n"), &[waiting]);
    assert_eq!(codes, [("corrected_rows_unknown".to_owned(), "7".to_owned())]);
}

#[test]
fn a_damaged_item_runs_only_if_its_row_was_changed() {
    for (raw, row, expected) in [
        ("1,\u{fffd}", "7,1,\u{fffd}", Correction::Unchanged),
        ("1,\u{fffd}", "7,1,ä", Correction::As("1,ä".into())),
        ("", "7,,", Correction::Unchanged),
        ("1,\"never closed,\nat all", "7,1,\"never closed,\nat all\"", Correction::Unchanged),
        ("1,\"never closed", "7,1,closed", Correction::As("1,closed".into())),
        ("1,=\u{fffd},more", "7,1,\"'=\u{fffd},more\"", Correction::Unchanged),
    ] {
        let (file, item) = (parse(&format!("row,id,name\n{row}\n")), failed(7, raw, true));
        assert_eq!(file.correction(&item), expected, "{raw:?} {row:?}");
        let codes = issues(&file, std::slice::from_ref(&item));
        let expected = if expected == Correction::Unchanged { vec!["corrected_rows_unchanged"] } else { vec![] };
        assert_eq!(codes.iter().map(|(code, _)| code.as_str()).collect::<Vec<_>>(), expected);
        assert!(
            matches!(file.correction(&Entry { damaged: false, ..item }), Correction::As(_)),
            "an undamaged item runs unchanged"
        );
    }
}

#[test]
fn a_json_line_is_used_verbatim() {
    let file = "row;item;code\n1;\"{\"\"a\"\": 1}\";x\n2;'=no json;x\n3;\n";
    let file = CorrectedFile::parse(file.as_bytes().to_vec(), Columns::Raw, 100).unwrap();
    assert_eq!(correction(&file, 1).as_deref(), Some("{\"a\": 1}"));
    assert_eq!(correction(&file, 2).as_deref(), Some("=no json"));
    assert_eq!(correction(&file, 3).as_deref(), Some(""));
    let number = CorrectedFile::parse("row,item\n1,\u{fdd1}2.5\n".into(), Columns::Raw, 100).unwrap();
    assert_eq!(correction(&number, 1).as_deref(), Some("2.5"), "JSON has no marks");
}

/// An untouched row of a report, saved with any delimiter, gives the item's own cells again.
#[test]
fn a_round_trip_preserves_every_cell() {
    let pieces = ["", "a", "=", "'", "''=", "-1", "+x", "\t", "\r", "\n", "\"", ",", ";", " ", "ä", "@", "'-", "\r\n"];
    let mut n = 0;
    for a in pieces {
        for b in pieces {
            for delimiter in *b",;\t" {
                n += 1;
                let (first, second) = (format!("{a}{b}"), format!("{b}{a}{b}"));
                let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
                writer.write_record(["row", "name", "id"]).unwrap();
                let shown =
                    [b"7".to_vec(), harmless(second.as_bytes(), b',').into(), harmless(first.as_bytes(), b',').into()];
                writer.write_record(shown).unwrap();
                let file = CorrectedFile::parse(writer.into_inner().unwrap(), columns(), 100).unwrap();
                let raw = correction(&file, 7).unwrap_or_else(|| panic!("{first:?} {second:?} is missing"));
                let mut reader = CellReader::default();
                let cells: Vec<_> = reader.read(raw.as_bytes()).iter().map(<[u8]>::to_vec).collect();
                assert_eq!(cells, [first.into_bytes(), second.into_bytes()]);
            }
        }
    }
    assert_eq!(n, 18 * 18 * 3);
}
