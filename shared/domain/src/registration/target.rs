//! Targets of registrations.

use serde::{Deserialize, Serialize};

use super::function_alias::FunctionAlias;

/// The handler that processes the items: `{"function": "arn:…"}` or `{"url": "https://…"}`.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// An alias of a Lambda function.
    Function(FunctionAlias),
    /// An HTTPS endpoint, as the operator wrote its URL. Whoever calls it checks the URL against the allowed hosts of
    /// that moment.
    Url(String),
}
