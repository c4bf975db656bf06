//! Answers that count nothing, because they are not answers of the contract.

use super::excerpt::Excerpt;
use super::json::JsonError;
use crate::text::listed;

/// An answer that is not one of the contract: nothing of it is counted.
///
/// The reason may quote a key or a name from the answer, so it is for the handler's author and for operators. A row's
/// message contains neither the reason nor the excerpt.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct BadAnswer {
    /// The defect, in words that tell the handler's author how to fix it.
    #[source]
    pub reason: BadAnswerReason,
    /// The first characters of the answer.
    pub excerpt: Excerpt,
}

impl BadAnswer {
    /// Creates a bad answer from the defect and the whole answer.
    pub(super) fn new(reason: BadAnswerReason, answer: &[u8]) -> Self {
        Self { reason, excerpt: Excerpt::new(answer) }
    }
}

/// The first defect of an answer.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum BadAnswerReason {
    /// The JSON has a defect.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The answer says nothing about the batch.
    #[error("the answer has none of `results`, `all`, `retryBatch` and `fatal`{}", found(others))]
    NoForm {
        /// Names of members that it has instead, some of them.
        others: Vec<String>,
    },
    /// The answer says different things about the batch.
    #[error("the answer has {}; it must have one of them", listed(forms.iter().copied()))]
    SeveralForms {
        /// Names of the members.
        forms: Vec<&'static str>,
    },
    /// A short form for all items that is not `ok`.
    #[error("`all` is {found}; it can only be \"ok\"; use `results` for other outcomes")]
    UnknownAll {
        /// The value, shortened and quoted.
        found: String,
    },
    /// No item is answered.
    #[error("`results` is empty; answer at least one of the items, or return `retryBatch`")]
    NoResults,
    /// An outcome that the contract does not have.
    #[error("`{path}` is {found}; the outcomes are \"ok\", \"reject\", \"retry\" and \"skip\"")]
    UnknownOutcome {
        /// Path of the outcome.
        path: String,
        /// The outcome, shortened and quoted.
        found: String,
    },
    /// A code that is not an identifier.
    #[error(
        "`{path}` is {found}, not an identifier such as \"bad_email\": a to z first, then a to z, 0 to 9 and _, at most \
         100 characters"
    )]
    BadCode {
        /// Path of the code.
        path: String,
        /// The code, shortened and quoted.
        found: String,
    },
    /// A key that is not of this batch.
    #[error("`{path}` is {found}, which is no key of this batch; repeat the item's `key` unchanged")]
    UnknownKey {
        /// Path of the key.
        path: String,
        /// The key, shortened and quoted.
        found: String,
    },
    /// A key with two results.
    #[error("`{path}` is {found}, which has a result already; answer each key once")]
    DoubledKey {
        /// Path of the second one.
        path: String,
        /// The key, shortened and quoted.
        found: String,
    },
}

/// Describes the members of an answer that has none of the contract, with the usual cause.
fn found(others: &[String]) -> String {
    let has = |name: &str| others.iter().any(|other| other == name);
    if has("statusCode") && has("body") {
        return "; it looks like a response for API Gateway: return the object that is its `body`".into();
    }
    if has("batchItemFailures") {
        return "; it looks like a response for SQS, where silence means success: answer each item in `results`".into();
    }
    if others.is_empty() { String::new() } else { format!("; it has {}", listed(others.iter().map(String::as_str))) }
}
