//! The choice of a sheet of a workbook.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A sheet of a workbook, as the client names it.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Sheet)]
#[serde(untagged)]
pub enum GivenSheet {
    /// The sheet at this position; the first is 1. Hidden sheets count.
    Number(u32),
    /// The sheet of this name, in any case.
    Name(String),
}
