//! Selection of the failed items that a retry or a replay runs again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::source::SourceFile;
use crate::ids::ChunkId;
use crate::outcome::Rejection;

/// The failed items that a generation runs again. The others stay failed. Items that no generation has processed run in
/// any case.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(from = "StoredSelection", into = "StoredSelection")]
pub enum Selection {
    /// All failed items.
    #[default]
    All,
    /// The items in a corrected failures file, with the contents of the file.
    Corrected(SourceFile),
    /// The items that were given up with the dead letters of these chunks of earlier generations.
    Chunks(BTreeSet<ChunkId>),
    /// The items that failed for this reason.
    Failure(FailureFilter),
}

impl Selection {
    /// Returns the corrected failures file.
    pub const fn corrected(&self) -> Option<&SourceFile> {
        if let Self::Corrected(file) = self { Some(file) } else { None }
    }

    /// Returns the chunks whose dead letters are replayed.
    pub const fn chunks(&self) -> Option<&BTreeSet<ChunkId>> {
        if let Self::Chunks(chunks) = self { Some(chunks) } else { None }
    }

    /// Returns the reason of the selected failures.
    pub const fn failure(&self) -> Option<&FailureFilter> {
        if let Self::Failure(filter) = self { Some(filter) } else { None }
    }
}

/// A reason for which items failed: the code, and the field if only failures of one field are meant.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct FailureFilter {
    /// Code of the rejection.
    pub code: String,
    /// Field of the rejection; any if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl FailureFilter {
    /// Returns true if an item with this rejection failed for the reason.
    pub fn includes(&self, why: &Rejection) -> bool {
        why.code == self.code && (self.field.is_none() || why.field == self.field)
    }
}

/// A selection as it is stored: at most one field has a value.
#[derive(Default, Serialize, Deserialize)]
struct StoredSelection {
    #[serde(default)]
    corrected: Option<SourceFile>,
    #[serde(default, rename = "only")]
    chunks: Option<BTreeSet<ChunkId>>,
    #[serde(default, rename = "onlyFailure", skip_serializing_if = "Option::is_none")]
    failure: Option<FailureFilter>,
}

impl From<StoredSelection> for Selection {
    fn from(stored: StoredSelection) -> Self {
        match stored {
            StoredSelection { corrected: Some(file), .. } => Self::Corrected(file),
            StoredSelection { chunks: Some(chunks), .. } => Self::Chunks(chunks),
            StoredSelection { failure: Some(filter), .. } => Self::Failure(filter),
            _ => Self::All,
        }
    }
}

impl From<Selection> for StoredSelection {
    fn from(selection: Selection) -> Self {
        match selection {
            Selection::All => Self::default(),
            Selection::Corrected(file) => Self { corrected: Some(file), ..Self::default() },
            Selection::Chunks(chunks) => Self { chunks: Some(chunks), ..Self::default() },
            Selection::Failure(filter) => Self { failure: Some(filter), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A new member does not compile until it is here, and in the golden file of its shape: docs/design/versions.md.
    const _: fn(StoredSelection) = |StoredSelection { corrected: _, chunks: _, failure: _ }| {};

    #[test]
    fn a_selection_is_stored_under_the_names_of_earlier_versions() {
        let filter = FailureFilter { code: "bad".into(), field: Some("mail".into()) };
        for (selection, stored) in [
            (Selection::All, r#"{"corrected":null,"only":null}"#),
            (Selection::Chunks([ChunkId::new(1, 2)].into()), r#"{"corrected":null,"only":[{"group":1,"chunk":2}]}"#),
            (
                Selection::Failure(filter),
                r#"{"corrected":null,"only":null,"onlyFailure":{"code":"bad","field":"mail"}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&selection).unwrap(), stored);
            assert_eq!(serde_json::from_str::<Selection>(stored).unwrap(), selection);
        }
        assert_eq!(serde_json::from_str::<Selection>("{}").unwrap(), Selection::All, "before selections existed");
    }

    #[test]
    fn a_reason_is_a_code_and_a_field_if_one_is_given() {
        let filter = |field: Option<&str>| FailureFilter { code: "bad".into(), field: field.map(str::to_owned) };
        for (filter, code, field, included) in [
            (filter(None), "bad", None, true),
            (filter(None), "bad", Some("mail"), true),
            (filter(None), "worse", None, false),
            (filter(Some("mail")), "bad", Some("mail"), true),
            (filter(Some("mail")), "bad", Some("name"), false),
            (filter(Some("mail")), "bad", None, false),
        ] {
            assert_eq!(filter.includes(&Rejection::new(code, field, "no")), included, "{filter:?} {code} {field:?}");
        }
    }
}
