//! The store: its table, its limits, and its errors.

use longshore_domain::ports::{PortError, TenantLimits};

use crate::back_off::{self, Sleep};

/// The store on one DynamoDB table.
#[derive(Clone, Debug)]
pub struct DynamoStore {
    pub(super) client: aws_sdk_dynamodb::Client,
    pub(super) table: String,
    pub(super) limits: TenantLimits,
    pub(super) sleep: Sleep,
}

impl DynamoStore {
    /// Creates a store on this table.
    pub fn new(client: aws_sdk_dynamodb::Client, table: String) -> Self {
        Self { client, table, limits: TenantLimits::default(), sleep: back_off::sleep }
    }

    /// Sets the limits of each tenant.
    #[must_use]
    pub fn with_limits(self, limits: TenantLimits) -> Self {
        Self { limits, ..self }
    }
}

/// Names the failed operation as the port does.
pub(super) fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "store", operation, source: source.into() }
}
