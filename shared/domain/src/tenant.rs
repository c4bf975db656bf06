//! The name of a tenant. It is part of keys in DynamoDB and S3, and of message groups in SQS.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The tenant of everything in a deployment without sign-in.
pub static DEFAULT_TENANT: TenantId = TenantId::from_static("default");

/// Identifies a tenant: 1 to [`TenantId::MAX_BYTES`] ASCII letters, digits and [`TenantId::MARKS`], without a leading
/// dot.
///
/// The name is part of keys of DynamoDB (separated by `#`) and S3 (separated by `/`), and it is a message group of SQS.
/// No other value can be created, so no name leads into another tenant's keys. Reading one from JSON or from an item
/// fails if it is not a valid name.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantId(Cow<'static, str>);

impl TenantId {
    /// Maximum length of a name: the longest message group that SQS takes
    /// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>), and the
    /// space that a record leaves for it.
    pub const MAX_BYTES: usize = 128;

    /// Characters that a name may contain besides letters and digits. The names of the usual issuers fit: UUIDs,
    /// `auth0|5f7c…`, e-mail addresses, URNs.
    pub const MARKS: &str = "-_.@|:+=";

    /// Parses a name; `None` if it is not valid.
    pub fn parse(name: &str) -> Option<Self> {
        is_name(name).then(|| Self(Cow::Owned(name.to_owned())))
    }

    /// Creates a name that is part of the program.
    ///
    /// # Panics
    /// If the name is not valid; in a constant or a static, at compile time.
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_name(name), "not a valid tenant name");
        Self(Cow::Borrowed(name))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Checks a name. `.` and `..` would lead out of a folder.
const fn is_name(name: &str) -> bool {
    let (name, marks) = (name.as_bytes(), TenantId::MARKS.as_bytes());
    if name.is_empty() || name.len() > TenantId::MAX_BYTES || name[0] == b'.' {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if !name[at].is_ascii_alphanumeric() && !has(marks, name[at]) {
            return false;
        }
        at += 1;
    }
    true
}

const fn has(bytes: &[u8], byte: u8) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

/// A text that is not the name of a tenant. The text is not repeated, because it may be anything.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("not a valid tenant name")]
pub struct BadTenantName;

impl TryFrom<String> for TenantId {
    type Error = BadTenantName;

    fn try_from(name: String) -> Result<Self, BadTenantName> {
        if is_name(&name) { Ok(Self(Cow::Owned(name))) } else { Err(BadTenantName) }
    }
}

impl From<TenantId> for String {
    fn from(tenant: TenantId) -> Self {
        tenant.0.into_owned()
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lead_into_another_tenants_keys() {
        for good in ["a", "auth0|5f7c8ec7", "ann+x@example.com", "urn:tenant=7", "A-b_c.d", &"x".repeat(128)] {
            assert_eq!(TenantId::parse(good).map(String::from).as_deref(), Some(good));
            assert_eq!(serde_json::from_value::<TenantId>(good.into()).unwrap().as_str(), good);
        }
        let long = "x".repeat(129);
        for bad in ["", " ", "a b", "a#b", "a/b", "..", ".a", "a\n", "a%2f", "[acme]", "ü", "a*", &long] {
            assert_eq!(TenantId::parse(bad), None, "{bad}");
            assert!(serde_json::from_value::<TenantId>(bad.into()).is_err(), "{bad}");
        }
    }
}
