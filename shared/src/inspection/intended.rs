//! The job that a file is inspected for, and the check of the header for it.

use std::collections::BTreeSet;

use longshore_domain::job::JobError;
use longshore_domain::ports::Definition;
use longshore_domain::preset::{LearntPreset, Preset};
use longshore_domain::text::listed;
use serde_json::{Value, json};

use crate::handler::{AnyJobType, Header, PreparedJob};

/// Errors that ask for the notation of a column. The mapping is not their reason.
const QUESTIONS: [&str; 4] = ["ambiguous_column", "conflicting_column", "pivot_year_missing", "time_zone_missing"];

/// The job that a file is inspected for.
pub struct Intended<'a> {
    /// Its type.
    pub job_type: &'a dyn AnyJobType,
    /// Its options.
    pub options: Value,
    /// The same options, compiled.
    pub prepared: Box<dyn PreparedJob>,
    /// The presets of the dataset.
    pub presets: Vec<LearntPreset>,
}

/// A job whose header has been checked.
pub(super) struct CheckedJob {
    pub(super) issues: Vec<JobError>,
    /// The options, with what was detected.
    pub(super) options: Value,
    /// The same options, compiled.
    pub(super) prepared: Box<dyn PreparedJob>,
}

impl Intended<'_> {
    /// Checks a header, if the file has one, and detects what the options leave open. Returns the preset that the file can
    /// use, and the job with its mapping, unless the header is accepted without it only.
    pub(super) fn check(mut self, header: Option<&Header<'_>>) -> (Option<Preset>, Result<CheckedJob, JobError>) {
        let Some(header) = header else {
            let Self { options, prepared, .. } = self;
            return (None, Ok(CheckedJob { issues: Vec::new(), options, prepared }));
        };
        let presets = std::mem::take(&mut self.presets);
        let preset = Preset::for_columns(presets, header.columns, &known_properties(&self.options));
        let mapped = preset.as_ref().and_then(|preset| self.mapped_by(preset, header));
        let checked = match mapped {
            Some(Ok(checked)) => Ok(checked),
            Some(Err(error)) if QUESTIONS.contains(&error.code.as_str()) => Err(error),
            Some(Err(error)) => self.checked(header).map_err(|_| error),
            None => self.checked(header),
        };
        (preset, checked)
    }

    /// Checks a header with the mapping of a preset. `None` if the options have a mapping, or if the key has no column.
    fn mapped_by(&self, preset: &Preset, header: &Header<'_>) -> Option<Result<CheckedJob, JobError>> {
        let is_open = ["columns", "values"].iter().all(|member| self.options.get(member).is_none());
        let key = self.options.get("key").and_then(Value::as_str)?;
        if !is_open || preset.maps_nothing() || !preset.has_property(key, header.columns) {
            return None;
        }
        let mut options = self.options.clone();
        let members = options.as_object_mut()?;
        members.insert("columns".into(), json!(preset.columns));
        members.insert("values".into(), json!(preset.values));
        let prepared = self.job_type.prepare(&options).ok()?;
        let mapped = Intended { job_type: self.job_type, options, prepared, presets: Vec::new() };
        let with_notice = |checked: CheckedJob| {
            let issues = [vec![notice(preset)], checked.issues].concat();
            CheckedJob { issues, ..checked }
        };
        Some(mapped.checked(header).map(with_notice))
    }

    fn checked(self, header: &Header<'_>) -> Result<CheckedJob, JobError> {
        let Self { job_type, options, prepared, .. } = self;
        let checked = prepared.check_header(header)?;
        let mut job = CheckedJob { issues: checked.issues, options, prepared };
        if let Some(detected) = checked.detected {
            job.options = detected.into_options(&Definition::new(job.options), header.columns)?.options;
            // What was detected is valid: the job itself reads it from its definition.
            if let Ok(prepared) = job_type.prepare(&job.options) {
                job.prepared = prepared;
            }
        }
        Ok(job)
    }
}

/// Returns the properties that the schema of the options names.
fn known_properties(options: &Value) -> BTreeSet<&str> {
    let properties = options.pointer("/schema/properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str)).collect()
}

fn notice(preset: &Preset) -> JobError {
    let columns = listed(preset.columns.keys().map(String::as_str));
    let values = listed(preset.values.keys().map(String::as_str));
    let parts = [("columns", columns), ("values", values)].into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts.map(|(option, names)| format!("{option} of {names}")).collect();
    let message = format!(
        "the mapping is that of the dataset's last import or export: {}; give the option columns to map in another way",
        parts.join(", ")
    );
    JobError::new("preset_used", message)
}
