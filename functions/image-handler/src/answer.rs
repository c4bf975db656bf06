//! Answers of the contract, as this function writes them.

use longshore_domain::remote::Mode;
use longshore_domain::remote::request::ITEMS_SCHEMA;
use serde::Serialize;

/// An answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Answer {
    /// To a ping.
    Pong {
        /// The contracts that this function knows.
        schemas: [&'static str; 1],
        /// The ping's challenge.
        challenge: String,
        /// The modes that this function knows.
        modes: [Mode; 2],
    },
    /// The outcomes of at least one item.
    Results {
        /// The outcomes.
        results: Vec<ItemResult>,
    },
    /// Nothing was done.
    RetryBatch {
        /// When, and why.
        retry_batch: RetryBatch,
    },
    /// No item of the job can succeed.
    Fatal {
        /// The reason.
        fatal: Fatal,
    },
}

/// The wait of a batch.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
pub struct RetryBatch {
    /// Seconds to wait.
    pub after: u64,
    /// The reason, for the document of the job.
    pub reason: &'static str,
}

/// The reason for which a job stops.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
pub struct Fatal {
    /// The code.
    pub code: &'static str,
    /// The text for the user.
    pub message: String,
}

/// The outcome of an item, with its key.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ItemResult {
    /// The item's key.
    pub key: String,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: ItemOutcome,
}

/// The outcome of an item.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum ItemOutcome {
    /// The copies are stored, or the item was only checked.
    Ok {
        /// The copies.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Output>,
    },
    /// The image can never be resized.
    Reject(Rejected),
    /// The image may be resized later.
    Retry {
        /// Seconds to wait.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// The reason.
        reason: String,
    },
}

/// The reason for which an item fails.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
pub struct Rejected {
    /// The code.
    pub code: &'static str,
    /// The column with the URL, if the item has columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The text for the user.
    pub message: String,
}

/// The output of an item.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
pub struct Output {
    /// Width of the original, after orientation.
    pub width: u32,
    /// Height of the original, after orientation.
    pub height: u32,
    /// The copies, in the order of the sizes.
    pub files: Vec<OutputFile>,
}

/// A copy.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputFile {
    /// Name of the file.
    pub name: String,
    /// Path of the file in the API.
    pub url: String,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
    /// The number of bytes.
    pub bytes: usize,
    /// The media type.
    pub content_type: &'static str,
}

impl Answer {
    /// Returns the answer to a ping.
    pub fn pong(challenge: String) -> Self {
        Self::Pong { schemas: [ITEMS_SCHEMA], challenge, modes: [Mode::Run, Mode::Validate] }
    }
}
