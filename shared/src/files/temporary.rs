//! Errors of AWS calls after which the same call may succeed.

use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};

/// Codes of responses that are not errors of the server, and after which the same call may succeed
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>).
const TEMPORARY: [&str; 2] = ["RequestTimeout", "SlowDown"];

/// Returns true if there was no response, or the service could not process the call. The call may have had its effect.
pub(crate) fn is_temporary<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> bool {
    match error {
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => true,
        SdkError::ServiceError(error) => {
            error.raw().status().is_server_error() || error.err().code().is_some_and(|code| TEMPORARY.contains(&code))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_s3::error::ErrorMetadata;
    use aws_sdk_s3::operation::put_object::PutObjectError;
    use aws_sdk_s3::primitives::SdkBody;

    use super::*;

    #[test]
    fn calls_that_the_service_could_not_process_may_succeed_later() {
        let refused = |status: u16, code: &str| {
            let error = PutObjectError::generic(ErrorMetadata::builder().code(code).build());
            SdkError::service_error(error, HttpResponse::new(status.try_into().unwrap(), SdkBody::empty()))
        };
        let errors: [(SdkError<PutObjectError>, bool); 7] = [
            (SdkError::timeout_error("too slow"), true),
            (refused(503, "SlowDown"), true),
            (refused(500, "InternalError"), true),
            (refused(400, "RequestTimeout"), true),
            (refused(403, "AccessDenied"), false),
            (refused(404, "NoSuchBucket"), false),
            (SdkError::construction_failure("no key"), false),
        ];
        for (error, expected) in errors {
            assert_eq!(is_temporary(&error), expected, "{error:?}");
        }
    }
}
