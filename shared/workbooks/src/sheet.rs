//! The rows of a sheet, read one cell after another.

use std::io::Read;
use std::ops::ControlFlow;

use quick_xml::events::Event;

use crate::cell::{CellContent, CellError, CellValue, DateSystem, number};
use crate::cell_start::{CellStart, SHEET_COLUMNS, StoredType};
use crate::error::WorkbookError;
use crate::styles::NumberFormat;
use crate::text::{SharedStrings, TextKind, read_text, unescape};
use crate::xml::{XmlPart, attribute};

/// Rows of a sheet in Excel.
const SHEET_ROWS: u32 = 1_048_576;

/// Maximum size of a row's texts. A few bytes can refer to a long shared string.
const ROW_BYTES: usize = 4 << 20;

/// Maximum memory of a text that is reused for the next row.
const SPARE_BYTES: usize = 1 << 10;

/// Maximum number of events of a sheet: those of rows, white space and elements that are not known, and those of each
/// cell. A cell with a value has five.
const OTHER_EVENTS: u64 = 8_000_000;
const EVENTS_PER_CELL: u64 = 64;

/// Maximum number of events that are read after the cells.
const REST_EVENTS: u32 = 200_000;

/// A row with at least one filled cell.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Row {
    /// Its number in the sheet; the first is 1.
    pub number: u32,
    /// The cells up to the last filled one.
    pub cells: Vec<CellValue>,
    /// True if the row has filled cells beyond the columns that are read.
    pub is_truncated: bool,
    /// True if the sheet hides the row.
    pub is_hidden: bool,
}

/// What the cells of a sheet refer to.
pub(crate) struct Context<'a> {
    pub(crate) strings: &'a SharedStrings,
    pub(crate) formats: &'a [NumberFormat],
    pub(crate) dates: DateSystem,
    /// True if the program that opens the workbook must compute all formulas: libraries write 0 as their result.
    pub(crate) is_computed_on_load: bool,
    /// Maximum number of cells, and of those without a value.
    pub(crate) cells: u64,
    pub(crate) blank_cells: u64,
    /// Maximum number of columns that are read.
    pub(crate) max_columns: usize,
}

/// Reads a sheet.
pub(crate) struct SheetReader<'a, R: Read> {
    part: XmlPart<R>,
    context: Context<'a>,
    row: Row,
    /// True from the start of a row to its end.
    is_in_row: bool,
    /// Index of the next cell's column, if the cell does not name it.
    column: usize,
    cells: u64,
    blank_cells: u64,
    events: u64,
    /// Size of the texts of the current row.
    row_bytes: usize,
    /// The text of the current cell; its memory is reused.
    text: String,
    /// Short texts of the last row, whose memory is reused.
    spare: Vec<String>,
}

impl<'a, R: Read> SheetReader<'a, R> {
    /// Creates a reader.
    pub(crate) fn new(part: XmlPart<R>, context: Context<'a>) -> Self {
        Self {
            // Sheets have many cells without a value, each an empty element.
            part: part.with_empty_elements(),
            context,
            row: Row::default(),
            is_in_row: false,
            column: 0,
            cells: 0,
            blank_cells: 0,
            events: 0,
            row_bytes: 0,
            text: String::new(),
            spare: Vec::new(),
        }
    }

    /// Passes each row to `visit`, until it breaks. Blank rows are left out. Returns the number of merged ranges, 0 after a
    /// break.
    ///
    /// # Errors
    /// If the sheet is damaged, or exceeds a limit.
    pub(crate) fn read(mut self, mut visit: impl FnMut(&Row) -> ControlFlow<()>) -> Result<u32, WorkbookError> {
        loop {
            let (element, is_empty) = match self.next()? {
                Event::Start(element) => (element, false),
                Event::Empty(element) => (element, true),
                Event::End(element) if element.local_name().as_ref() == "row" => {
                    self.is_in_row = false;
                    let is_blank = self.row.cells.is_empty() && !self.row.is_truncated;
                    if !is_blank && visit(&self.row).is_break() {
                        return Ok(0);
                    }
                    continue;
                }
                Event::End(element) if element.local_name().as_ref() == "sheetData" => return Ok(self.merged_ranges()),
                Event::Eof => return Err(WorkbookError::damaged("a sheet ends too early")),
                _ => continue,
            };
            match element.local_name().as_ref() {
                "row" => {
                    let (number, hidden) = (attribute(&element, "r")?, attribute(&element, "hidden")?);
                    let is_hidden = matches!(hidden.as_deref(), Some("1" | "true"));
                    self.begin_row(number.as_deref(), is_hidden)?;
                    self.is_in_row = !is_empty;
                }
                "c" => {
                    let cell = CellStart::new(&element)?;
                    self.read_cell(cell, is_empty)?;
                }
                "sheetData" if is_empty => return Ok(self.merged_ranges()),
                _ => {}
            }
        }
    }

    /// Counts the merged ranges, which follow the cells. Nothing else is needed of the rest of the part, so nothing in it
    /// is an error, and elements that come later in every sheet end it (ISO/IEC 29500-1, 18.3.1.99).
    fn merged_ranges(&mut self) -> u32 {
        let mut ranges = 0;
        for _ in 0..REST_EVENTS {
            match self.part.next() {
                Ok(Event::Start(element) | Event::Empty(element)) => match element.local_name().as_ref() {
                    "mergeCell" => ranges += 1,
                    "phoneticPr" | "conditionalFormatting" | "dataValidations" | "hyperlinks" | "drawing" => break,
                    _ => {}
                },
                Ok(Event::End(element)) if element.local_name().as_ref() == "mergeCells" => break,
                Ok(Event::Eof) | Err(_) => break,
                Ok(_) => {}
            }
        }
        ranges
    }

    fn next(&mut self) -> Result<Event<'_>, WorkbookError> {
        self.events += 1;
        if self.events > OTHER_EVENTS + EVENTS_PER_CELL * self.cells {
            return Err(too_many_elements());
        }
        Ok(self.part.next()?)
    }

    /// Begins a row. Its number must be higher than that of the last one, which must have ended.
    fn begin_row(&mut self, number: Option<&str>, is_hidden: bool) -> Result<(), WorkbookError> {
        let next = self.row.number + 1;
        let number = match number {
            Some(number) => number.parse().map_err(|_| WorkbookError::damaged("a row has no number"))?,
            None => next,
        };
        if number < next || number > SHEET_ROWS || self.is_in_row {
            return Err(WorkbookError::damaged(format!("row {number} is not in its place")));
        }
        self.row.number = number;
        self.row.is_hidden = is_hidden;
        self.row.is_truncated = false;
        self.spare.clear();
        let is_short = |text: &String| (1..=SPARE_BYTES).contains(&text.capacity());
        self.spare.extend(self.row.cells.drain(..).flatten().map(CellContent::into_text).filter(is_short));
        self.row_bytes = 0;
        self.column = 0;
        Ok(())
    }

    /// Reads a cell that has begun. One whose element is empty has no content.
    fn read_cell(&mut self, cell: CellStart, is_empty_element: bool) -> Result<(), WorkbookError> {
        self.cells += 1;
        if self.cells > self.context.cells {
            return Err(WorkbookError::TooManyCells(self.context.cells));
        }
        let column = cell.column.unwrap_or(self.column);
        if column >= SHEET_COLUMNS || !self.is_in_row {
            return Err(WorkbookError::damaged("a cell is outside of its sheet"));
        }
        self.column = column + 1;
        self.text.clear();
        let has_formula = !is_empty_element && self.read_content()?;
        let is_empty = self.text.is_empty() && !has_formula;
        if is_empty {
            self.blank_cells += 1;
            let is_within = self.blank_cells <= self.context.blank_cells;
            return if is_within { Ok(()) } else { Err(WorkbookError::TooMany("cells without a value")) };
        }
        if column >= self.context.max_columns {
            self.row.is_truncated = true;
            return Ok(());
        }
        let is_zero = cell.kind == StoredType::Number && self.text == "0";
        let has_no_result = has_formula && self.context.is_computed_on_load && is_zero;
        let value = if has_no_result { Err(CellError::FormulaWithoutResult) } else { self.value(&cell)? };
        self.row_bytes += value.as_ref().map_or(0, |content| content.len());
        if self.row_bytes > ROW_BYTES {
            return Err(WorkbookError::RowTooLarge(self.row.number));
        }
        if self.row.cells.len() <= column {
            self.row.cells.resize(column + 1, Ok(CellContent::default()));
        }
        self.row.cells[column] = value;
        Ok(())
    }

    /// Reads the elements of a cell up to its end: its text, and if it has a formula.
    fn read_content(&mut self) -> Result<bool, WorkbookError> {
        let mut has_formula = false;
        loop {
            let kind = match self.next()? {
                Event::Empty(element) => {
                    match element.local_name().as_ref() {
                        "v" | "is" => self.text.clear(),
                        "f" => has_formula = true,
                        _ => {}
                    }
                    None
                }
                Event::Start(element) => match element.local_name().as_ref() {
                    "v" => Some(TextKind::Plain),
                    "is" => Some(TextKind::Rich),
                    "f" => {
                        has_formula = true;
                        None
                    }
                    _ => None,
                },
                Event::End(element) if element.local_name().as_ref() == "c" => return Ok(has_formula),
                Event::Eof => return Err(WorkbookError::damaged("a sheet ends within a cell")),
                _ => None,
            };
            if let Some(kind) = kind {
                self.text.clear();
                self.events += read_text(&mut self.part, kind, &mut self.text)?;
            }
        }
    }

    fn value(&mut self, cell: &CellStart) -> Result<CellValue, WorkbookError> {
        if self.text.is_empty() {
            // A program that has computed the formula says that its result is a text.
            return Ok(if cell.kind == StoredType::Computed {
                Ok(CellContent::default())
            } else {
                Err(CellError::FormulaWithoutResult)
            });
        }
        Ok(match cell.kind {
            StoredType::Shared => {
                let index: usize = self.text.trim().parse().unwrap_or(usize::MAX);
                let string = self.context.strings.get(index);
                let string = string.ok_or_else(|| WorkbookError::damaged("a cell has a text that does not exist"))?;
                let mut text = self.spare.pop().unwrap_or_default();
                text.clear();
                text.push_str(string);
                Ok(CellContent::Text(text))
            }
            StoredType::Boolean => {
                let text = if self.text.trim() == "0" { "false" } else { "true" };
                Ok(CellContent::Text(text.to_owned()))
            }
            StoredType::Error => Err(CellError::Formula(self.text.chars().take(40).collect())),
            StoredType::Inline | StoredType::Computed => {
                unescape(&mut self.text, 0);
                Ok(CellContent::Text(self.text.clone()))
            }
            StoredType::IsoDate => Ok(CellContent::Text(self.text.trim().to_owned())),
            StoredType::Number => {
                let format = self.context.formats.get(cell.format).copied().unwrap_or_default();
                number(&self.text, format, self.context.dates)
            }
        })
    }
}

fn too_many_elements() -> WorkbookError {
    WorkbookError::damaged("a sheet has too many elements that are no cells")
}
