//! The response document.

use longshore::inspection::{FoundColumn, FoundRow, Inspection};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{JobError, SourceFile};
use longshore_domain::preset::Preset;
use longshore_domain::records::{Form, Format, GivenReading, Reading};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The result of the inspection of an uploaded file.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Inspection)]
pub struct InspectionDocument {
    /// Id of the upload.
    pub file_guid: FileGuid,
    /// Format of the file.
    pub format: Format,
    /// What was converted before it was read: a workbook, a compressed file, or text in UTF-16. `null` for other files.
    #[schema(required = true)]
    pub prepared: Option<PreparedDocument>,
    /// How CSV is written; `null` for JSON Lines, or if the file cannot be read.
    #[schema(required = true)]
    pub reading: Option<Reading>,
    /// The columns of CSV, in order.
    pub columns: Vec<FoundColumn>,
    /// The first rows after the header.
    #[schema(max_items = 100)]
    pub rows: Vec<FoundRow>,
    /// Guesses that a person should check.
    pub issues: Vec<JobError>,
    /// The error with which a job would fail before its first row.
    #[schema(required = true)]
    pub error: Option<JobError>,
    /// The mapping of the dataset's last import or export, as far as the file has its columns; `null` if there is none,
    /// or no import was named. It is in `request` if the options have neither `columns` nor `values`.
    #[schema(required = true)]
    pub preset: Option<Preset>,
    /// A request for a job that reads the file so, with what was found; `null` if that job would fail, or no job type
    /// was named.
    #[schema(required = true, value_type = Option<Object>)]
    pub request: Option<Value>,
}

/// A file that must be converted before it is split.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PreparedFile)]
pub struct PreparedDocument {
    /// The form of the file.
    pub form: Form,
    /// Name of the file in an archive.
    #[schema(required = true)]
    pub file: Option<String>,
    /// Name of the sheet that is read.
    #[schema(required = true)]
    pub sheet: Option<String>,
    /// Row of the header as the spreadsheet program numbers it; `headerRow` of the reading counts only rows with text.
    /// `null` without a header, and if the file is no workbook.
    #[schema(required = true)]
    pub header_sheet_row: Option<u32>,
    /// The sheets of a workbook, in order.
    pub sheets: Vec<SheetDocument>,
}

impl PreparedDocument {
    /// Returns true if the file is a workbook.
    pub(crate) const fn is_workbook(&self) -> bool {
        self.sheet.is_some()
    }
}

/// A sheet of a workbook.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = WorkbookSheet)]
pub struct SheetDocument {
    /// Its name.
    pub name: String,
    /// True if it is hidden.
    pub hidden: bool,
}

impl InspectionDocument {
    /// Creates the document of an inspection for this job type, if any.
    pub(crate) fn new(
        id: FileGuid,
        source: &SourceFile,
        prepared: Option<PreparedDocument>,
        found: Inspection,
        job_type: Option<&str>,
    ) -> Self {
        let Inspection { reading, columns, rows, issues, error, preset, options } = found;
        let request = job_type.zip(options).map(|(job_type, options)| {
            let mut reading_given = json!(reading.map(GivenReading::from).unwrap_or_default());
            reading_given["format"] = json!(source.format);
            if let Some(sheet) = prepared.as_ref().and_then(|prepared| prepared.sheet.as_ref()) {
                reading_given["sheet"] = json!(sheet);
            }
            json!({ "jobType": job_type, "fileGuid": id, "reading": reading_given, "options": options })
        });
        let format = source.format;
        Self { file_guid: id, format, prepared, reading, columns, rows, issues, error, preset, request }
    }
}
