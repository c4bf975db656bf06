//! Property tests: the cutter finds the records of a file for any bytes, blocks and chunks.
//!
//! The oracle for CSV is the `csv` crate itself, for JSON Lines a split at line breaks.

use longshore_domain::records::{Cutter, Delimiter, Dialect, Format, Quote, Reading, Span, csv_records, records};
use proptest::prelude::*;

type Fields = Vec<Vec<u8>>;

/// Reads every record with the `csv` crate. The blank line before them prevents it from treating the first bytes as a
/// byte order mark: the crate strips EF BB BF at the start of any reader, and a record in the middle of a file can begin
/// with these bytes.
fn read_with_csv_crate(bytes: &[u8]) -> Vec<Fields> {
    read_dialect(Dialect::default(), bytes)
}

fn read_dialect(Dialect { delimiter, quote }: Dialect, bytes: &[u8]) -> Vec<Fields> {
    let bytes = [b"\n", bytes].concat();
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter.byte()).quoting(quote != Quote::None).has_headers(false).flexible(true);
    let mut reader = builder.quote(quote.byte().unwrap_or(b'"')).from_reader(&bytes[..]);
    let rows: Result<Vec<csv::ByteRecord>, csv::Error> = reader.byte_records().collect();
    let rows = rows.unwrap_or_else(|error| panic!("the csv crate refused bytes: {error}"));
    rows.iter().map(|record| record.iter().map(<[u8]>::to_vec).collect()).collect()
}

fn cut_in_blocks(format: Format, bytes: &[u8], block_sizes: &[usize]) -> Vec<Span> {
    feed_in_blocks(Cutter::new(format), bytes, block_sizes)
}

fn feed_in_blocks(mut cutter: Cutter, bytes: &[u8], block_sizes: &[usize]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut remaining = bytes;
    let mut sizes = block_sizes.iter().copied().cycle();
    while !remaining.is_empty() {
        let size = sizes.next().unwrap_or(remaining.len()).min(remaining.len());
        let (block, later) = remaining.split_at(size);
        cutter.feed(block, &mut |span| spans.push(span));
        assert_eq!(cutter.offset() as usize, bytes.len() - later.len());
        remaining = later;
    }
    spans.extend(cutter.finish());
    spans
}

fn contents<'a>(bytes: &'a [u8], spans: &[Span]) -> Vec<&'a [u8]> {
    spans.iter().map(|span| span.content(bytes)).collect()
}

/// Cuts the records again, in chunks of at most `limit` records that end at `cut`.
fn recut_in_chunks(format: Format, bytes: &[u8], limit: usize, cut: impl Fn(&Span) -> u64) -> Vec<Vec<u8>> {
    let spans: Vec<Span> = records(format, bytes).collect();
    let mut contents = Vec::new();
    for chunk in spans.chunks(limit) {
        let end = cut(&chunk[chunk.len() - 1]) as usize;
        let chunk = &bytes[chunk[0].start as usize..end];
        contents.extend(records(format, chunk).map(|span| span.content(chunk).to_vec()));
    }
    contents
}

fn csv_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"\"".to_vec()),
        4 => Just(b",".to_vec()),
        3 => Just(b"\n".to_vec()),
        3 => Just(b"\r".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        4 => "[a-z ]{1,3}".prop_map(String::into_bytes),
        1 => "[a-z,]{30,80}".prop_map(String::into_bytes),
        1 => Just(b"\xef\xbb\xbf".to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn dialect() -> impl Strategy<Value = Dialect> {
    let quote = prop_oneof![Just(Quote::Double), Just(Quote::Single), Just(Quote::None)];
    (proptest::sample::select(&Delimiter::ALL[..]), quote).prop_map(|(delimiter, quote)| Dialect { delimiter, quote })
}

/// Replaces the comma and the double quote by the characters of a dialect. Without quotes, the double quote remains.
fn in_dialect(dialect: Dialect, bytes: Vec<u8>) -> Vec<u8> {
    let replaced = |byte| match byte {
        b',' => dialect.delimiter.byte(),
        b'"' => dialect.quote.byte().unwrap_or(b'"'),
        _ => byte,
    };
    bytes.into_iter().map(replaced).collect()
}

fn jsonl_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        2 => "[ \t]{1,2}".prop_map(String::into_bytes),
        4 => "[a-z{}\":]{1,40}".prop_map(String::into_bytes),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn block_sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        Just(Vec::new()),
        proptest::collection::vec(1..9_usize, 1..6),
        proptest::collection::vec(1..90_usize, 1..6)
    ]
}

fn json_lines_by_splitting(bytes: &[u8]) -> Vec<&[u8]> {
    let is_space = |byte: &u8| b" \t\r\n".contains(byte);
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(is_space));
    lines
        .map(|line| {
            let blank = line.iter().take_while(|byte| is_space(byte)).count();
            let line = &line[blank..];
            line.strip_suffix(b"\r").unwrap_or(line)
        })
        .collect()
}

fn is_terminator(bytes: &[u8]) -> bool {
    matches!(bytes, b"" | b"\n" | b"\r" | b"\r\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn csv_records_match_the_csv_crate(bytes in csv_bytes(), sizes in block_sizes()) {
        let spans = cut_in_blocks(Format::Csv, &bytes, &sizes);
        let mut fields = Vec::new();
        for content in contents(&bytes, &spans) {
            let read = read_with_csv_crate(content);
            prop_assert_eq!(read.len(), 1, "{:?} is one record", content);
            fields.extend(read);
        }
        prop_assert_eq!(fields, read_with_csv_crate(&bytes));
    }

    #[test]
    fn a_row_of_delimiters_and_white_space_is_no_record_of_a_reading(
        dialect in dialect(),
        bytes in csv_bytes(),
        block_sizes in block_sizes(),
    ) {
        let bytes = in_dialect(dialect, bytes);
        let reading = Reading { dialect, ..Reading::default() };
        let has_text = |span: &Span| {
            span.content(&bytes).iter().any(|byte| *byte != dialect.delimiter.byte() && !matches!(byte, b' ' | b'\t'))
        };
        let expected: Vec<_> = csv_records(dialect, &bytes).filter(has_text).collect();
        prop_assert_eq!(feed_in_blocks(reading.cutter(0), &bytes, &block_sizes), expected);
    }

    #[test]
    fn records_of_any_dialect_match_the_csv_crate(bytes in csv_bytes(), dialect in dialect()) {
        let bytes = in_dialect(dialect, bytes);
        let spans: Vec<Span> = csv_records(dialect, &bytes).collect();
        let mut fields = Vec::new();
        for content in contents(&bytes, &spans) {
            let read = read_dialect(dialect, content);
            prop_assert_eq!(read.len(), 1, "{:?} is one record", content);
            fields.extend(read);
        }
        prop_assert_eq!(fields, read_dialect(dialect, &bytes));
    }

    #[test]
    fn spans_do_not_depend_on_the_blocks(bytes in csv_bytes(), sizes in block_sizes()) {
        for format in [Format::Csv, Format::JsonLines] {
            let whole: Vec<Span> = records(format, &bytes).collect();
            prop_assert_eq!(cut_in_blocks(format, &bytes, &sizes), whole);
        }
    }

    #[test]
    fn every_byte_is_in_one_span_or_in_a_blank_line(bytes in csv_bytes(), sizes in block_sizes()) {
        let mut before = 0;
        for span in cut_in_blocks(Format::Csv, &bytes, &sizes) {
            prop_assert!(bytes[before..span.start as usize].iter().all(|byte| b"\r\n".contains(byte)));
            prop_assert!(span.start < span.content_end && span.content_end <= span.end);
            prop_assert!(is_terminator(&bytes[span.content_end as usize..span.end as usize]));
            before = span.end as usize;
        }
        prop_assert!(bytes[before..].iter().all(|byte| b"\r\n".contains(byte)));
    }

    #[test]
    fn only_the_last_record_can_be_unterminated_and_one_more_quote_closes_it(bytes in csv_bytes()) {
        let spans: Vec<Span> = records(Format::Csv, &bytes).collect();
        let Some((last, others)) = spans.split_last() else { return Ok(()) };
        prop_assert!(others.iter().all(|span| !span.unterminated));
        let with_tail = read_with_csv_crate(&[&bytes[..], b"\nx"].concat()).len();
        prop_assert_eq!(last.unterminated, with_tail == spans.len(), "a row after it becomes part of it");
    }

    #[test]
    fn chunks_contain_the_rows_of_the_file(bytes in prop_oneof![csv_bytes(), jsonl_bytes()], limit in 1..6_usize) {
        for format in [Format::Csv, Format::JsonLines] {
            let whole: Vec<Span> = records(format, &bytes).collect();
            let whole = contents(&bytes, &whole);
            prop_assert_eq!(&recut_in_chunks(format, &bytes, limit, |span| span.end), &whole);
        }
    }

    #[test]
    fn a_cut_between_carriage_return_and_line_feed_is_harmless(bytes in csv_bytes(), limit in 1..6_usize) {
        let spans: Vec<Span> = records(Format::Csv, &bytes).collect();
        let whole = contents(&bytes, &spans);
        let after_return = |span: &Span| span.end.min(span.content_end + 1);
        prop_assert_eq!(&recut_in_chunks(Format::Csv, &bytes, limit, after_return), &whole);
        for first in &spans {
            let cut = after_return(first);
            let later = &bytes[cut as usize..];
            let resumed: Vec<Span> = records(Format::Csv, later).collect();
            let expected: Vec<Span> = spans.iter().copied().filter(|span| span.start >= cut).collect();
            prop_assert_eq!(contents(later, &resumed), contents(&bytes, &expected));
        }
    }

    #[test]
    fn a_cutter_that_resumes_at_any_end_finds_the_rest(bytes in csv_bytes(), sizes in block_sizes()) {
        for format in [Format::Csv, Format::JsonLines] {
            let spans = cut_in_blocks(format, &bytes, &sizes);
            for (done, span) in spans.iter().enumerate() {
                let mut cutter = Cutter::starting_at(format, span.end);
                let mut remaining = Vec::new();
                cutter.feed(&bytes[span.end as usize..], &mut |span| remaining.push(span));
                remaining.extend(cutter.finish());
                prop_assert_eq!(&remaining, &spans[done + 1..]);
            }
        }
    }

    #[test]
    fn bytes_before_the_open_record_are_not_needed_again(bytes in csv_bytes(), split in 0..200_usize) {
        for format in [Format::Csv, Format::JsonLines] {
            let (block, later) = bytes.split_at(split.min(bytes.len()));
            let mut cutter = Cutter::new(format);
            cutter.feed(block, &mut |_| {});
            let kept_from = cutter.open_since().unwrap_or(cutter.offset());
            let mut first = None;
            cutter.feed(later, &mut |span| { first.get_or_insert(span.start); });
            let first = first.or(cutter.finish().map(|span| span.start));
            prop_assert!(first.is_none_or(|start| start >= kept_from));
        }
    }

    #[test]
    fn json_lines_are_the_non_blank_lines(bytes in jsonl_bytes(), sizes in block_sizes()) {
        let spans = cut_in_blocks(Format::JsonLines, &bytes, &sizes);
        prop_assert_eq!(contents(&bytes, &spans), json_lines_by_splitting(&bytes));
        for span in &spans {
            prop_assert!(span.end == bytes.len() as u64 || bytes[span.end as usize - 1] == b'\n');
            prop_assert!(is_terminator(&bytes[span.content_end as usize..span.end as usize]));
        }
    }
}
