//! Test oracle: the records that the `csv` crate reads.

/// Reads records of CSV. The blank line before them prevents the reader from treating the first bytes as a byte order
/// mark.
pub(crate) fn records(delimiter: u8, bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let bytes = [b"\n", bytes].concat();
    let mut builder = csv::ReaderBuilder::new();
    let reader = builder.delimiter(delimiter).has_headers(false).flexible(true).from_reader(&bytes[..]);
    // The reader accepts every byte, so an error would drop a record, and the comparison would fail.
    reader.into_byte_records().flatten().map(|record| record.iter().map(<[u8]>::to_vec).collect()).collect()
}

/// Returns true if the last of these records is unterminated: it contains any row after it.
pub(crate) fn is_open(delimiter: u8, bytes: &[u8]) -> bool {
    let count = records(delimiter, bytes).len();
    count > 0 && records(delimiter, &[bytes, b"\nx"].concat()).len() == count
}

/// Reads JSON Lines: the text between line feeds, without white space before it and a carriage return after it.
pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let is_space = |byte: &u8| b" \t\r\n".contains(byte);
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| &line[line.iter().take_while(|byte| is_space(byte)).count()..]);
    lines.filter(|line| !line.is_empty()).map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}
