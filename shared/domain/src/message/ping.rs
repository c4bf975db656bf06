//! The message that pings the handler of a candidate.

use serde::{Deserialize, Serialize};

use crate::registration::{TypeName, Version};

/// A request to ping the handler of a candidate, and to record the result for its version.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PingMessage {
    /// Name of the job type.
    pub name: TypeName,
    /// Version of the candidate.
    pub version: Version,
}
