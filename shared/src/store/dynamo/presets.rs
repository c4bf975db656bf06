//! Presets of datasets: one item for each kind of job that they are learnt from.

use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{PortResult, Presets};
use longshore_domain::preset::{LearntFrom, LearntPreset, PRESET_DAYS};
use longshore_domain::timestamp::Timestamp;

use super::conditional::json;
use super::item::{Item, ItemError, number, read_number, read_text, time};
use super::keys::Key;
use super::update::Update;
use super::{DynamoStore, failed};

impl Presets for DynamoStore {
    /// UpdateItem of `PRESETS#tenant` / `kind#dataset`, if the item is absent, or its job was created earlier.
    async fn put_preset(&self, dataset: &Dataset, learnt: &LearntPreset) -> PortResult<()> {
        const PUT: &str = "put_preset";
        let update = Update {
            operation: PUT,
            key: Key::preset(dataset, learnt.from),
            update: "SET #preset = :preset, #learntAt = :at, #expiresAt = :expires".into(),
            condition: "attribute_not_exists(#PK) OR #learntAt < :at".into(),
            values: vec![
                (":preset", json(&learnt.preset).map_err(failed(PUT))?),
                (":at", time(learnt.at)),
                (":expires", number(learnt.at.plus_days(PRESET_DAYS).seconds())),
            ],
        };
        self.update(update).await?;
        Ok(())
    }

    /// Consistent GetItem of each kind.
    async fn presets(&self, dataset: &Dataset) -> PortResult<Vec<LearntPreset>> {
        const READ: &str = "presets";
        let mut presets = Vec::new();
        for from in LearntFrom::ALL {
            let item = self.get(READ, Key::preset(dataset, from)).await?;
            presets.extend(item.map(|item| parse(from, &item)).transpose().map_err(failed(READ))?);
        }
        Ok(presets)
    }
}

fn parse(from: LearntFrom, item: &Item) -> Result<LearntPreset, ItemError> {
    let at = Timestamp(read_number(item, "learntAt")?);
    Ok(LearntPreset { from, at, preset: serde_json::from_str(read_text(item, "preset")?)? })
}
