//! The header of a file as its job type sees it, and the result of its check.

use longshore_domain::job::JobError;
use longshore_domain::ports::{Definition, Detected};
use serde_json::{Map, Value};

use super::FirstCell;
use crate::header::NAME_OVERHEAD;

/// The columns of a file, and its first rows.
#[derive(Copy, Clone, Debug)]
pub struct Header<'a> {
    /// Names of the columns, in order.
    pub columns: &'a [String],
    /// The first rows that have a cell for each column, of up to 64 KiB. Empty if the rows are those of another job.
    pub rows: &'a [Vec<FirstCell>],
    /// What an earlier check of this header has detected, `null` if nothing; it is not detected again. `None` for the
    /// first check.
    pub detected: Option<&'a Value>,
}

/// The result of the check of a header.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CheckedHeader {
    /// The job's `issues`.
    pub issues: Vec<JobError>,
    /// What the first check has detected in the first rows. It is stored with the job, so that all rows are read in the
    /// same way.
    pub detected: Option<DetectedMembers>,
}

/// Members of the options that were detected.
#[derive(Clone, PartialEq, Debug)]
pub struct DetectedMembers {
    /// What was detected, as a part of the options.
    pub found: Value,
    /// The members of the options that contain it. They replace those of the client.
    pub members: Map<String, Value>,
}

impl DetectedMembers {
    /// Returns the options of a job with those that were detected.
    ///
    /// # Errors
    /// `options_too_large`.
    pub fn into_options(self, definition: &Definition, columns: &[String]) -> Result<Detected, JobError> {
        let Self { found, members } = self;
        let mut options = definition.options.clone();
        if let Some(options) = options.as_object_mut() {
            options.extend(members);
        }
        let names: usize = columns.iter().map(|name| name.len() + NAME_OVERHEAD).sum();
        if names + options.to_string().len() + found.to_string().len() > Definition::MAX_BYTES {
            let message =
                "the notations of so many columns cannot be stored; give decimalSeparator and dateOrder for all";
            return Err(JobError::new("options_too_large", message));
        }
        Ok(Detected { found, options })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn detected_members_replace_those_of_the_options() {
        let definition = Definition::new(json!({ "a": 1, "b": { "x": 1 } }));
        let detected = |members: Value| DetectedMembers {
            found: json!({}),
            members: members.as_object().cloned().unwrap_or_default(),
        };
        let options = detected(json!({ "b": { "y": 2 } })).into_options(&definition, &[]).unwrap().options;
        assert_eq!(options, json!({ "a": 1, "b": { "y": 2 } }));
        let large = detected(json!({ "b": "x".repeat(Definition::MAX_BYTES) })).into_options(&definition, &[]);
        assert_eq!(large.unwrap_err().code, "options_too_large");
    }
}
