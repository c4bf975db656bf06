//! The limit of an answer's size, while it is read: the contract's, which is below Lambda's own of 6 MB.

use std::error::Error;

use aws_sdk_lambda::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_lambda::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_lambda::error::BoxError;
use aws_sdk_lambda::primitives::SdkBody;
use http_body_util::{LengthLimitError, Limited};
use longshore_domain::remote::limits::MAX_ANSWER_BYTES;

/// Cuts an answer off at [`MAX_ANSWER_BYTES`].
#[derive(Debug)]
pub(super) struct AnswerLimit;

impl Intercept for AnswerLimit {
    fn name(&self) -> &'static str {
        "AnswerLimit"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response_mut().body_mut();
        let read = std::mem::replace(body, SdkBody::taken());
        *body = SdkBody::from_body_1_x(Limited::new(read, MAX_ANSWER_BYTES));
        Ok(())
    }
}

/// Returns true if the answer was cut off.
pub(super) fn is_too_large(error: &(dyn Error + 'static)) -> bool {
    error.is::<LengthLimitError>() || error.source().is_some_and(is_too_large)
}
