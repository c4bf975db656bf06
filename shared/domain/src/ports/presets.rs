//! Port of the mappings that are learnt from jobs.

use std::future::Future;

use super::PortResult;
use crate::dataset::Dataset;
use crate::preset::LearntPreset;

/// The presets of datasets.
pub trait Presets: Send + Sync {
    /// Stores the preset of its kind, unless that of a job that was created later, or at the same time, is stored.
    /// Idempotent.
    fn put_preset(&self, dataset: &Dataset, learnt: &LearntPreset) -> impl Future<Output = PortResult<()>> + Send;

    /// Reads the presets of a dataset, consistently, in any order.
    fn presets(&self, dataset: &Dataset) -> impl Future<Output = PortResult<Vec<LearntPreset>>> + Send;
}
