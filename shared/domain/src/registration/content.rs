//! A registration: everything that an operator says about a job type.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::name::TypeName;
use super::target::Target;
use crate::remote::BatchLimits;
use crate::remote::limits::{MAX_BATCH_BYTES, MAX_BATCH_ITEMS};

/// Maximum characters of a description.
pub const MAX_DESCRIPTION_CHARS: usize = 500;

/// Range of the items of a batch.
pub const BATCH_ITEMS: RangeInclusive<u32> = 1..=MAX_BATCH_ITEMS;
/// Range of the bytes of a batch.
pub const BATCH_BYTES: RangeInclusive<u32> = 1..=MAX_BATCH_BYTES;
/// Range of the time-out of a call, in seconds.
pub const TIMEOUT_SECONDS: RangeInclusive<u32> = 1..=110;
/// Range of the calls at a time.
pub const CONCURRENCY: RangeInclusive<u32> = 1..=1_000;
/// Range of the rate limit, in items per second.
pub const ITEMS_PER_SECOND: RangeInclusive<f64> = 0.1..=100_000.0;
/// Range of the tries of an item.
pub const TRIES: RangeInclusive<u32> = 1..=20;
/// Range of the time for which items wait for an unavailable handler, in seconds.
pub const MAX_OUTAGE_SECONDS: RangeInclusive<u32> = 60..=86_400;

/// Default number of calls at a time.
pub const DEFAULT_CONCURRENCY: u32 = 10;
/// Default number of tries of an item.
pub const DEFAULT_TRIES: u32 = 5;
/// Default time for which items wait for an unavailable handler: six hours.
pub const DEFAULT_MAX_OUTAGE_SECONDS: u32 = 21_600;

/// A registration of a job type. Two registrations with the same content are equal.
///
/// The items have outputs if and only if there is an output schema: a separate flag could contradict it, and the empty
/// schema `{}` stands for outputs of any form.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// Name of the job type.
    pub name: TypeName,
    /// The handler.
    pub target: Target,
    /// Description for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Source of the items.
    pub input: RegisteredInput,
    /// JSON Schema of the options; any object is valid without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options_schema: Option<Value>,
    /// JSON Schema of an item; any item is valid without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_schema: Option<Value>,
    /// JSON Schema of an output; the items have no output without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Size of a call.
    pub batch: BatchSize,
    /// Maximum number of calls at a time, over all jobs and tenants.
    pub concurrency: u32,
    /// Rate limit over all jobs and tenants; none if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_per_second: Option<f64>,
    /// Number of tries of an item.
    pub tries: u32,
    /// Time for which items wait for an unavailable handler, in seconds.
    pub max_outage_seconds: u32,
}

impl Registration {
    /// Creates a registration with the default values, which has no schemas.
    pub fn new(name: TypeName, target: Target) -> Self {
        Self {
            name,
            target,
            description: None,
            input: RegisteredInput::default(),
            options_schema: None,
            item_schema: None,
            output_schema: None,
            batch: BatchSize::default(),
            concurrency: DEFAULT_CONCURRENCY,
            items_per_second: None,
            tries: DEFAULT_TRIES,
            max_outage_seconds: DEFAULT_MAX_OUTAGE_SECONDS,
        }
    }

    /// Returns true if and only if the items have outputs.
    pub const fn has_output(&self) -> bool {
        self.output_schema.is_some()
    }
}

/// Source of the items of a registered job type.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobTypeInput)]
pub enum RegisteredInput {
    /// A file, the items of the request, or a part of another job.
    #[default]
    File,
    /// A dataset.
    Dataset,
}

/// Size and time-out of a call.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobTypeBatch)]
pub struct BatchSize {
    /// Maximum number of items in a call.
    #[schema(minimum = 1, maximum = 1_000)]
    pub items: u32,
    /// Size of a call in bytes above which no further item is added.
    #[schema(minimum = 1, maximum = 4_194_304)]
    pub bytes: u32,
    /// Time-out of a call in seconds.
    #[schema(minimum = 1, maximum = 110)]
    pub timeout_seconds: u32,
}

impl Default for BatchSize {
    fn default() -> Self {
        Self { items: 100, bytes: 1 << 20, timeout_seconds: 30 }
    }
}

impl BatchSize {
    /// Returns the limits of a batch.
    pub fn limits(self) -> BatchLimits {
        BatchLimits::new(self.items, self.bytes)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::registration::FunctionAlias;

    /// A registration of a function, with default values.
    pub(in crate::registration) fn registration() -> Registration {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:invite:live";
        Registration::new(TypeName::parse("invite").unwrap(), Target::Function(FunctionAlias::parse(arn).unwrap()))
    }

    #[test]
    fn the_default_values_are_within_their_ranges() {
        let Registration { batch, concurrency, tries, max_outage_seconds, .. } = registration();
        assert!(BATCH_ITEMS.contains(&batch.items) && BATCH_BYTES.contains(&batch.bytes));
        assert!(TIMEOUT_SECONDS.contains(&batch.timeout_seconds) && CONCURRENCY.contains(&concurrency));
        assert!(TRIES.contains(&tries) && MAX_OUTAGE_SECONDS.contains(&max_outage_seconds));
        assert_eq!((batch.limits().items(), batch.limits().bytes()), (batch.items, batch.bytes));
    }

    #[test]
    fn a_registration_has_output_if_and_only_if_it_has_an_output_schema() {
        assert!(!registration().has_output());
        assert!(Registration { output_schema: Some(json!({})), ..registration() }.has_output());
    }

    proptest! {
        #[test]
        fn a_stored_registration_is_read_back_equal(
            items in BATCH_ITEMS,
            rate in proptest::option::of(0.1..=100_000.0),
            description in proptest::option::of(".{0,20}"),
            schema in proptest::option::of("[a-z]{0,5}"),
            url in proptest::option::of("[a-z]{1,9}"),
        ) {
            let target = url.map_or(registration().target, |path| Target::Url(format!("https://a.example/{path}")));
            let written = Registration {
                target,
                description,
                item_schema: schema.map(|title| json!({ "title": title, "maximum": rate })),
                batch: BatchSize { items, ..BatchSize::default() },
                items_per_second: rate,
                ..registration()
            };
            let text = serde_json::to_string(&written).unwrap();
            prop_assert_eq!(serde_json::from_str::<Registration>(&text).unwrap(), written);
        }
    }
}
