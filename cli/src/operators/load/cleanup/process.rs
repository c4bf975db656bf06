//! The messages to the process, one JSON document per line, and the run's end of the pipe.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::operators::cleanup_process::CleanupProcess;
use crate::operators::load::tenant::{Tenant, UserConnection};

/// Name of the hidden command.
const NAME: &str = "load-cleanup";

/// A message, sent as one line.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Message {
    /// A tenant. Their numbers begin with 0, in the order of these messages.
    Tenant {
        /// The deployment and the user.
        connection: UserConnection,
        /// Name of the run, by which its jobs are found.
        run: String,
        /// Dataset whose records are removed.
        dataset: Option<String>,
    },
    /// A job of a tenant was created.
    Created {
        /// Number of the tenant.
        tenant: usize,
        /// Id of the job.
        id: String,
    },
    /// A job of a tenant has ended.
    Ended {
        /// Number of the tenant.
        tenant: usize,
        /// Id of the job.
        id: String,
    },
}

/// The process that removes what the run has created.
pub(in crate::operators::load) struct Cleanup(CleanupProcess);

impl Cleanup {
    /// Starts the process. Must be called before the run creates anything.
    pub(in crate::operators::load) fn start(tenants: &[Tenant], run: &str, dataset: Option<&str>) -> Result<Self> {
        let mut cleanup = Self(CleanupProcess::start(NAME)?);
        for tenant in tenants {
            let (connection, dataset) = (tenant.connection.clone(), dataset.map(str::to_owned));
            cleanup.0.send(&Message::Tenant { connection, run: run.to_owned(), dataset })?;
        }
        Ok(cleanup)
    }

    /// Registers a job for its removal.
    pub(in crate::operators::load) fn created(&mut self, tenant: usize, id: &str) -> Result<()> {
        self.0.send(&Message::Created { tenant, id: id.to_owned() })
    }

    /// Notes that a job has ended, and need not be canceled.
    pub(in crate::operators::load) fn ended(&mut self, tenant: usize, id: &str) -> Result<()> {
        self.0.send(&Message::Ended { tenant, id: id.to_owned() })
    }

    /// Removes everything now. The process prints what it removes. Returns false if something is left.
    pub(in crate::operators::load) fn run(self) -> Result<bool> {
        self.0.run()
    }
}
