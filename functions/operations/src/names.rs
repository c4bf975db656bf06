//! Names of job types and tenants in requests.
//!
//! A type is checked by its length only: jobs of a type that was deleted are listed, retried and paused, too.

use longshore::field_error::FieldError;
use longshore::http::{Bad, Checked};
use longshore_domain::tenant::TenantId;
use serde_json::Value;

/// Maximum number of characters of the name of a job type: more than any name has.
const TYPE_CHARS: usize = 100;

/// Reads the name of a job type.
///
/// # Errors
/// `unknown_job_type` if it is empty or too long.
pub(crate) fn job_type(name: &str) -> Checked<String> {
    let is_possible = (1..=TYPE_CHARS).contains(&name.chars().count());
    if is_possible { Ok(name.to_owned()) } else { Err(bad_job_type()) }
}

/// Reads the name of a job type in a body.
///
/// # Errors
/// `unknown_job_type` if it is no text, empty or too long.
pub(crate) fn job_type_in_body(value: &Value) -> Checked<String> {
    value.as_str().ok_or_else(bad_job_type).and_then(job_type)
}

/// Reads the name of a tenant.
///
/// # Errors
/// `invalid_tenant` if no tenant can have it.
pub(crate) fn tenant(name: &str) -> Checked<TenantId> {
    TenantId::parse(name).ok_or_else(bad_tenant)
}

/// Reads the name of a tenant in a body.
///
/// # Errors
/// `invalid_tenant` if it is no text, or no tenant can have it.
pub(crate) fn tenant_in_body(value: &Value) -> Checked<TenantId> {
    value.as_str().ok_or_else(bad_tenant).and_then(tenant)
}

/// Returns the value of a query parameter. Appends its error to `errors` if it is invalid.
pub(crate) fn parameter<T>(name: &str, checked: Checked<T>, errors: &mut Vec<FieldError>) -> Option<T> {
    checked.map_err(|bad| errors.push(FieldError::new(format!("/{name}"), bad.code, bad.detail))).ok()
}

fn bad_job_type() -> Bad {
    Bad::new("unknown_job_type", format!("type must be a string of 1 to {TYPE_CHARS} characters"))
}

fn bad_tenant() -> Bad {
    Bad::new("invalid_tenant", "tenant must be the name of a tenant, as in the lists of jobs")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_has_at_least_one_and_at_most_so_many_characters() {
        let longest = "\u{fc}".repeat(TYPE_CHARS);
        assert_eq!(job_type(&longest), Ok(longest.clone()));
        for bad in [json!(""), json!(longest + "x"), json!(1)] {
            assert_eq!(job_type_in_body(&bad), Err(bad_job_type()), "{bad}");
        }
    }

    #[test]
    fn the_error_of_a_parameter_names_it() {
        let mut errors = Vec::new();
        assert_eq!(parameter("tenant", tenant("/"), &mut errors), None);
        assert_eq!(parameter("tenant", tenant("acme"), &mut errors), TenantId::parse("acme"));
        let found: Vec<_> = errors.iter().map(|error| (&*error.pointer, &*error.code)).collect();
        assert_eq!(found, [("/tenant", "invalid_tenant")]);
        assert_eq!(tenant_in_body(&json!(null)), Err(bad_tenant()));
    }
}
