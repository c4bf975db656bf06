//! Pauses: an operator stops the work of a job type or of a tenant, without losing or failing an item. A pause ends by
//! itself, so that one that everybody has forgotten does not stop jobs until they expire.

use crate::ids::PauseId;
use crate::job::Job;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Hours of a pause that names no end.
pub const DEFAULT_HOURS: i64 = 24;

/// Maximum number of days of a pause.
pub const MAX_DAYS: i64 = 7;

/// Maximum number of pauses that are in force: every worker reads all of them, in one query.
pub const MAX_PAUSES: usize = 100;

/// The jobs that a pause affects.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum PauseScope {
    /// All jobs of a type.
    JobType(String),
    /// All jobs of a tenant.
    Tenant(TenantId),
}

impl PauseScope {
    /// Returns true if the scope includes the job.
    pub fn includes(&self, job: &Job) -> bool {
        match self {
            Self::JobType(job_type) => job.job_type == *job_type,
            Self::Tenant(tenant) => job.tenant == *tenant,
        }
    }
}

/// A pause. There is at most one of each scope.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Pause {
    /// Unique id.
    pub id: PauseId,
    /// The jobs that it affects.
    pub scope: PauseScope,
    /// Start.
    pub since: Timestamp,
    /// End, unless an operator ends it before.
    pub until: Timestamp,
    /// The operator: the token's claim `sub`.
    pub by: String,
}

impl Pause {
    /// Returns true while the pause is in force, by the clock of whoever reads it: its end needs no write.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        now < self.until
    }
}

/// Returns the pause of a job; of several, the one that ends last.
pub fn pause_of<'a>(pauses: &'a [Pause], job: &Job, now: Timestamp) -> Option<&'a Pause> {
    let in_force = pauses.iter().filter(|pause| pause.is_in_force(now) && pause.scope.includes(job));
    in_force.max_by_key(|pause| pause.until)
}

/// Returns true if one more pause is permitted: fewer than [`MAX_PAUSES`] are in force, or one of the scope is, which
/// stays as it is.
///
/// Concurrent calls can each read the pauses before any of them stores its own. The limit is then exceeded by at most
/// the number of these calls, which is harmless: it bounds the size of a query, and nothing relies on the exact number.
pub fn has_room(pauses: &[Pause], scope: &PauseScope, now: Timestamp) -> bool {
    let in_force: Vec<_> = pauses.iter().filter(|pause| pause.is_in_force(now)).collect();
    in_force.len() < MAX_PAUSES || in_force.iter().any(|pause| pause.scope == *scope)
}

/// Returns true if a job type is paused.
pub fn is_type_paused(pauses: &[Pause], job_type: &str, now: Timestamp) -> bool {
    let is_of_type = |scope: &PauseScope| matches!(scope, PauseScope::JobType(paused) if paused == job_type);
    pauses.iter().any(|pause| pause.is_in_force(now) && is_of_type(&pause.scope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::JobId;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn pause(scope: PauseScope, until_s: i64) -> Pause {
        let until = NOW.plus_seconds(until_s);
        Pause { id: PauseId::generate(), scope, since: NOW, until, by: "olga".to_owned() }
    }

    fn of_type(name: &str, until_s: i64) -> Pause {
        pause(PauseScope::JobType(name.to_owned()), until_s)
    }

    fn of_tenant(name: &'static str, until_s: i64) -> Pause {
        pause(PauseScope::Tenant(TenantId::from_static(name)), until_s)
    }

    #[test]
    fn a_job_is_paused_by_a_pause_of_its_type_or_its_tenant_until_the_last_one_ends() {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("acme"), "invite", NOW);
        for (pauses, until_s) in [
            (vec![], None),
            (vec![of_type("enrich", 60), of_tenant("other", 60)], None),
            (vec![of_type("invite", 60)], Some(60)),
            (vec![of_type("invite", 60), of_tenant("acme", 90)], Some(90)),
            (vec![of_type("invite", 60), of_tenant("acme", 30)], Some(60)),
            (vec![of_type("invite", 0)], None),
        ] {
            let paused = pause_of(&pauses, &job, NOW).map(|pause| pause.until);
            assert_eq!(paused, until_s.map(|seconds| NOW.plus_seconds(seconds)), "{pauses:?}");
        }
    }

    #[test]
    fn there_is_room_for_a_hundred_pauses_in_force_and_for_a_scope_that_is_paused() {
        let scope = |number: usize| PauseScope::JobType(format!("type-{number}"));
        let paused = |number, until_s| (0..number).map(|number| pause(scope(number), until_s)).collect::<Vec<_>>();
        for (pauses, new, expected) in [
            (paused(0, 60), 200, true),
            (paused(MAX_PAUSES - 1, 60), 200, true),
            (paused(MAX_PAUSES, 60), 200, false),
            (paused(MAX_PAUSES, 60), 0, true),
            (paused(MAX_PAUSES, 0), 200, true),
            (paused(MAX_PAUSES + 3, 60), 200, false),
        ] {
            assert_eq!(has_room(&pauses, &scope(new), NOW), expected, "{} pauses, {new}", pauses.len());
        }
    }

    #[test]
    fn a_type_is_paused_by_its_own_pause_only() {
        for (pauses, is_paused) in [
            (vec![], false),
            (vec![of_tenant("invite", 60), of_type("enrich", 60)], false),
            (vec![of_type("invite", 0)], false),
            (vec![of_tenant("acme", 60), of_type("invite", 60)], true),
        ] {
            assert_eq!(is_type_paused(&pauses, "invite", NOW), is_paused, "{pauses:?}");
        }
    }
}
