//! Readers of single values in the body of a PUT.

use std::ops::RangeInclusive;

use longshore::field_error::FieldError;
use longshore::http::{Bad, Checked, Fields};
use longshore_domain::registration::content::{ITEMS_PER_SECOND, MAX_DESCRIPTION_CHARS};
use longshore_domain::registration::{RegisteredInput, TypeName};
use serde_json::Value;

/// Reads a whole number within a range.
pub(super) fn whole(value: &Value, range: RangeInclusive<u32>) -> Checked<u32> {
    let expected = || format!("the value must be a whole number from {} to {}", range.start(), range.end());
    if !value.is_number() {
        return Err(Bad::new("invalid_type", expected()));
    }
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.filter(|number| range.contains(number)).ok_or_else(|| Bad::new("out_of_range", expected()))
}

/// Reads a rate limit.
pub(super) fn rate(value: &Value) -> Checked<f64> {
    let range = ITEMS_PER_SECOND;
    let expected = || format!("the value must be a number from {} to {}", range.start(), range.end());
    let number = value.as_f64().ok_or_else(|| Bad::new("invalid_type", expected()))?;
    if range.contains(&number) { Ok(number) } else { Err(Bad::new("out_of_range", expected())) }
}

/// Reads a description: a text of several lines.
pub(super) fn description(value: &Value) -> Checked<String> {
    let is_control = |c: char| c.is_control() && c != '\n';
    let valid = |text: &&str| text.chars().count() <= MAX_DESCRIPTION_CHARS && !text.chars().any(is_control);
    let detail = || {
        format!(
            "the description must be a string of at most {MAX_DESCRIPTION_CHARS} characters, without control \
             characters except line feeds"
        )
    };
    let text = value.as_str().ok_or_else(|| Bad::new("invalid_type", detail()))?;
    Some(text).filter(valid).map(str::to_owned).ok_or_else(|| Bad::new("invalid_description", detail()))
}

/// Reads the source of the items.
pub(super) fn input(value: &Value) -> Checked<RegisteredInput> {
    match value.as_str() {
        Some("file") => Ok(RegisteredInput::File),
        Some("dataset") => Ok(RegisteredInput::Dataset),
        _ => Err(Bad::new("invalid_input", "the input must be file or dataset")),
    }
}

/// Reads the name of a path.
///
/// # Errors
/// `invalid_job_type_name`, or `reserved_job_type_name` for a job type of the deployment itself.
pub(super) fn name(text: &str, is_built_in: bool) -> Result<TypeName, FieldError> {
    if is_built_in {
        let detail = format!("{text} is a job type of the deployment itself; choose another name");
        return Err(FieldError::new("/name", "reserved_job_type_name", detail));
    }
    TypeName::parse(text).map_err(|bad| FieldError::new("/name", "invalid_job_type_name", bad.to_string()))
}

/// Reads an object within the body, and adds the name of its member to the pointers of its errors.
pub(super) fn object<T>(
    fields: &mut Fields,
    member: &'static str,
    value: &Value,
    read: impl FnOnce(&mut Fields) -> Option<T>,
) -> Option<T> {
    let Some(members) = value.as_object() else {
        fields.refuse(member, &Bad::new("invalid_type", format!("{member} must be an object")));
        return None;
    };
    let mut inner = Fields::new(members.clone());
    let read = read(&mut inner);
    if let Err(problem) = inner.finish() {
        let errors = problem.errors.into_iter();
        let at = |error: FieldError| FieldError { pointer: format!("/{member}{}", error.pointer), ..error };
        fields.refuse_all(errors.map(at).collect());
        return None;
    }
    read
}
