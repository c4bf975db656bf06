//! The options of an undo: the import, with its own options, by which the keys of its rows are read.

use longshore_domain::ids::JobId;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::field_error::FieldError;
use crate::job_types::import::{ImportOptions, NotUndoable};

/// The options of an undo.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoOptions {
    /// The import that is undone.
    pub job_id: JobId,
    /// True if nothing is written: the outcomes are those that an undo would have.
    #[serde(default)]
    pub preview: bool,
    /// The options of the import.
    pub import: ImportOptions,
}

impl UndoOptions {
    pub(super) fn check(&self) -> Vec<FieldError> {
        self.import.check()
    }
}

/// Returns the options of the undo of an import, or of its preview.
///
/// # Errors
/// If an import with these options cannot be undone.
pub fn undo_options(import: JobId, options: &Value, preview: bool) -> Result<Value, NotUndoable> {
    let parsed: ImportOptions = serde_json::from_value(options.clone()).map_err(|_| NotUndoable::NoImport)?;
    parsed.check_undoable()?;
    Ok(json!({ "jobId": import, "preview": preview, "import": options }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_imports_that_write_and_store_versions_can_be_undone() {
        let import = |mode: &str, undo: Option<bool>| {
            let mut options = json!({ "dataset": "d", "key": "id", "mode": mode });
            undo.into_iter().for_each(|undo| options["undo"] = undo.into());
            undo_options(JobId::generate(), &options, false).map(|_| ())
        };
        for mode in ["upsert", "insert", "update"] {
            assert_eq!([import(mode, None), import(mode, Some(true))], [Ok(()), Ok(())], "{mode}");
            assert_eq!(import(mode, Some(false)), Err(NotUndoable::Off), "{mode}");
        }
        assert_eq!(import("delete", None), Err(NotUndoable::Delete));
        assert_eq!(import("validate", None), Err(NotUndoable::Validation));
        assert_eq!(undo_options(JobId::generate(), &json!({}), false), Err(NotUndoable::NoImport));
    }

    #[test]
    fn the_options_of_an_undo_are_those_that_the_job_type_reads() {
        let import =
            json!({ "dataset": "d", "key": "id", "schema": { "properties": { "id": { "type": "integer" } } } });
        let options = undo_options(JobId::generate(), &import, true).unwrap();
        let read: UndoOptions = serde_json::from_value(options).unwrap();
        assert!(read.preview && read.check().is_empty());
        assert_eq!(read.import.key, "id");
    }
}
