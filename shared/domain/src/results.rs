//! The results of a job whose items have outputs: the form of their rows and of the file.

use serde::{Deserialize, Serialize};

use crate::records::Delimiter;

/// Media type of a workbook.
pub const WORKBOOK_TYPE: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Shape of a row of the results.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResultRow {
    /// The number of the item and its output: `{"number":17,"output":{…}}`.
    #[default]
    Numbered,
    /// The output alone, for types whose results are a file of their own, such as an export.
    Plain,
}

/// Format of the results file.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResultFormat {
    /// One JSON value per line, `results.jsonl`.
    #[default]
    Jsonl,
    /// Comma-separated values with a header, `results.csv` (RFC 4180).
    Csv,
    /// A workbook of spreadsheet programs, `results.xlsx` (Office Open XML).
    Xlsx,
}

/// Treatment of cells that a spreadsheet would run as a formula.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Formulas {
    /// Such a cell begins with an apostrophe.
    #[default]
    Escaped,
    /// Cells are written as they are.
    Raw,
}

/// Origin of the columns of a results file.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ColumnsFrom {
    /// The job type names the members of its output. The rows of JSON Lines are whole outputs.
    #[default]
    Type,
    /// The request names them: each row has these columns only, in every format.
    Request,
    /// Some records of the dataset have them. Other records can have further ones, which are reported.
    Records,
}

/// A column of the results: a member of the output, and its name in the file.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct ResultColumn {
    /// Name of the member.
    pub name: String,
    /// Heading of the column.
    #[serde(rename = "as")]
    pub heading: String,
}

/// The form of the results of a job, fixed when the job is created.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResultsForm {
    /// Shape of a row.
    pub row: ResultRow,
    /// Format of the file.
    pub format: ResultFormat,
    /// True if the file is compressed with gzip.
    pub gzip: bool,
    /// Treatment of formulas in CSV.
    pub formulas: Formulas,
    /// True if a CSV file begins with a byte order mark, which some spreadsheet programs need to read UTF-8.
    pub bom: bool,
    /// Delimiter of a CSV file.
    pub delimiter: Delimiter,
    /// Columns of the file. If there are none, each row of CSV or of a workbook has the output as JSON in one column.
    pub columns: Vec<ResultColumn>,
    /// Origin of the columns.
    pub columns_from: ColumnsFrom,
}

impl ResultsForm {
    /// Returns true if the file consists of the workers' lines, unchanged, so that S3 can copy them.
    pub fn is_verbatim(&self) -> bool {
        self.format == ResultFormat::Jsonl && !self.gzip && !self.selects_members()
    }

    /// Returns true if the rows of JSON Lines have only the members that are columns.
    pub fn selects_members(&self) -> bool {
        self.columns_from == ColumnsFrom::Request && !self.columns.is_empty()
    }

    /// Returns the name of the results file within the report.
    pub const fn file_name(&self) -> &'static str {
        match (self.format, self.gzip) {
            (ResultFormat::Jsonl, false) => "results.jsonl",
            (ResultFormat::Jsonl, true) => "results.jsonl.gz",
            (ResultFormat::Csv, false) => "results.csv",
            (ResultFormat::Csv, true) => "results.csv.gz",
            (ResultFormat::Xlsx, _) => "results.xlsx",
        }
    }

    /// Returns the media type of the results file.
    pub const fn content_type(&self) -> &'static str {
        match (self.format, self.gzip) {
            (ResultFormat::Xlsx, _) => WORKBOOK_TYPE,
            (_, true) => "application/gzip",
            (ResultFormat::Jsonl, false) => "application/x-ndjson",
            (ResultFormat::Csv, false) => "text/csv; charset=utf-8",
        }
    }

    /// Returns the form of the CSV file that replaces a workbook.
    #[must_use]
    pub fn as_csv(&self) -> Self {
        Self { format: ResultFormat::Csv, ..self.clone() }
    }

    /// Returns the cells of a row of CSV or of a workbook.
    pub fn width(&self) -> usize {
        self.columns.len().max(1) + usize::from(self.row == ResultRow::Numbered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_stored_as_json_and_misses_no_member() {
        let form = ResultsForm {
            row: ResultRow::Plain,
            format: ResultFormat::Csv,
            gzip: true,
            formulas: Formulas::Raw,
            bom: true,
            delimiter: Delimiter::Tab,
            columns: vec![ResultColumn { name: "id".into(), heading: "Id".into() }],
            columns_from: ColumnsFrom::Records,
        };
        let stored = serde_json::to_string(&form).unwrap();
        assert_eq!(serde_json::from_str::<ResultsForm>(&stored).unwrap(), form);
        assert_eq!(serde_json::from_str::<ResultsForm>("{}").unwrap(), ResultsForm::default(), "of a later version");
    }

    #[test]
    fn a_row_has_a_cell_for_its_number_and_for_each_column_or_the_whole_output() {
        let column = ResultColumn { name: "id".into(), heading: "Id".into() };
        for (row, columns, width) in [
            (ResultRow::Numbered, vec![], 2),
            (ResultRow::Plain, vec![], 1),
            (ResultRow::Numbered, vec![column.clone(), column.clone()], 3),
            (ResultRow::Plain, vec![column], 1),
        ] {
            assert_eq!(ResultsForm { row, columns, ..ResultsForm::default() }.width(), width);
        }
    }

    #[test]
    fn the_name_of_the_file_tells_its_format() {
        for (format, gzip, name) in [
            (ResultFormat::Jsonl, false, "results.jsonl"),
            (ResultFormat::Jsonl, true, "results.jsonl.gz"),
            (ResultFormat::Csv, true, "results.csv.gz"),
            (ResultFormat::Csv, false, "results.csv"),
            (ResultFormat::Xlsx, false, "results.xlsx"),
        ] {
            assert_eq!(ResultsForm { format, gzip, ..ResultsForm::default() }.file_name(), name);
        }
    }
}
