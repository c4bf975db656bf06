//! A file in another encoding than UTF-8 is split and unquoted as bytes, and then decoded cell by cell. The result is
//! that of decoding the whole file first.

use longshore_domain::records::{Delimiter, Dialect, Quote, TextEncoding, csv_records};
use longshore_tabular::CellReader;
use proptest::prelude::*;

/// Encodings, and words whose characters have bytes of delimiters, quotes and escapes as second bytes where possible.
const ENCODINGS: [(&str, &[&str]); 8] = [
    ("windows-1252", &["Müller", "Straße", "5 €", "façade"]),
    ("iso-8859-2", &["Dvořák", "Łódź", "Žižka"]),
    ("windows-1251", &["Иванов", "Москва"]),
    ("koi8-u", &["Київ", "Львів"]),
    ("shift_jis", &["ポスト", "表示", "ソース", "ﾊﾝｶｸ", "能"]),
    ("euc-jp", &["ポスト", "表示", "東京"]),
    ("gb18030", &["北京", "€", "\u{1F600}", "丂", "龥"]),
    ("big5", &["臺北", "功能", "許"]),
];

type Table = Vec<Vec<String>>;

fn table(dialect: Dialect, encoding: TextEncoding, bytes: &[u8]) -> Table {
    let mut reader = CellReader::new(dialect);
    let row = |span: longshore_domain::records::Span| {
        let cells = reader.read(span.content(bytes));
        let text = |cell| encoding.decode(cell).unwrap_or_else(|| panic!("{cell:?} is not decoded")).into_owned();
        cells.iter().map(text).collect()
    };
    csv_records(dialect, bytes).map(row).collect()
}

fn table_of_decoded_text(Dialect { delimiter, quote }: Dialect, text: &str) -> Table {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter.byte()).quoting(quote != Quote::None).has_headers(false).flexible(true);
    let mut reader = builder.quote(quote.byte().unwrap_or(b'"')).from_reader(text.as_bytes());
    let rows = reader.records().map(|row| row.unwrap_or_else(|error| panic!("the csv crate refused text: {error}")));
    rows.map(|row| row.iter().map(str::to_owned).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splitting_bytes_is_splitting_the_decoded_text(
        encoding in 0..ENCODINGS.len(),
        pieces in proptest::collection::vec((0..12_usize, 0..8_usize), 0..40),
        delimiter in proptest::sample::select(&Delimiter::ALL[..]),
        quote in prop_oneof![Just(Quote::Double), Just(Quote::Single), Just(Quote::None)],
    ) {
        let (name, words) = ENCODINGS[encoding];
        let encoding = TextEncoding::named(name).unwrap();
        prop_assume!(encoding.permits(delimiter));
        let sign = char::from(delimiter.byte()).to_string();
        let text: String = pieces.into_iter().map(|(kind, word)| match kind {
            0 => "\"",
            1 => "'",
            2 => "\n",
            3 => "\r\n",
            4..=6 => sign.as_str(),
            7 => "a",
            _ => words[word % words.len()],
        }).collect();
        let (bytes, _, had_errors) = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap().encode(&text);
        prop_assert!(!had_errors, "{} has all characters of {:?}", name, text);
        let dialect = Dialect { delimiter, quote };
        prop_assert_eq!(table(dialect, encoding, &bytes), table_of_decoded_text(dialect, &text));
    }
}
