//! The check of the options of schedules whose job type was registered again.
//!
//! A schema is written by an operator, and compiling it can take a second of processor time, in which nothing else is
//! fired. So a sweep first fires the schedules that need no check, and then checks the others within a time of their
//! own. A check is stored with its schedule, so that it is made once for each version of a registration.

use std::sync::{Arc, Mutex, PoisonError};

use longshore::field_error::FieldError;
use longshore::remote::OptionsSchema;
use longshore_domain::registration::Registration;
use longshore_domain::schedule::JobTemplate;
use longshore_schedules::{CheckOptions, Checked};
use serde_json::Value;

use crate::overdue::TimeBudget;

/// A check that is left to a later part of the sweep.
pub(crate) struct LeftToLater;

impl CheckOptions for LeftToLater {
    fn check(&self, _: &Registration, _: &JobTemplate) -> Checked {
        Checked::Later
    }
}

/// Checks until a time. The schema that was compiled last is kept, for schedules of the same job type. No second one is
/// kept: a large one takes a tenth of a second of a processor and 20 MB, and the function has a seventh of one and
/// 256 MB.
pub(crate) struct ChecksInTime {
    budget: TimeBudget,
    last: Mutex<Option<Compiled>>,
}

/// A schema, and its compiled form or the reason why it has none.
type Compiled = (Option<Value>, Arc<Result<OptionsSchema, FieldError>>);

impl ChecksInTime {
    pub(crate) fn new(budget: TimeBudget) -> Self {
        Self { budget, last: Mutex::default() }
    }

    /// Returns the compiled schema of a registration.
    fn schema(&self, registration: &Registration) -> Arc<Result<OptionsSchema, FieldError>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, schema)) = last.as_ref().filter(|(known, _)| *known == registration.options_schema) {
            return Arc::clone(schema);
        }
        // Frees the memory of the former one first.
        *last = None;
        let schema = Arc::new(OptionsSchema::compile(registration));
        *last = Some((registration.options_schema.clone(), Arc::clone(&schema)));
        schema
    }
}

impl CheckOptions for ChecksInTime {
    fn check(&self, registration: &Registration, template: &JobTemplate) -> Checked {
        if self.budget.is_over() {
            return Checked::Later;
        }
        let schema = self.schema(registration);
        match schema.as_ref().as_ref().map_err(Clone::clone).and_then(|schema| schema.check(&template.options())) {
            Ok(()) => Checked::Accepted,
            Err(error) => Checked::Refused(error.text()),
        }
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
