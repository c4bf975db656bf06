//! Presets learnt from jobs.

use longshore_domain::dataset::Dataset;
use longshore_domain::job::{Job, Source};
use longshore_domain::ports::Definition;
use longshore_domain::preset::{LearntFrom, LearntPreset, Preset};
use serde::Deserialize;

use super::import::{ImportOptions, Mode};
use super::{export, import};

/// Maximum size of a preset as JSON. DynamoDB takes one write unit for each KiB, and 1,000 per second in a partition.
const PRESET_BYTES: usize = 32 << 10;

/// Returns the preset to store for a job's dataset: the mapping that the client of an import of CSV has given, even an
/// empty one, or the headings of an export. `None` if there is none, or if it is too large.
pub fn learnt_preset(job: &Job, definition: &Definition) -> Option<(Dataset, LearntPreset)> {
    let (name, from, preset) = match job.job_type.as_str() {
        import::NAME => {
            let (name, preset) = of_import(definition)?;
            (name, LearntFrom::Import, preset)
        }
        export::NAME => {
            let Some(Source::Dataset(source)) = &job.source else { return None };
            (source.dataset.clone(), LearntFrom::Export, of_export(definition)?)
        }
        _ => return None,
    };
    if serde_json::to_string(&preset).map_or(usize::MAX, |json| json.len()) > PRESET_BYTES {
        return None;
    }
    Some((Dataset { tenant: job.tenant.clone(), name }, LearntPreset { from, at: job.times.created_at, preset }))
}

fn of_import(definition: &Definition) -> Option<(String, Preset)> {
    let is_mapped = ["columns", "values"].iter().any(|member| definition.options.get(member).is_some());
    if !is_mapped || definition.columns.is_none() {
        return None;
    }
    let options = ImportOptions::deserialize(&definition.options).ok()?;
    if matches!(options.mode, Mode::Validate | Mode::Delete) {
        return None;
    }
    Some((options.dataset, Preset { key: Some(options.key), columns: options.columns, values: options.values }))
}

fn of_export(definition: &Definition) -> Option<Preset> {
    let columns = definition.results.as_ref()?.columns.iter().filter(|column| column.heading != column.name);
    let columns = columns.map(|column| (column.heading.clone(), Some(column.name.clone())));
    let preset = Preset { columns: columns.collect(), ..Preset::default() };
    (!preset.columns.is_empty()).then_some(preset)
}
