//! The schema of the options of a registered job type.

use longshore_domain::registration::Registration;
use serde_json::Value;

use crate::field_error::FieldError;
use crate::handler::Rejection;
use crate::json_schema::JsonSchema;

/// Pointer of the options in a request.
const OPTIONS: &str = "/options";

/// The compiled schema of the options of a registration. Compiling it can take a second of processor time.
#[derive(Debug)]
pub struct OptionsSchema(Option<JsonSchema>);

impl OptionsSchema {
    /// Compiles the schema. A registration without one accepts all options.
    ///
    /// # Errors
    /// As for [`JsonSchema::compile`].
    pub fn compile(registration: &Registration) -> Result<Self, FieldError> {
        let schema = registration.options_schema.as_ref();
        Ok(Self(schema.map(|schema| JsonSchema::compile("/optionsSchema", schema)).transpose()?))
    }

    /// Checks the options of a job.
    ///
    /// # Errors
    /// `invalid_option` with its position in the request.
    pub fn check(&self, options: &Value) -> Result<(), FieldError> {
        self.0.as_ref().map_or(Ok(()), |schema| schema.check(options)).map_err(|rejection| in_options(&rejection))
    }
}

/// Returns the error of options that do not match their schema.
fn in_options(rejection: &Rejection) -> FieldError {
    let path = rejection.field.as_ref().map(|field| format!("{OPTIONS}/{field}"));
    FieldError::new(path.unwrap_or_else(|| OPTIONS.into()), "invalid_option", rejection.message.clone())
}
