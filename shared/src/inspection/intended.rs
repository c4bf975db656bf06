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

impl CheckedJob {
    fn with_notice(mut self, preset: &Preset) -> Self {
        self.issues.insert(0, notice(preset));
        self
    }
}

impl Intended<'_> {
    /// Checks a header, and detects what the options leave open. Returns the preset that the file can use, and the job with
    /// its mapping, unless the header is accepted without it only.
    pub(super) fn check(mut self, header: &Header<'_>) -> (Option<Preset>, Result<CheckedJob, JobError>) {
        let presets = std::mem::take(&mut self.presets);
        let preset = Preset::for_columns(presets, header.columns, &known_properties(&self.options));
        let mapped = preset.as_ref().and_then(|preset| {
            let mapped = self.mapped_by(preset, header.columns)?;
            Some(mapped.checked(header).map(|checked| checked.with_notice(preset)))
        });
        let checked = match mapped {
            Some(Ok(checked)) => Ok(checked),
            Some(Err(error)) if QUESTIONS.contains(&error.code.as_str()) => Err(error),
            Some(Err(error)) => self.checked(header).map_err(|_| error),
            None => self.checked(header),
        };
        (preset, checked)
    }

    /// Maps the members of JSON Lines by the preset that they can use.
    pub(super) fn map_members(mut self, names: &[String]) -> (Option<Preset>, CheckedJob) {
        let presets = std::mem::take(&mut self.presets);
        let preset = Preset::for_columns(presets, names, &known_properties(&self.options));
        let mapped = preset.as_ref().and_then(|preset| {
            let mapped = self.mapped_by(preset, names)?;
            Some(mapped.unchecked().with_notice(preset))
        });
        (preset, mapped.unwrap_or_else(|| self.unchecked()))
    }

    /// Returns the job as it is.
    pub(super) fn unchecked(self) -> CheckedJob {
        CheckedJob { issues: Vec::new(), options: self.options, prepared: self.prepared }
    }

    /// Returns the job with the mapping of a preset. `None` if the options have a mapping, or if the key has no column.
    fn mapped_by(&self, preset: &Preset, columns: &[String]) -> Option<Intended<'_>> {
        let is_open = ["columns", "values"].iter().all(|member| self.options.get(member).is_none());
        let key = self.options.get("key").and_then(Value::as_str)?;
        if !is_open || preset.maps_nothing() || !preset.has_property(key, columns) {
            return None;
        }
        let mut options = self.options.clone();
        let members = options.as_object_mut()?;
        members.insert("columns".into(), json!(preset.columns));
        members.insert("values".into(), json!(preset.values));
        let prepared = self.job_type.prepare(&options).ok()?;
        Some(Intended { job_type: self.job_type, options, prepared, presets: Vec::new() })
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
