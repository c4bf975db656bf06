//! Limits of the AWS services, each with its source, and checks that refuse the same calls as the services.
//!
//! The adapters build their calls within these limits. The in-memory services and the proxy in front of the local
//! emulator refuse with the same checks, so that a call beyond a limit fails in tests as it fails on AWS.
//! `docs/aws-limits.md` shows the same table as a page.

pub mod api_gateway;
pub mod dynamodb;
pub mod lambda;
pub mod s3;
pub mod sqs;

/// One limit of a service.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Limit {
    /// The service.
    pub service: &'static str,
    /// Name of the constant.
    pub name: &'static str,
    /// The maximum value, or the minimum where the meaning says so.
    pub value: usize,
    /// Unit of the value.
    pub unit: &'static str,
    /// Description of the limit.
    pub meaning: &'static str,
    /// URL of the source.
    pub source: &'static str,
}

/// Refusal of a call, with the code and message that the service would return.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The service's error code.
    pub code: &'static str,
    /// The service's message.
    pub message: String,
}

impl Refusal {
    /// Creates a refusal with this code and message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Returns all limits, service by service.
pub fn table() -> impl Iterator<Item = &'static Limit> {
    [dynamodb::TABLE, sqs::TABLE, s3::TABLE, lambda::TABLE, api_gateway::TABLE].into_iter().flatten()
}

/// Defines limits as constants, and the table of them.
macro_rules! limits {
    ($service:literal; $(#[doc = $meaning:literal] $name:ident = $value:expr, $unit:literal, $source:literal;)+) => {
        $(
            #[doc = $meaning]
            #[doc = concat!("\n\nSource: <", $source, ">")]
            pub const $name: usize = $value;
        )+

        pub(super) const TABLE: &[super::Limit] = &[$(super::Limit {
            service: $service,
            name: stringify!($name),
            value: $name,
            unit: $unit,
            meaning: $meaning,
            source: $source,
        }),+];
    };
}
use limits;

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
