//! The columns of a file, described by their first cells.

use longshore_tabular::{ColumnType, ColumnTypeDetector, DateOrder, Detection, NumberNotation};
use serde::Serialize;
use utoipa::ToSchema;

use crate::handler::FirstCell;

/// A column of a file.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundColumn {
    /// Its name in a job.
    pub name: String,
    /// What its first cells are.
    #[serde(rename = "type")]
    pub found: CellType,
    /// The notation of its numbers or dates, if the first cells show it.
    #[schema(required = true, value_type = Option<String>, pattern = "^([.,]|dmy|mdy|ymd)$")]
    pub notation: Option<&'static str>,
    /// A cell that can be read in two ways; `null` if there is none.
    #[schema(required = true)]
    pub question: Option<Question>,
    /// True if years have two digits, so that a pivot year must be given.
    pub needs_pivot_year: bool,
}

/// What the cells of a column are.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum CellType {
    /// No cell is filled.
    Blank,
    /// Words for true and false.
    Boolean,
    /// Numbers.
    Number,
    /// Dates.
    Date,
    /// Other text.
    Text,
}

/// A cell that can be read in two ways.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct Question {
    /// The cell.
    pub cell: String,
    /// Both readings.
    pub readings: Vec<QuestionReading>,
}

/// A reading of a cell.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub struct QuestionReading {
    /// The notation.
    #[schema(value_type = String, pattern = "^([.,]|dmy|mdy|ymd)$")]
    pub notation: &'static str,
    /// The value of the cell in it.
    pub value: String,
}

/// Describes the columns with these names, of which these are the first rows.
pub(super) fn describe(names: &[String], rows: &[Vec<FirstCell>]) -> Vec<FoundColumn> {
    let column = |(at, name): (usize, &String)| {
        let mut detector = ColumnTypeDetector::default();
        rows.iter().filter_map(|row| row.get(at)).for_each(|cell| detector.observe(observed(cell)));
        let (found, (notation, question), needs_pivot_year) = match detector.column_type() {
            ColumnType::Blank => (CellType::Blank, (None, None), false),
            ColumnType::Boolean => (CellType::Boolean, (None, None), false),
            ColumnType::Text => (CellType::Text, (None, None), false),
            ColumnType::Number(notation) => (CellType::Number, described(notation, separator), false),
            ColumnType::Date { order, needs_pivot_year } => {
                (CellType::Date, described(order, order_name), needs_pivot_year)
            }
        };
        FoundColumn { name: name.clone(), found, notation, question, needs_pivot_year }
    };
    names.iter().enumerate().map(column).collect()
}

/// Returns the text of a cell for the detection of types. A number of a workbook loses its fraction: its decimal point says
/// nothing about the notation of the texts in its column. An error is none of the types.
fn observed(cell: &FirstCell) -> &str {
    match cell.text.split_once('.') {
        _ if !cell.is_typed => &cell.text,
        Some((whole, _)) => whole,
        None => "",
    }
}

fn described<N>(found: Detection<N>, name: fn(N) -> &'static str) -> (Option<&'static str>, Option<Question>) {
    match found {
        Detection::Irrelevant | Detection::Conflicting { .. } => (None, None),
        Detection::Found(notation) => (Some(name(notation)), None),
        Detection::Ambiguous { cell, readings } => {
            let readings = readings.into_iter();
            let readings = readings.map(|(notation, value)| QuestionReading { notation: name(notation), value });
            (None, Some(Question { cell, readings: readings.collect() }))
        }
    }
}

fn separator(notation: NumberNotation) -> &'static str {
    match notation {
        NumberNotation::DecimalPoint => ".",
        NumberNotation::DecimalComma => ",",
    }
}

fn order_name(order: DateOrder) -> &'static str {
    match order {
        DateOrder::Dmy => "dmy",
        DateOrder::Mdy => "mdy",
        DateOrder::Ymd => "ymd",
    }
}
