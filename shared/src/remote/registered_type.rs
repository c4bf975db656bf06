//! A registered job type as a job type, and a job of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use longshore_domain::job::{JobError, Tolerance};
use longshore_domain::registration::{RegisteredInput, Registration, VersionedRegistration};
use longshore_domain::remote::{BatchLimits, ItemOutcome, ItemsPerSecond, Mode};
use longshore_domain::results::ResultRow;
use serde::Serialize;
use serde_json::Value;

use super::item_value::ItemValue;
use super::options_schema::OptionsSchema;
use crate::field_error::FieldError;
use crate::handler::{
    AnyJobType, CellReader, CheckedHeader, Header, Input, ItemShape, JobContext, Outcome, Outputs, PreparedJob,
    Processed, RawItem, Rejection, TypeLimits,
};
use crate::json_schema::JsonSchema;

/// Number of full batches in a chunk: enough for a turn of a fast handler, few enough that a slow one ends it.
const BATCHES_PER_CHUNK: u32 = 4;
/// Minimum and maximum number of items in a chunk.
const CHUNK_ITEMS: (u32, u32) = (20, 1_000);

/// A registered job type.
#[derive(Clone, Debug)]
pub struct RegisteredType(Arc<VersionedRegistration>);

impl RegisteredType {
    /// Creates the job type of a registration.
    pub fn new(registration: VersionedRegistration) -> Self {
        Self(Arc::new(registration))
    }

    fn content(&self) -> &Registration {
        &self.0.registration
    }
}

impl AnyJobType for RegisteredType {
    fn name(&self) -> &str {
        self.content().name.as_str()
    }

    fn is_internal(&self) -> bool {
        false
    }

    fn input(&self) -> Input {
        match self.content().input {
            RegisteredInput::File => Input::File,
            RegisteredInput::Dataset => Input::Dataset,
        }
    }

    fn item(&self) -> ItemShape {
        ItemShape::Any
    }

    fn limits(&self) -> TypeLimits {
        limits(self.content())
    }

    fn started(&self, _: &Value) -> Option<Value> {
        None
    }

    fn writes_records(&self, _: &Value) -> bool {
        false
    }

    fn is_undoable(&self, _: &Value) -> bool {
        false
    }

    fn registration(&self) -> Option<&VersionedRegistration> {
        Some(&self.0)
    }

    fn prepare(&self, options: &Value) -> Result<Box<dyn PreparedJob>, Vec<FieldError>> {
        let registration = self.content();
        let compile = |name: &str, schema: &Option<Value>| {
            schema.as_ref().map(|schema| JsonSchema::compile(name, schema)).transpose().map_err(|error| vec![error])
        };
        let schema = OptionsSchema::compile(registration).map_err(|error| vec![error])?;
        schema.check(options).map_err(|error| vec![error])?;
        Ok(Box::new(RemoteJob {
            item_schema: compile("/itemSchema", &registration.item_schema)?,
            output_schema: compile("/outputSchema", &registration.output_schema)?,
            registered: Arc::clone(&self.0),
            options: options.clone(),
        }))
    }
}

fn limits(registration: &Registration) -> TypeLimits {
    let batch = registration.batch.items;
    TypeLimits {
        chunk_items: batch.saturating_mul(BATCHES_PER_CHUNK).clamp(CHUNK_ITEMS.0, CHUNK_ITEMS.1),
        batch_items: batch as usize,
        item_retries: registration.tries.saturating_sub(1),
        chunks_at_once: Some(registration.concurrency),
        ..TypeLimits::DEFAULT
    }
}

/// A job of a registered type.
pub struct RemoteJob {
    registered: Arc<VersionedRegistration>,
    options: Value,
    item_schema: Option<JsonSchema>,
    output_schema: Option<JsonSchema>,
}

impl RemoteJob {
    /// Returns the registration.
    pub(crate) fn registration(&self) -> &Registration {
        &self.registered.registration
    }

    /// Returns the options of the job.
    pub(crate) fn options(&self) -> &Value {
        &self.options
    }

    /// Returns the mode of the requests.
    pub(crate) fn mode(&self) -> Mode {
        Mode::Run
    }

    /// Returns the limits of a batch.
    pub(crate) fn batch_limits(&self) -> BatchLimits {
        let batch = &self.registration().batch;
        BatchLimits::new(batch.items, batch.bytes)
    }

    /// Returns the time-out of a call.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.registration().batch.timeout_seconds.into())
    }

    /// Returns the rate limit.
    pub(crate) fn rate(&self) -> Option<ItemsPerSecond> {
        self.registration().items_per_second.and_then(ItemsPerSecond::new)
    }

    /// Returns the value of an item.
    ///
    /// # Errors
    /// The reason why the item cannot be read, or does not match its schema; it fails without a call.
    pub(crate) fn value<'a>(&self, item: &RawItem<'a>, cells: &'a mut CellReader) -> Result<ItemValue<'a>, Rejection> {
        let value = ItemValue::read(item, cells)?;
        match &self.item_schema {
            Some(schema) => check(schema, &value).map(|()| value),
            None => Ok(value),
        }
    }

    /// Appends the outcome of an item. An output that does not match its schema fails its item. The job decides if
    /// outputs are kept: a retry can have replaced its registration by one without an output.
    pub(crate) fn append(&self, to: &mut Processed, number: u64, outcome: ItemOutcome, outputs: Outputs) {
        if outputs == Outputs::Dropped {
            return to.push_without_output(outcome);
        }
        let checked = outcome.and_then(|output| match (&self.output_schema, &output) {
            (Some(schema), Some(value)) => check(schema, value).map_err(bad_output).map(|()| output),
            _ => Ok(output),
        });
        to.push(ResultRow::Numbered, number, checked);
    }
}

fn check(schema: &JsonSchema, value: impl Serialize) -> Result<(), Rejection> {
    let value = serde_json::to_value(value)
        .map_err(|error| Rejection::new("malformed_json", None, format!("the JSON cannot be read: {error}")))?;
    schema.check(&value)
}

fn bad_output(rejection: Rejection) -> Rejection {
    let message = format!("the handler's output does not match its schema: {}", rejection.message);
    Rejection::new("invalid_output", rejection.field.as_deref(), message)
}

impl PreparedJob for RemoteJob {
    fn check_header(&self, _: &Header<'_>) -> Result<CheckedHeader, JobError> {
        Ok(CheckedHeader::default())
    }

    fn check_item(&self, item: &RawItem<'_>, cells: &mut CellReader) -> Result<(), Rejection> {
        self.value(item, cells).map(drop)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::default()
    }

    fn limits(&self) -> TypeLimits {
        limits(self.registration())
    }

    fn removed(&self) -> Outcome {
        Outcome::Skip { reason: "removed".into() }
    }

    fn unreadable(&self, rejection: Rejection) -> Outcome {
        Outcome::Reject(rejection)
    }

    fn result_columns(&self) -> Option<(ResultRow, Vec<String>)> {
        self.registration().has_output().then(|| (ResultRow::Numbered, Vec::new()))
    }

    fn remote(&self) -> Option<&RemoteJob> {
        Some(self)
    }

    /// Returns no outcome: the worker calls the handler itself.
    fn run<'a>(
        &'a self,
        _: &'a JobContext,
        _: &'a [RawItem<'a>],
        _: Outputs,
    ) -> Pin<Box<dyn Future<Output = Processed> + Send + 'a>> {
        Box::pin(async { Processed::default() })
    }
}
