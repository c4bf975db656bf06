//! Detection of the header row.
//!
//! Programs write titles and dates above a table. At most half of the cells of such a row are filled, compared with the
//! rows of the table. The header is the first row with more filled cells, because a column can be without a name. If
//! that row already looks like data, the first row of the file is the header, and it names too few columns.

use longshore_domain::records::{Dialect, Extent};

use crate::rows::{Rows, most_common};

/// The header row of a table.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct DetectedHeader {
    /// The number of rows above it. Rows without text are no rows.
    pub rows_above: usize,
    /// True if each of its cells is a number or a date, so that the table may have no header.
    pub looks_like_data: bool,
}

/// Detects the header row from the first bytes of a table, after the byte order mark and a line `sep=`.
pub fn detect_header(head: &[u8], extent: Extent, dialect: Dialect) -> DetectedHeader {
    let rows = Rows::read(head, extent, dialect);
    let usual = most_common(rows.lower_half().iter().map(|row| row.filled_width).filter(|width| *width > 0).collect());
    let first_full = rows.shapes.iter().position(|row| 2 * row.filled > usual.unwrap_or_default());
    let rows_above = first_full.filter(|row| !rows.looks_like_data(*row)).unwrap_or_default();
    DetectedHeader { rows_above, looks_like_data: rows.looks_like_data(rows_above) }
}

#[cfg(test)]
mod tests {
    use longshore_domain::records::{Delimiter, Dialect, Extent};

    use super::detect_header;

    #[test]
    fn the_header_is_the_first_row_of_usual_width() {
        let dialect = Dialect { delimiter: Delimiter::Semicolon, ..Dialect::default() };
        for (text, rows_above, looks_like_data) in [
            ("id;name\n1;Ann\n", 0, false),
            ("Report\n\nMay 2024;\nid;name;age\n1;Ann;5\n2;Bob;6\n", 2, false),
            ("Umsatz 2024;;\n;;\nDatum;Betrag;Text\n1.2.2024;5,00;Miete\n2.2.2024;6,50;Strom\n", 1, false),
            ("id;name;note\n1;Ann;\n2;Bob;\n3;Eve;x\n", 0, false),
            ("Bank;ING\nKunde;Ann\nZeit;Mai\nDatum;Text;Betrag;Saldo;Ort\n1;a;2;3;x\n2;b;4;5;y\n", 3, false),
            ("name\nAnn\nBob\n", 0, false),
            ("id;name;age;note\n1;Ann;5\n2;Bob;6\n", 0, false),
            ("id;name;\n1;Ann;x\n2;Bob;y\n", 0, false),
            ("id;name\n1;Ann;x\n2;Bob;y\n", 0, false),
            ("Umsatz;;\nid;name;\n1;Ann;x\n2;Bob;y\n", 1, false),
            ("1;2\n3;4\n", 0, true),
            ("id\n1;2\n3;4\n", 0, false),
            ("\n\n", 0, false),
            ("", 0, false),
        ] {
            let found = detect_header(text.as_bytes(), Extent::Whole, dialect);
            assert_eq!((found.rows_above, found.looks_like_data), (rows_above, looks_like_data), "{text:?}");
        }
    }

    #[test]
    fn a_header_can_be_the_only_row_of_the_head() {
        let found = detect_header(b"id,name,a very long na", Extent::Start, Dialect::default());
        assert_eq!(found.rows_above, 0);
    }
}
