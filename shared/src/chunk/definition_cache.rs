//! Cache of the definition of this process's last job. A definition changes only with the job's generation, so a warm
//! worker reads it once per generation. Beside it are the reads that a delivery of the job has left unrecorded.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, JobStore};

use super::delivery::{ChunkError, Mode};
use crate::handler::{PreparedJob, Registry, TypeLimits};
use crate::ports::Ports;
use crate::remote::RemoteJob;

/// A job's definition with its parsed options.
pub struct PreparedDefinition {
    job: (JobId, u32),
    /// The definition as stored.
    pub stored: Definition,
    /// The job type with its options; `None` if the definition was read to give up a chunk.
    pub prepared: Option<Box<dyn PreparedJob>>,
    /// Reads of deliveries of this process that no commit has recorded. The next delivery of the job records them.
    unrecorded_reads: AtomicU64,
}

impl PreparedDefinition {
    /// Returns the limits of the job type.
    pub fn limits(&self) -> TypeLimits {
        self.prepared.as_ref().map_or(TypeLimits::DEFAULT, |prepared| prepared.limits())
    }

    /// Returns the job if its handler is remote.
    pub(crate) fn remote(&self) -> Option<&RemoteJob> {
        self.prepared.as_ref()?.remote()
    }

    /// Returns the reads that no commit has recorded, once.
    pub(super) fn take_unrecorded_reads(&self) -> u64 {
        self.unrecorded_reads.swap(0, Ordering::Relaxed)
    }

    /// Keeps reads for the next delivery of the job.
    pub(super) fn keep_unrecorded_reads(&self, reads: u64) {
        self.unrecorded_reads.fetch_add(reads, Ordering::Relaxed);
    }

    /// Names of the columns; empty unless the file is CSV.
    pub fn columns(&self) -> &[String] {
        self.stored.columns.as_deref().unwrap_or_default()
    }
}

/// A cache of one [`PreparedDefinition`].
#[derive(Default)]
pub struct DefinitionCache(Mutex<Option<Arc<PreparedDefinition>>>);

impl DefinitionCache {
    /// Returns the job's definition, from the cache if possible; `None` if it does not exist. That of an ended job can
    /// have expired before the job.
    pub(super) async fn get<S: JobStore, Q, F>(
        &self,
        ports: &Ports<S, Q, F>,
        registry: &Registry,
        job: &Job,
        mode: Mode,
    ) -> Result<Option<Arc<PreparedDefinition>>, ChunkError> {
        // A definition that was cached to give up a chunk has no handler, and cannot be used to process another one.
        let is_usable = |cached: &Arc<PreparedDefinition>| mode == Mode::GiveUp || cached.prepared.is_some();
        if let Some(cached) =
            self.cached().filter(|cached| cached.job == (job.job_id, job.generation) && is_usable(cached))
        {
            return Ok(Some(cached));
        }
        let unusable = |reason: String| ChunkError::Definition { job_type: job.job_type.clone(), reason };
        let Some(stored) = ports.store.definition(job.job_id).await? else { return Ok(None) };
        let prepared = match mode {
            Mode::GiveUp => None,
            Mode::Work => {
                let job_type = registry.find_for(&job.job_type, &stored);
                let job_type = job_type.ok_or_else(|| unusable("unknown to this function".into()))?;
                Some(job_type.prepare(&stored.options).map_err(|errors| unusable(format!("{errors:?}")))?)
            }
        };
        let definition = Arc::new(PreparedDefinition {
            job: (job.job_id, job.generation),
            stored,
            prepared,
            unrecorded_reads: AtomicU64::default(),
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&definition));
        Ok(Some(definition))
    }

    fn cached(&self) -> Option<Arc<PreparedDefinition>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::timestamp::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::job_types::builtin;
    use longshore_domain::tenant::TenantId;
    use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};

    #[tokio::test]
    async fn a_job_with_a_given_up_chunk_is_processed_by_its_handler() {
        let (store, queues, files) = <(MemoryStore, MemoryQueues, MemoryFiles)>::default();
        let (ports, cache) = (Ports { store, queues, files }, DefinitionCache::default());
        let registry = builtin(MemoryRecords::default(), MemoryFiles::default());
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        let definition = Definition::new(json!({"dataset": "d", "key": "id"}));
        ports.store.create_job(&job, &definition, None).await.unwrap();
        for (mode, has_handler) in [(Mode::GiveUp, false), (Mode::Work, true), (Mode::GiveUp, true), (Mode::Work, true)]
        {
            let definition = cache.get(&ports, &registry, &job, mode).await.unwrap().unwrap();
            assert_eq!(definition.prepared.is_some(), has_handler);
        }
    }
}
