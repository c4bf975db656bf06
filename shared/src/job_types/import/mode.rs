//! The mode of an import, and the reasons why an import cannot be undone.

use longshore_domain::writer::Rule;
use serde::Deserialize;
use utoipa::ToSchema;

/// Effect of an import on the dataset.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Writes every row and overwrites existing records; of two rows with the same key, the later one wins.
    #[default]
    Upsert,
    /// Writes rows whose key does not exist yet, and fails the others with `duplicate_key`.
    Insert,
    /// Overwrites existing records, and fails rows whose key does not exist with `key_not_found`.
    Update,
    /// Deletes the records of the keys; a key that does not exist is a success. Reads the key column only.
    Delete,
    /// Writes nothing, and reports every error that can be found without writing.
    Validate,
}

/// The reason why an import with some options cannot be undone.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum NotUndoable {
    /// The import only checks its file.
    #[error("the job only validates its file and has written nothing")]
    Validation,
    /// The import deletes records.
    #[error("the job deletes records, and deleted records cannot be restored")]
    Delete,
    /// The import has stored no previous versions.
    #[error("the import was created with the option \"undo\": false, so it has stored no previous versions")]
    Off,
    /// The options are not those of an import.
    #[error("only imports can be undone")]
    NoImport,
}

impl Mode {
    /// Returns the rule for writes, or `None` if the mode writes nothing.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Self::Upsert => Some(Rule::Upsert),
            Self::Insert => Some(Rule::Insert),
            Self::Update => Some(Rule::Update),
            Self::Delete => Some(Rule::Delete),
            Self::Validate => None,
        }
    }
}
