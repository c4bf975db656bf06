//! The job types of a function.

use std::sync::Arc;

use super::any_job_type::AnyJobType;
use super::{AnyRecordReader, JobType};

/// The job types of a function.
#[derive(Default)]
pub struct Registry {
    types: Vec<Box<dyn AnyJobType>>,
    records: Option<Arc<dyn AnyRecordReader>>,
}

impl Registry {
    /// Adds a job type. Of two with the same name, the later one is used.
    #[must_use]
    pub fn with<T: JobType>(mut self, job_type: T) -> Self {
        self.types.insert(0, Box::new(Arc::new(job_type)));
        self
    }

    /// Sets the records that jobs over a dataset read.
    #[must_use]
    pub fn with_records(self, records: Arc<dyn AnyRecordReader>) -> Self {
        Self { records: Some(records), ..self }
    }

    /// Returns the records that jobs over a dataset read.
    pub fn records(&self) -> Option<&dyn AnyRecordReader> {
        self.records.as_deref()
    }

    /// Returns the job type with this name.
    pub fn find(&self, name: &str) -> Option<&dyn AnyJobType> {
        self.types.iter().find(|t| t.name() == name).map(AsRef::as_ref)
    }

    /// Returns the names of the job types that clients can create.
    pub fn names(&self) -> Vec<&'static str> {
        self.types.iter().filter(|t| !t.is_internal()).map(|t| t.name()).collect()
    }
}
