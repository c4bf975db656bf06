//! The member `results` of a request: the form of the results file.

use std::collections::BTreeSet;

use longshore::field_error::FieldError;
use longshore::http::{Bad, Fields};
use longshore_domain::records::Delimiter;
use longshore_domain::results::{ColumnsFrom, Formulas, ResultColumn, ResultFormat, ResultRow, ResultsForm};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Maximum number of columns. The definition of a job is one item of 400 KB.
pub(super) const MAX_COLUMNS: usize = 200;

/// Maximum bytes of the name or the heading of a column.
const MAX_NAME_BYTES: usize = 255;

/// Maximum bytes of all headings together. They are in every line of JSON.
const MAX_HEADINGS_BYTES: usize = 16 << 10;

/// The form of the results file, for job types whose items have an output.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct ResultsRequest {
    /// Format of the file: `jsonl` for JSON Lines, `csv`, or `xlsx` for a workbook of spreadsheet programs. Results that
    /// do not fit into a workbook are written as CSV, and the result has the issue `results_as_csv`.
    #[schema(value_type = Option<String>, pattern = "^(jsonl|csv|xlsx)$", default = "jsonl")]
    format: ResultFormat,
    /// True to compress a file of JSON Lines or CSV with gzip; its name then ends with `.gz`.
    #[schema(default = false)]
    gzip: bool,
    /// `escaped` puts an apostrophe before cells of CSV that a spreadsheet program would run as a formula; `raw` writes
    /// them as they are.
    #[schema(value_type = Option<String>, pattern = "^(escaped|raw)$", default = "escaped")]
    formulas: Formulas,
    /// True to begin a CSV file with a byte order mark, which some spreadsheet programs need to read UTF-8.
    #[schema(default = false)]
    bom: bool,
    /// Delimiter of a CSV file: a comma, a semicolon, a tab or a vertical bar.
    #[schema(value_type = Option<String>, pattern = "^[,;\t|]$", default = ",")]
    delimiter: Delimiter,
    /// The members of the outputs that the file has, in order, optionally under new names. A missing member is an empty
    /// cell, and is absent from a line of JSON; a cell has the text of a string, and other values as JSON.
    /// No member is named twice, and the headings have at most 16 KiB together.
    /// Without columns, a line of JSON has the whole output, and CSV and workbooks have the columns of the job type, or
    /// those of 100 records of an export; if there are none, the output as JSON in the column `output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 200)]
    columns: Option<Vec<Column>>,
}

/// A column of the results.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object with name, and optionally as")]
#[schema(as = ResultColumn)]
pub(super) struct Column {
    /// Name of the member of the output.
    #[schema(max_length = 255)]
    name: String,
    /// Heading of the column; by default the name.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 255)]
    heading: Option<String>,
}

impl ResultsRequest {
    /// Reads the member of a request.
    ///
    /// # Errors
    /// `invalid_type`, `unknown_field`, `invalid_results`.
    pub(super) fn read(value: &Value) -> Result<Self, Vec<FieldError>> {
        let request: Self = FieldError::read_object("/results", value, "invalid_results")?;
        let errors = request.errors();
        if errors.is_empty() { Ok(request) } else { Err(errors) }
    }

    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut refuse = |pointer: &str, detail: String| {
            errors.push(FieldError::new(format!("/results/{pointer}"), "invalid_results", detail));
        };
        let columns = self.columns.as_deref().unwrap_or_default();
        if self.columns.is_some() && columns.is_empty() {
            refuse("columns", "there is no column; name at least one, or remove columns".into());
        }
        if columns.len() > MAX_COLUMNS {
            refuse("columns", format!("there are {} columns; the maximum is {MAX_COLUMNS}", columns.len()));
        }
        let (mut names, mut headings, mut bytes) = (BTreeSet::new(), BTreeSet::new(), 0);
        for (at, column) in columns.iter().enumerate().take(MAX_COLUMNS) {
            let (is_new_name, is_new_heading) = (names.insert(&column.name), headings.insert(column.heading()));
            bytes += column.heading().len();
            let wrong = if !column.has_valid_names() {
                format!("a name has 1 to {MAX_NAME_BYTES} bytes")
            } else if !is_new_name {
                "another column has the same name; remove one of them".into()
            } else if !is_new_heading {
                "another column has the same heading; set another one with as".into()
            } else {
                continue;
            };
            refuse(&format!("columns/{at}"), wrong);
        }
        if bytes > MAX_HEADINGS_BYTES {
            let detail = format!("the headings have {bytes} bytes together; the maximum is {MAX_HEADINGS_BYTES}");
            refuse("columns", format!("{detail}; set shorter ones with as"));
        }
        let of_csv = [
            ("bom", self.bom),
            ("delimiter", self.delimiter != Delimiter::default()),
            ("formulas", self.formulas != Formulas::default()),
        ];
        for (member, _) in of_csv.into_iter().filter(|(_, is_set)| *is_set && self.format != ResultFormat::Csv) {
            refuse(member, format!("{member} requires the format csv"));
        }
        if self.format == ResultFormat::Xlsx && self.gzip {
            refuse("gzip", "a workbook is compressed already; remove gzip, or set another format".into());
        }
        errors
    }

    /// Returns the form of the results of a type whose outputs have these members.
    pub(super) fn form(&self, row: ResultRow, members: Vec<String>) -> ResultsForm {
        let Self { format, gzip, formulas, bom, delimiter, columns } = self.clone();
        let requested = columns.into_iter().flatten().map(|column| {
            let heading = column.heading().to_owned();
            ResultColumn { name: column.name, heading }
        });
        let mut columns: Vec<_> = requested.collect();
        let mut columns_from = ColumnsFrom::Request;
        if columns.is_empty() {
            columns = columns_of(members);
            columns_from = ColumnsFrom::Type;
        }
        ResultsForm { row, format, gzip, formulas, bom, delimiter, columns, columns_from }
    }
}

/// Returns a column for each member, under its name.
pub(super) fn columns_of(members: impl IntoIterator<Item = String>) -> Vec<ResultColumn> {
    members.into_iter().map(|name| ResultColumn { heading: name.clone(), name }).collect()
}

impl Column {
    fn heading(&self) -> &str {
        self.heading.as_deref().unwrap_or(&self.name)
    }

    fn has_valid_names(&self) -> bool {
        [&self.name, self.heading()].into_iter().all(|name| (1..=MAX_NAME_BYTES).contains(&name.len()))
    }
}

/// Returns the form of the results, if the items have an output. It takes at most `room` bytes, because it shares the
/// item of the definition with the options and the columns of the file.
pub(super) fn results_form(
    fields: &mut Fields,
    request: Option<ResultsRequest>,
    outputs: Option<(ResultRow, Vec<String>)>,
    room: usize,
) -> Option<ResultsForm> {
    let Some((row, members)) = outputs else {
        if request.is_some() {
            let detail = "the items of this job type have no output, so there are no results; remove results";
            fields.refuse("results", &Bad::new("results_not_available", detail));
        }
        return None;
    };
    let form = request.unwrap_or_default().form(row, members);
    let bytes = json!(form).to_string().len();
    if bytes > room {
        let detail = format!("results has {bytes} bytes; with the options of this request, {room} are left for it");
        fields.refuse("results", &Bad::new("invalid_results", detail));
    }
    Some(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(value: Value) -> Vec<String> {
        ResultsRequest::read(&value).map_or_else(|errors| errors.into_iter().map(|e| e.pointer).collect(), |_| vec![])
    }

    /// Columns whose headings have 255 bytes each.
    fn wide(columns: usize) -> Vec<Value> {
        (0..columns).map(|at| json!({"name": format!("a{at}"), "as": format!("{at:0>255}")})).collect()
    }

    #[test]
    fn every_error_has_its_pointer() {
        for (value, expected) in [
            (json!({}), vec![]),
            (json!({"format": "csv", "delimiter": ";", "bom": true, "columns": [{"name": "a", "as": "A"}]}), vec![]),
            (json!({"format": "xlsx", "columns": [{"name": "a"}]}), vec![]),
            (json!({"format": "xlsx", "gzip": true}), vec!["/results/gzip"]),
            (json!({"format": "xlsx", "bom": true}), vec!["/results/bom"]),
            (json!({"format": "xlsx", "formulas": "raw"}), vec!["/results/formulas"]),
            (json!({"format": "xml"}), vec!["/results/format"]),
            (json!({"form": "csv"}), vec!["/results/form"]),
            (json!({"format": "csv", "delimiter": "x"}), vec!["/results/delimiter"]),
            (
                json!({"format": "csv", "columns": [{"name": "a"}, {"name": "b", "as": "a"}]}),
                vec!["/results/columns/1"],
            ),
            (json!({"columns": [{"name": "a"}, {"name": "a", "as": "b"}]}), vec!["/results/columns/1"]),
            (json!({"columns": wide(65)}), vec!["/results/columns"]),
            (json!({"columns": wide(64)}), vec![]),
            (json!({"format": "csv", "columns": [{"name": "é".repeat(128)}]}), vec!["/results/columns/0"]),
            (json!({"columns": [{"name": "a", "as": "A"}]}), vec![]),
            (
                json!({"bom": true, "delimiter": ";", "columns": [{"name": "a"}]}),
                vec!["/results/bom", "/results/delimiter"],
            ),
            (json!({"columns": []}), vec!["/results/columns"]),
            (
                json!({"columns": [{"name": ""}, {"name": "a", "as": ""}]}),
                vec!["/results/columns/0", "/results/columns/1"],
            ),
            (json!({"columns": ["a"]}), vec!["/results/columns/0"]),
            (json!([]), vec!["/results"]),
        ] {
            assert_eq!(pointers(value.clone()), expected, "{value}");
        }
    }

    #[test]
    fn the_columns_of_the_request_replace_those_of_the_type() {
        let columns = |value| {
            let form = ResultsRequest::read(&value).unwrap().form(ResultRow::Plain, vec!["x".into()]);
            (form.columns, form.columns_from)
        };
        let column = |name: &str, heading: &str| ResultColumn { name: name.into(), heading: heading.into() };
        assert_eq!(columns(json!({"format": "csv"})), (vec![column("x", "x")], ColumnsFrom::Type));
        let requested = json!({"columns": [{"name": "a"}, {"name": "b", "as": "B"}]});
        assert_eq!(columns(requested), (vec![column("a", "a"), column("b", "B")], ColumnsFrom::Request));
    }

    #[test]
    fn a_form_must_fit_beside_the_options() {
        let form = |request: Option<ResultsRequest>, outputs, room| {
            let mut fields = Fields::new(serde_json::Map::new());
            let form = results_form(&mut fields, request, outputs, room);
            (form.is_some(), fields.finish().map_err(|problem| problem.errors[0].code.clone()))
        };
        let members = || Some((ResultRow::Plain, vec!["a".to_owned()]));
        assert_eq!(form(None, members(), 1_000), (true, Ok(())));
        assert_eq!(form(None, members(), 10), (true, Err("invalid_results".to_owned())));
        assert_eq!(form(None, None, 0), (false, Ok(())));
        assert_eq!(form(Some(ResultsRequest::default()), None, 0), (false, Err("results_not_available".to_owned())));
    }
}
