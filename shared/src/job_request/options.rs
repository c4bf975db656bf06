//! The member `options` of a request.

use longshore_domain::ports::Definition;
use serde_json::Value;

use crate::field_error::FieldError;
use crate::handler::{AnyJobType, PreparedJob};
use crate::job_types::image;

/// Checks and compiles the options of a request. Compiling a schema may take a second of processor time.
///
/// # Errors
/// Every error in the options.
pub fn prepare_options(job_type: &dyn AnyJobType, options: &Value) -> Result<Box<dyn PreparedJob>, Vec<FieldError>> {
    if !options.is_object() {
        return Err(vec![FieldError::new("/options", "invalid_type", "options must be an object")]);
    }
    let bytes = options.to_string().len();
    if bytes > Definition::MAX_OPTIONS_BYTES {
        let detail = format!("the options have {bytes} bytes; the maximum is {}", Definition::MAX_OPTIONS_BYTES);
        return Err(vec![FieldError::new("/options", "options_too_large", detail)]);
    }
    let prepared = job_type.prepare(options)?;
    if job_type.registration().is_some_and(image::is_built_in) {
        image::check_size_names(options)?;
    }
    Ok(prepared)
}
