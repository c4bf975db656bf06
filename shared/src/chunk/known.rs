//! Definition of the last job that this process worked on. It never changes, so a warm worker reads it once.

use std::sync::{Arc, Mutex, PoisonError};

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, JobStore};

use super::delivery::{ChunkError, Mode};
use crate::handler::{PreparedJob, Registry, TypeLimits};
use crate::ports::Ports;

/// A job's definition with its parsed options.
pub struct KnownJob {
    id: JobId,
    /// The definition as stored.
    pub definition: Definition,
    /// The job type with its options; `None` if the process only gives up the job's chunks.
    pub prepared: Option<Box<dyn PreparedJob>>,
}

impl KnownJob {
    /// Returns the limits of the job type.
    pub fn limits(&self) -> TypeLimits {
        self.prepared.as_ref().map_or(TypeLimits::DEFAULT, |prepared| prepared.limits())
    }

    /// Names of the columns; empty unless the file is CSV.
    pub fn columns(&self) -> &[String] {
        self.definition.columns.as_deref().unwrap_or_default()
    }
}

/// Keeps one [`KnownJob`].
#[derive(Default)]
pub struct KnownJobs(Mutex<Option<Arc<KnownJob>>>);

impl KnownJobs {
    /// Returns the job's definition, reading it if it is not the one that is kept.
    pub(super) async fn get<S: JobStore, Q, F>(
        &self,
        ports: &Ports<S, Q, F>,
        registry: &Registry,
        job: &Job,
        mode: Mode,
    ) -> Result<Arc<KnownJob>, ChunkError> {
        // A definition kept while giving up a chunk has no handler, and would make this process give up all
        // others too.
        let serves = |known: &Arc<KnownJob>| mode == Mode::GiveUp || known.prepared.is_some();
        if let Some(known) = self.kept().filter(|known| known.id == job.job_id && serves(known)) {
            return Ok(known);
        }
        let unusable = |reason: String| ChunkError::Definition { job_type: job.job_type.clone(), reason };
        let definition = ports.store.definition(job.job_id).await?;
        let definition = definition.ok_or_else(|| unusable("its definition is missing".into()))?;
        let prepared = match mode {
            Mode::GiveUp => None,
            Mode::Work => {
                let job_type = registry.find(&job.job_type);
                let job_type = job_type.ok_or_else(|| unusable("this function does not know it".into()))?;
                Some(job_type.prepare(&definition.options).map_err(|errors| unusable(format!("{errors:?}")))?)
            }
        };
        let known = Arc::new(KnownJob { id: job.job_id, definition, prepared });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&known));
        Ok(known)
    }

    fn kept(&self) -> Option<Arc<KnownJob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::time_stamp::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::job_types::builtin;
    use longshore_domain::tenant::TenantId;
    use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};

    #[tokio::test]
    async fn a_job_of_which_a_chunk_was_given_up_is_worked_by_its_handler_all_the_same() {
        let (store, queues, files) = <(MemoryStore, MemoryQueues, MemoryFiles)>::default();
        let (ports, known) = (Ports { store, queues, files }, KnownJobs::default());
        let registry = builtin(MemoryRecords::default());
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        let definition = Definition { options: json!({"dataset": "d", "key": "id"}), columns: None };
        ports.store.create_job(&job, &definition, None).await.unwrap();
        for (mode, has_handler) in [(Mode::GiveUp, false), (Mode::Work, true), (Mode::GiveUp, true), (Mode::Work, true)]
        {
            let known = known.get(&ports, &registry, &job, mode).await.unwrap();
            assert_eq!(known.prepared.is_some(), has_handler);
        }
    }
}
