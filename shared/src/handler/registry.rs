//! The job types of a function.

use std::ops::Deref;
use std::sync::Arc;

use longshore_domain::ports::Definition;

use super::any_job_type::AnyJobType;
use super::{AnyRecordReader, JobType};
use crate::remote::{CallHandlers, RegisteredType};

/// The job types of a function.
#[derive(Default)]
pub struct Registry {
    types: Vec<Box<dyn AnyJobType>>,
    records: Option<Arc<dyn AnyRecordReader>>,
    handlers: Option<Arc<dyn CallHandlers>>,
}

/// The job type of a job.
pub enum FoundType<'a> {
    /// A type of this function's code.
    Own(&'a dyn AnyJobType),
    /// A registered type, as it was when the job was created.
    Registered(RegisteredType),
}

impl<'a> Deref for FoundType<'a> {
    type Target = dyn AnyJobType + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(job_type) => *job_type,
            Self::Registered(job_type) => job_type,
        }
    }
}

impl Registry {
    /// Adds a job type. Of two with the same name, the later one is used.
    #[must_use]
    pub fn with<T: JobType>(mut self, job_type: T) -> Self {
        self.types.insert(0, Box::new(Arc::new(job_type)));
        self
    }

    /// Adds a registered job type that belongs to the deployment itself.
    #[must_use]
    pub fn with_registered(mut self, job_type: RegisteredType) -> Self {
        self.types.insert(0, Box::new(job_type));
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

    /// Sets the calls of remote handlers.
    #[must_use]
    pub fn with_handlers(self, handlers: Arc<dyn CallHandlers>) -> Self {
        Self { handlers: Some(handlers), ..self }
    }

    /// Returns the calls of remote handlers; `None` in a function that makes none.
    pub fn handlers(&self) -> Option<&dyn CallHandlers> {
        self.handlers.as_deref()
    }

    /// Returns the job type of a job with this definition.
    pub fn find_for(&self, name: &str, definition: &Definition) -> Option<FoundType<'_>> {
        match &definition.registration {
            Some(registration) => Some(FoundType::Registered(RegisteredType::new(registration.clone()))),
            None => self.find(name).map(FoundType::Own),
        }
    }

    /// Returns the job type with this name.
    pub fn find(&self, name: &str) -> Option<&dyn AnyJobType> {
        self.types.iter().find(|t| t.name() == name).map(AsRef::as_ref)
    }

    /// Returns the names of the job types that clients can create.
    pub fn names(&self) -> Vec<&str> {
        self.types.iter().filter(|t| !t.is_internal()).map(|t| t.name()).collect()
    }
}
