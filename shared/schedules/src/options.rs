//! The check of the options of a registered job type, before a job of it is made.
//!
//! A schedule outlives the registration by which its job was validated. A later one can refuse the options: then the
//! occurrence has failed, and no job is made whose every item would fail. The check compiles a schema, which can take a
//! second of processor time. So its result is stored with the schedule, and holds for the version of the registration;
//! and the caller decides when it has the time.
//!
//! A job type of the deployment's code is not checked: the sweeper, which fires schedules, has no code of job types. A
//! deployment that changes the options of its own type must keep accepting what its schedules have stored.

use longshore_domain::registration::Registration;
use longshore_domain::schedule::JobTemplate;

/// The result of a check.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Checked {
    /// The registration accepts the options.
    Accepted,
    /// It refuses them, with this error.
    Refused(String),
    /// The caller has no time for the check now.
    Later,
}

/// The check of the options of a job.
pub trait CheckOptions: Sync {
    /// Checks the options of a template by the schema of a registration.
    fn check(&self, registration: &Registration, template: &JobTemplate) -> Checked;
}
