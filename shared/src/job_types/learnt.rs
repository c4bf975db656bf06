//! What a job teaches about the mapping of its dataset's files.

use longshore_domain::dataset::Dataset;
use longshore_domain::job::{Job, Source};
use longshore_domain::ports::Definition;
use longshore_domain::preset::{LearntFrom, LearntPreset, Preset};
use serde::Deserialize;

use super::import::{ImportOptions, Mode};
use super::{export, import};

/// Returns the preset that a job teaches, and its dataset. An import of CSV teaches what its client has said about the
/// mapping, even that there is none; an export teaches its headings. `None` if the job teaches nothing.
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
