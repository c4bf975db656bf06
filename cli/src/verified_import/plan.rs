//! An import: its options, its expected result, and its file with an independent count of its rows.

use crate::api::{ImportOptions, Mode};
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// An import: its file and options.
pub struct Plan {
    /// The file.
    pub source: Source,
    /// JSON Schema that every row must satisfy.
    pub schema: Option<PathBuf>,
    /// Dataset to import into.
    pub dataset: String,
    /// Column that identifies a row.
    pub key: String,
    /// Treatment of existing records.
    pub mode: Mode,
    /// Metadata of the job, by which it can be found.
    pub metadata: BTreeMap<String, String>,
}

impl Plan {
    /// Returns the request for the job over an upload.
    pub(super) fn request(&self, upload: &str) -> Result<Value> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        let (dataset, key) = (self.dataset.clone(), self.key.clone());
        let options = ImportOptions { dataset, key, schema, mode: self.mode };
        let mut request = json!({ "jobType": "import", "fileGuid": upload, "priority": "normal", "options": options });
        if !self.metadata.is_empty() {
            request["metadata"] = json!(self.metadata);
        }
        Ok(request)
    }
}

/// The expected result of an import.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Expected {
    /// Number of rows.
    pub items: u64,
    /// Numbers of the rows that must fail, counted from 1.
    pub invalid: BTreeSet<u64>,
    /// Distinct keys of the rows that must succeed.
    pub keys: BTreeSet<String>,
}

/// A local file and its properties.
pub struct Source {
    /// Path as given.
    pub path: PathBuf,
    /// Size.
    pub size_bytes: u64,
    /// Number of rows as counted by the csv crate, or of lines that are not blank.
    pub items: u64,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let open = || File::open(path).with_context(|| format!("cannot read {}", path.display()));
        let name = path.file_name().context("the file has no name")?.to_string_lossy();
        let json_lines = name.ends_with(".jsonl") || name.ends_with(".ndjson");
        let items = if json_lines { count_lines(BufReader::new(open()?))? } else { count_rows(open()?)? };
        let size_bytes = fs::metadata(path)?.len();
        Ok(Self { path: path.to_owned(), size_bytes, items })
    }
}

fn read_schema(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// Counts the rows below the header. Rows of the wrong length count too, because they are items that fail.
fn count_rows(file: impl Read) -> Result<u64> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file);
    let mut record = csv::ByteRecord::new();
    let mut rows = 0;
    while reader.read_byte_record(&mut record)? {
        rows += 1;
    }
    Ok(rows)
}

fn count_lines(mut file: impl BufRead) -> Result<u64> {
    let (mut lines, mut line) = (0, Vec::new());
    while file.read_until(b'\n', &mut line)? > 0 {
        lines += u64::from(!line.trim_ascii().is_empty());
        line.clear();
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_has_the_metadata_of_the_plan() -> Result<()> {
        let source = Source { path: "people.csv".into(), size_bytes: 1, items: 1 };
        let (dataset, key, metadata) = ("d".to_owned(), "id".to_owned(), BTreeMap::new());
        let mut plan = Plan { source, schema: None, dataset, key, mode: Mode::Upsert, metadata };
        let request = plan.request("g")?;
        assert_eq!((&request["fileGuid"], &request["options"]["dataset"]), (&json!("g"), &json!("d")));
        assert_eq!(request.get("metadata"), None);
        plan.metadata.insert("smoke".to_owned(), "smoke-1".to_owned());
        assert_eq!(plan.request("g")?["metadata"], json!({ "smoke": "smoke-1" }));
        Ok(())
    }

    #[test]
    fn quoted_line_breaks_do_not_end_a_row_and_blank_lines_do_not_count() -> Result<()> {
        let text = "a,b\r\n\"x\ny\",1\n\n\"q\"\"q\",2\nshort\n";
        assert_eq!(count_rows(text.as_bytes())?, 3);
        assert_eq!(count_lines("{}\n \n{}".as_bytes())?, 2);
        Ok(())
    }
}
