//! Counts every attempt of an AWS call, so that the last log line of an invocation shows its cost.
//!
//! Retries count: DynamoDB bills a refused conditional write, and a call whose response was lost is still a call.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::orchestrator::Metadata;

use crate::metering;

/// Attempts by service and operation, such as `DynamoDB.UpdateItem`.
pub type Calls = BTreeMap<String, u64>;

static CALLS: Mutex<Calls> = Mutex::new(Calls::new());

/// Returns the calls of this process since the last call of this function, and resets the count.
pub fn take_calls() -> Calls {
    std::mem::take(&mut *CALLS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The counting interceptor; every client has it.
#[derive(Copy, Clone, Debug)]
pub struct CountCalls;

impl Intercept for CountCalls {
    fn name(&self) -> &'static str {
        "CountCalls"
    }

    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(call) = config.load::<Metadata>() {
            let name = format!("{}.{}", call.service().replace(' ', ""), call.name());
            metering::add(metering::units_for_call(&name).unwrap_or_default());
            *CALLS.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
        }
        Ok(())
    }
}
