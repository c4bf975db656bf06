//! Cells and rows of the input, and their form in a report.

use longshore_domain::sheet_rows::SheetRows;

use super::*;

fn cells(record: &ByteRecord) -> Vec<String> {
    record.iter().map(|c| String::from_utf8(c.to_vec()).unwrap()).collect()
}

fn builder(columns: &[&str]) -> RowBuilder {
    RowBuilder::new(Columns::Named(columns.iter().map(|c| (*c).to_owned()).collect()), None)
}

#[test]
fn rows_are_rectangular_and_complete() {
    for (raw, expected) in [
        ("a,b,c", ["7", "a", "b", "c", "why"]),
        ("a", ["7", "a", "", "", "why"]),
        ("", ["7", "", "", "", "why"]),
        ("a,b,c,d,e", ["7", "a", "b", "c,d,e", "why"]),
        ("a,b,c,", ["7", "a", "b", "c,", "why"]),
        ("a,b,c,\"d,\"\"\"", ["7", "a", "b", "c,d,\"", "why"]),
        ("a,b,=c,d", ["7", "a", "b", "'=c,d", "why"]),
        ("a,b,-1,2", ["7", "a", "b", "'-1,2", "why"]),
        ("\"a\nb\",=1,-1", ["7", "a\nb", "'=1", "-1", "why"]),
    ] {
        assert_eq!(cells(builder(&["x", "y", "z"]).row(7, raw.as_bytes(), &["why"])), expected, "{raw:?}");
    }
}

#[test]
fn rows_of_a_sheet_have_their_number_in_it() {
    let rows = Some(SheetRows::From(3));
    let sheet = |rows| Some(Arc::new(ItemRows { rows, header_row: 1 }));
    let mut builder = RowBuilder::new(Columns::Named(vec!["sheet_row".into()]), sheet(rows));
    assert_eq!(cells(builder.header(&["code"])), ["row", "sheet_row_2", "sheet_row", "code"]);
    assert_eq!(cells(builder.row(2, b"a", &["why"])), ["2", "5", "a", "why"]);
    let mut out = Vec::new();
    builder.append(&mut out, 7, b"a", &[]);
    assert_eq!(out, b"7,10,a\r\n");
    let mut unknown = RowBuilder::new(Columns::Named(vec!["x".into()]), sheet(None));
    assert_eq!(cells(unknown.row(2, b"a", &["why"])), ["2", "", "a", "why"]);
}

#[test]
fn report_columns_are_neutralised_too() {
    assert_eq!(cells(builder(&["x"]).row(1, b"a", &["=code", "@f", "-m"])), ["1", "a", "'=code", "'@f", "'-m"]);
}

#[test]
fn invalid_utf8_is_replaced() {
    assert_eq!(cells(builder(&["x", "y"]).row(1, b"a\xFF,b", &[])), ["1", "a\u{FFFD}", "b"]);
}

#[test]
fn a_raw_item_is_one_cell() {
    let mut builder = RowBuilder::new(Columns::Raw, None);
    assert_eq!(cells(builder.header(&["reason"])), ["row", "item", "reason"]);
    assert_eq!(cells(builder.row(1, b"{\"a\":1,\"b\":2}", &["r"])), ["1", "{\"a\":1,\"b\":2}", "r"]);
}

#[test]
fn names_of_columns_of_the_file_are_numbered() {
    let reported = ["code", "field", "message"];
    for (own, expected) in [
        (vec!["a", "=b"], "row,a,'=b,code,field,message"),
        (vec!["row", "a", "code"], "row_2,row,a,code,code_2,field,message"),
        (vec!["row", "row_2"], "row_3,row,row_2,code,field,message"),
    ] {
        assert_eq!(cells(builder(&own).header(&reported)).join(","), expected);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    /// Copied or parsed, a row has the bytes that the crate writes for its cells.
    #[test]
    fn a_row_is_appended_as_the_csv_crate_writes_it(
        raw in proptest::collection::vec(proptest::sample::select(&b"ab1,,,;\"\r\n=+-@'\t .e5\xEF\xBB\xBF\xC3\xA4\xFF"[..]), 0..24),
        columns in 1_usize..5,
        named in proptest::bool::weighted(0.8),
        reported in proptest::bool::weighted(0.3),
    ) {
        let names: Vec<String> = (0..columns).map(|n| format!("c{n}")).collect();
        let columns = if named { Columns::Named(names) } else { Columns::Raw };
        let (mut builder, reported) = (RowBuilder::new(columns, None), if reported { &["=a", "b,\"c\""][..] } else { &[] });
        let mut appended = Vec::new();
        builder.append_header(&mut appended, reported);
        builder.append(&mut appended, 1_234, &raw, reported);
        let mut expected = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
        expected.write_byte_record(builder.header(reported)).unwrap();
        expected.write_byte_record(builder.row(1_234, &raw, reported)).unwrap();
        proptest::prop_assert_eq!(appended, expected.into_inner().unwrap());
    }
}
