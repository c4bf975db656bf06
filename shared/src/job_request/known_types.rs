//! The job types that a request can name: those of the deployment's code, and the registered one that it names.

use longshore_domain::ports::{JobTypes, PortResult};
use longshore_domain::registration::{RegistrationStatus, StoredRegistration, TypeName, VersionedRegistration};
use serde_json::Value;

use crate::handler::{AnyJobType, Registry};
use crate::http::{Bad, Checked, Fields};
use crate::job_types::image;
use crate::remote::RegisteredType;

/// The job types that a request can name.
pub struct KnownTypes<'a> {
    registry: &'a Registry,
    /// The registered type that the request names.
    registered: Registered,
}

/// The registered job type of a name.
enum Registered {
    /// Its handler has answered a ping.
    Active(RegisteredType),
    /// Its handler has not answered a ping yet.
    Pending,
    /// Its handler's answer to the ping was not good.
    Refused,
    /// There is none.
    Unknown,
}

impl<'a> KnownTypes<'a> {
    /// Reads the registered type that the member `jobType` of a request names, unless the deployment's code has a type
    /// of this name.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn of(fields: &Fields, registry: &'a Registry, store: &impl JobTypes) -> PortResult<Self> {
        let name = fields.get("jobType").and_then(Value::as_str);
        let name = name.filter(|name| registry.find(name).is_none()).and_then(|name| TypeName::parse(name).ok());
        let stored = match name {
            Some(name) => store.job_type(&name).await?,
            None => None,
        };
        let registered = match stored {
            Some(StoredRegistration { active: Some(active), .. }) => Registered::Active(RegisteredType::new(active)),
            Some(stored) if stored.status() == RegistrationStatus::Refused => Registered::Refused,
            Some(_) => Registered::Pending,
            None => Registered::Unknown,
        };
        Ok(Self { registry, registered })
    }

    /// Returns the job type that a value names.
    ///
    /// # Errors
    /// `unknown_job_type`.
    pub fn find(&self, value: &Value) -> Checked<&dyn AnyJobType> {
        let own = value.as_str().and_then(|name| self.registry.find(name)).filter(|job_type| !job_type.is_internal());
        let detail = match (own, &self.registered) {
            (Some(own), _) => return Ok(own),
            (None, Registered::Active(registered)) => return Ok(registered),
            (None, Registered::Pending) => {
                format!(
                    "the job type {value} is not active yet: its handler has not answered the ping; try again later"
                )
            }
            (None, Registered::Refused) => {
                format!("the job type {value} is not active: its registration was refused; ask an operator")
            }
            (None, Registered::Unknown) if value == image::NAME => {
                "this deployment does not offer image jobs; its owner can set the parameter ImageJobs to true"
                    .to_owned()
            }
            (None, Registered::Unknown) => {
                let names = self.registry.names().join(", ");
                format!("unknown job type {value}; the job types are: {names}, and those of GET /api/job-types")
            }
        };
        Err(Bad::new("unknown_job_type", detail))
    }
}

/// Returns the registration that a job of a registered type uses from now on; `None` if the type was deleted.
///
/// # Errors
/// If the store fails.
pub async fn newest(
    name: &str,
    registry: &Registry,
    store: &impl JobTypes,
) -> PortResult<Option<VersionedRegistration>> {
    if let Some(own) = registry.find(name) {
        return Ok(own.registration().cloned());
    }
    match TypeName::parse(name) {
        Ok(name) => Ok(store.job_type(&name).await?.and_then(|stored| stored.active)),
        Err(_) => Ok(None),
    }
}
