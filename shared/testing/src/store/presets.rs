//! Presets of datasets in memory.

use longshore_domain::dataset::Dataset;
use longshore_domain::ports::{PortResult, Presets};
use longshore_domain::preset::LearntPreset;

use super::MemoryStore;

impl Presets for MemoryStore {
    async fn put_preset(&self, dataset: &Dataset, learnt: &LearntPreset) -> PortResult<()> {
        let mut records = self.records();
        let stored = records.presets.entry((dataset.clone(), learnt.from)).or_insert_with(|| learnt.clone());
        if stored.at < learnt.at {
            *stored = learnt.clone();
        }
        Ok(())
    }

    async fn presets(&self, dataset: &Dataset) -> PortResult<Vec<LearntPreset>> {
        let records = self.records();
        let of_dataset = records.presets.iter().filter(|((of, _), _)| of == dataset);
        Ok(of_dataset.map(|(_, learnt)| learnt.clone()).collect())
    }
}
