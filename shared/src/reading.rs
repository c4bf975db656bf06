//! Detection of the reading of a CSV file.

use std::borrow::Cow;

use longshore_domain::job::JobError;
use longshore_domain::records::{Delimiter, Dialect, Extent, GivenReading, Reading, TextEncoding};
use longshore_domain::text::quoted;
use longshore_tabular::{
    DetectedDialect, DetectedEncoding, detect_dialect, detect_encoding, detect_header, detect_quote,
};

/// The reading of a file, found in its first bytes.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct DetectedReading {
    /// The reading.
    pub reading: Reading,
    /// Offset of the table: after a byte order mark, and a line that names the delimiter.
    pub table_from: usize,
    /// Guesses that a person should check.
    pub issues: Vec<JobError>,
}

/// Detects the reading of a CSV file from its first bytes. What is given is not detected. The issues are about what was
/// not `asked` for by the client: what was found once is given afterwards, and is still a guess.
///
/// # Errors
/// `ambiguous_delimiter` if two delimiters fit equally well; `unsupported_delimiter`.
pub fn detect_reading(
    head: &[u8],
    extent: Extent,
    given: GivenReading,
    asked: GivenReading,
) -> Result<DetectedReading, JobError> {
    let detected = detect_encoding(head, extent);
    let DetectedEncoding { bom_len, .. } = detected;
    let encoding = given.encoding.unwrap_or(detected.encoding);
    let table = &head[bom_len..];
    let (dialect, skipped) = dialect(table, extent, encoding, given)?;
    let (table, table_from) = (&table[skipped..], bom_len + skipped);
    let header = detect_header(&without_comments(table, given.comment), extent, dialect);
    let found_row = u32::try_from(header.rows_above).unwrap_or(0) + 1;
    let header_row = given.header_row.unwrap_or(found_row);
    let mut issues = Vec::new();
    if asked.encoding.is_none() && !encoding.is_utf8() {
        issues.push(guessed_encoding(encoding));
    }
    if asked.header_row.is_none() {
        let looks_like_data = header.looks_like_data && header_row == found_row;
        issues.extend((header_row > 1).then(|| rows_above_header(header_row)));
        issues.extend(looks_like_data.then(|| header_looks_like_data(header_row)));
    }
    let reading = Reading { encoding, dialect, header_row, comment: given.comment };
    Ok(DetectedReading { reading, table_from, issues })
}

/// Returns the dialect, and the length of the line that names the delimiter.
fn dialect(
    table: &[u8],
    extent: Extent,
    encoding: TextEncoding,
    given: GivenReading,
) -> Result<(Dialect, usize), JobError> {
    let sample = without_comments(table, given.comment);
    let detected = detect_dialect(&sample, extent, encoding);
    let skipped = match detected {
        // A comment comes before the line, so it is a row of the table.
        _ if sample.len() < table.len() && is_comment(table, given.comment) => 0,
        DetectedDialect::Named { table_from, .. } | DetectedDialect::Unsupported { table_from, .. } => table_from,
        _ => 0,
    };
    let mut dialect = match (given.delimiter, detected) {
        (Some(delimiter), _) if !encoding.permits(delimiter) => return Err(part_of_characters(delimiter, encoding)),
        (Some(delimiter), _) => Dialect { delimiter, quote: detect_quote(&sample[skipped..], extent, delimiter) },
        (None, DetectedDialect::Found(dialect) | DetectedDialect::SingleColumn(dialect)) => dialect,
        (None, DetectedDialect::Named { dialect, .. }) if encoding.permits(dialect.delimiter) => dialect,
        (None, DetectedDialect::Named { dialect, .. }) => return Err(part_of_characters(dialect.delimiter, encoding)),
        (None, DetectedDialect::Unsupported { delimiter, .. }) => return Err(unsupported_delimiter(delimiter)),
        (None, DetectedDialect::Ambiguous(dialects)) => return Err(ambiguous_delimiter(dialects)),
    };
    dialect.quote = given.quote.unwrap_or(dialect.quote);
    Ok((dialect, skipped))
}

/// Returns the text without the rows that begin with the comment character.
fn without_comments(table: &[u8], comment: Option<char>) -> Cow<'_, [u8]> {
    if comment.is_none() {
        return Cow::Borrowed(table);
    }
    let rows = table.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')).filter(|row| !is_comment(row, comment));
    Cow::Owned(rows.collect::<Vec<_>>().concat())
}

fn is_comment(row: &[u8], comment: Option<char>) -> bool {
    row.first().zip(comment).is_some_and(|(byte, comment)| char::from(*byte) == comment)
}

fn name(delimiter: Delimiter) -> &'static str {
    match delimiter {
        Delimiter::Comma => "commas",
        Delimiter::Semicolon => "semicolons",
        Delimiter::Tab => "tabs",
        Delimiter::Pipe => "vertical bars",
    }
}

fn ambiguous_delimiter([first, second]: [Dialect; 2]) -> JobError {
    let message = format!(
        "the cells of the file may be separated by {} or by {}: both fit; give the delimiter as reading.delimiter",
        name(first.delimiter),
        name(second.delimiter)
    );
    JobError::new("ambiguous_delimiter", message)
}

fn unsupported_delimiter(named: char) -> JobError {
    let message = format!(
        "the first line of the file names the delimiter {}, but a file is read with commas, semicolons, tabs or vertical \
         bars; save it with one of these",
        quoted(&named.to_string())
    );
    JobError::new("unsupported_delimiter", message)
}

fn part_of_characters(delimiter: Delimiter, encoding: TextEncoding) -> JobError {
    let message = format!(
        "a file in {encoding} cannot be divided at {}, because their byte can be a part of another character; save it \
         with commas, semicolons or tabs, or as UTF-8",
        name(delimiter)
    );
    JobError::new("unsupported_delimiter", message)
}

fn guessed_encoding(encoding: TextEncoding) -> JobError {
    let message = format!(
        "the file is not UTF-8, and was read as {encoding}; if characters are wrong, give its encoding as reading.encoding"
    );
    JobError::new("encoding_guessed", message)
}

fn rows_above_header(header_row: u32) -> JobError {
    let message = format!(
        "row {header_row} is the header, and the rows above it were not processed; give reading.headerRow if this is wrong"
    );
    JobError::new("rows_above_header", message)
}

fn header_looks_like_data(header_row: u32) -> JobError {
    let message = format!(
        "row {header_row} was taken as the header, although it has only numbers and dates; give reading.headerRow 0 if the \
         file has no header"
    );
    JobError::new("header_looks_like_data", message)
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::Quote;

    use super::*;

    fn found(head: &[u8], given: GivenReading) -> Result<(String, usize, String), String> {
        let detected = detect_reading(head, Extent::Whole, given, given).map_err(|error| error.code)?;
        let DetectedReading { reading: Reading { encoding, dialect, header_row, .. }, table_from, issues } = detected;
        let (delimiter, quote) = (char::from(dialect.delimiter.byte()), dialect.quote);
        let codes: Vec<_> = issues.iter().map(|issue| issue.code.as_str()).collect();
        Ok((format!("{encoding} {delimiter} {quote:?} {header_row}"), table_from, codes.join(" ")))
    }

    #[test]
    fn a_reading_is_found_in_the_first_bytes() {
        for (head, reading, table_from, issues) in [
            (&b"id,name\n1,Ann\n"[..], "UTF-8 , Double 1", 0, ""),
            (b"\xef\xbb\xbfid;name\n1;Ann\n", "UTF-8 ; Double 1", 3, ""),
            (b"sep=;\r\nid;name\r\n1;Ann,Bob\r\n", "UTF-8 ; Double 1", 7, ""),
            (b"name;ort\nM\xfcller;K\xf6ln\nJ\xe4ger;D\xfcren\n", "windows-1252 ; Double 1", 0, "encoding_guessed"),
            (b"Report\n\nid\tname\n1\tAnn\n2\tBob\n", "UTF-8 \t Double 2", 0, "rows_above_header"),
            (b"1,2\n3,4\n", "UTF-8 , Double 1", 0, "header_looks_like_data"),
            (b"'id','name'\n'1','A,B'\n'2','C'\n", "UTF-8 , Single 1", 0, ""),
        ] {
            let expected = (reading.to_owned(), table_from, issues.to_owned());
            assert_eq!(found(head, GivenReading::default()), Ok(expected), "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn what_is_given_is_not_detected() {
        let head = b"sep=,\nid;name\n1;M\xfcller\n";
        let encoding = TextEncoding::named("iso-8859-2").ok();
        let (delimiter, quote, header_row) = (Some(Delimiter::Semicolon), Some(Quote::None), Some(0));
        let given = GivenReading { encoding, delimiter, quote, header_row, comment: None };
        assert_eq!(found(head, given), Ok(("ISO-8859-2 ; None 0".into(), 6, String::new())));
    }

    #[test]
    fn comments_are_no_rows_of_the_sample() {
        let given = GivenReading { comment: Some('#'), ..GivenReading::default() };
        let head = b"# Export\n#,\"2024\nid;name\n1;Ann\n2;Bob\n";
        assert_eq!(found(head, given), Ok(("UTF-8 ; Double 1".into(), 0, String::new())));
    }

    #[test]
    fn a_guess_is_still_one_once_it_is_stored() {
        let head = b"Liste\n\nname;ort\nM\xfcller;K\xf6ln\nJ\xe4ger;D\xfcren\n";
        let first = detect_reading(head, Extent::Whole, GivenReading::default(), GivenReading::default()).unwrap();
        assert_eq!(first.issues.len(), 2, "{:?}", first.issues);
        let again = detect_reading(head, Extent::Whole, first.reading.into(), GivenReading::default()).unwrap();
        assert_eq!(again, first);
    }

    #[test]
    fn a_delimiter_that_is_not_clear_is_an_error() {
        let given = |delimiter, label| GivenReading {
            delimiter,
            encoding: TextEncoding::named(label).ok(),
            ..GivenReading::default()
        };
        for (head, given, code) in [
            (&b"a;b,c\nx;y,z\n"[..], GivenReading::default(), "ambiguous_delimiter"),
            (b"sep=^\na^b\n", GivenReading::default(), "unsupported_delimiter"),
            (b"a|b\n1|2\n", given(Some(Delimiter::Pipe), "shift_jis"), "unsupported_delimiter"),
            (b"sep=|\na|b\n1|2\n", given(None, "shift_jis"), "unsupported_delimiter"),
        ] {
            assert_eq!(found(head, given), Err(code.to_owned()), "{}", String::from_utf8_lossy(head));
        }
        let clear = GivenReading { delimiter: Some(Delimiter::Comma), ..GivenReading::default() };
        assert_eq!(found(b"sep=^\nid,name\n1,Ann\n", clear), Ok(("UTF-8 , Double 1".into(), 6, String::new())));
        assert!(found(b"a;b,c\nx;y,z\n", clear).is_ok());
    }
}
