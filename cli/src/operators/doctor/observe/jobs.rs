//! Open circuit breakers, unfinished jobs and pauses, read from the jobs table with the credentials of the shell. Rows,
//! options and results are not read.

use anyhow::Result;
use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use longshore::store::dynamo::DynamoStore;
use longshore_domain::job::Job;
use longshore_domain::pause::{Pause, pause_of};
use longshore_domain::ports::{ByAge, HandlerStates, JobPosition, JobStore, JobTypes, Pauses};
use longshore_domain::registration::{StoredRegistration, Target, TypeName};
use longshore_domain::timestamp::Timestamp;

use super::observer::Observer;
use crate::operators::doctor::facts::{OpenBreaker, UnfinishedJob, UnfinishedJobs};

/// Number of unfinished jobs, oldest first, after which no further page is read.
const JOBS: usize = 100;

/// Maximum number of pages of the index that are read for them. The index also has jobs that are being removed.
const PAGES: usize = 5;

/// Maximum number of job types on a page.
const TYPES: usize = 100;

/// The job type with a handler that is a function of the stack.
const IMAGE: &str = "image";

impl Observer<'_> {
    /// Reads which circuit breakers are open. `has_images` is true if the stack has the type `image`.
    pub(super) fn open_breakers(&mut self, has_images: bool) -> Vec<OpenBreaker> {
        let what = "the handlers of job types";
        let Some(table) = self.output("JobsTableName", what) else { return Vec::new() };
        let session = self.session;
        self.wait(what, open_breakers(store(session.config(), table), has_images)).unwrap_or_default()
    }

    /// Reads the oldest unfinished jobs.
    pub(super) fn jobs(&mut self) -> UnfinishedJobs {
        let what = "the unfinished jobs";
        let Some(table) = self.output("JobsTableName", what) else { return UnfinishedJobs::default() };
        let (session, now) = (self.session, self.now);
        let found = self.wait(what, unfinished(store(session.config(), table), now));
        if let Some(found) = &found
            && !found.are_all
        {
            self.skip("the newer unfinished jobs", format!("only the oldest {} were read", found.jobs.len()));
        }
        found.unwrap_or_default()
    }
}

pub(super) fn store(config: &SdkConfig, table: String) -> DynamoStore {
    DynamoStore::new(Client::new(config), table)
}

async fn open_breakers(store: DynamoStore, has_images: bool) -> Result<Vec<OpenBreaker>> {
    let mut types: Vec<(String, Option<String>)> = has_images.then(|| (IMAGE.to_owned(), None)).into_iter().collect();
    let mut after = None;
    loop {
        let page = store.job_types(after.as_ref(), TYPES).await?;
        types.extend(page.items.iter().filter_map(active));
        match page.next.as_deref().map(TypeName::parse) {
            Some(Ok(next)) => after = Some(next),
            _ => break,
        }
    }
    let mut breakers = Vec::new();
    for (job_type, target) in types {
        let state = store.handler_state(&job_type).await?.state;
        breakers.extend(state.breaker.open().map(|open| OpenBreaker {
            job_type,
            target,
            reason: open.reason,
            since: open.since,
            next_try: open.trial_at,
        }));
    }
    Ok(breakers)
}

/// Returns the name and the handler of a job type that jobs can use.
fn active(stored: &StoredRegistration) -> Option<(String, Option<String>)> {
    let registration = &stored.active.as_ref()?.registration;
    let target = match &registration.target {
        Target::Function(function) => function.to_string(),
        Target::Url(url) => url.clone(),
    };
    Some((registration.name.as_str().to_owned(), Some(target)))
}

async fn unfinished(store: DynamoStore, now: Timestamp) -> Result<UnfinishedJobs> {
    let pauses = store.pauses().await?;
    let (mut found, mut after) = (UnfinishedJobs::default(), None::<JobPosition>);
    for _ in 0..PAGES {
        let page = store.unfinished(after, ByAge::OldestFirst).await?;
        if page.is_empty() {
            found.are_all = true;
            break;
        }
        if found.jobs.len() >= JOBS {
            break;
        }
        after = page.last().copied();
        for position in page {
            let job = store.job(position.job_id).await?.filter(is_waited_for);
            found.jobs.extend(job.map(|job| read(job, &pauses, now)));
        }
    }
    Ok(found)
}

/// Returns true if somebody waits for the end of the job. One that has only events to move is no concern here.
fn is_waited_for(job: &Job) -> bool {
    !job.status.is_final() && !job.is_deleted() && !job.is_scheduled
}

fn read(job: Job, pauses: &[Pause], now: Timestamp) -> UnfinishedJob {
    UnfinishedJob {
        id: job.job_id.to_string(),
        is_preparing: job.is_preparing(),
        is_paused: pause_of(pauses, &job, now).is_some(),
        tenant: job.tenant,
        waits_since: job.times.waits_since(),
        deadline_at: job.times.deadline_at,
        job_type: job.job_type,
        status: job.status,
        stage: job.stage,
    }
}

#[cfg(test)]
mod tests {
    use longshore_domain::ids::{JobId, PauseId};
    use longshore_domain::pause::PauseScope;
    use longshore_domain::tenant::TenantId;

    use super::*;

    #[test]
    fn a_job_is_paused_while_its_type_or_its_tenant_is_paused() {
        let (now, acme) = (Timestamp(1_000_000), TenantId::from_static("acme"));
        let pause = |scope: PauseScope, until_s: i64| Pause {
            id: PauseId::generate(),
            scope,
            since: Timestamp(0),
            until: now.plus_seconds(until_s),
            by: "olga".to_owned(),
        };
        let of_type = |name: &str| PauseScope::JobType(name.to_owned());
        for (pauses, is_paused) in [
            (vec![], false),
            (vec![pause(of_type("export"), 60)], false),
            (vec![pause(of_type("import"), 0)], false),
            (vec![pause(of_type("import"), 60)], true),
            (vec![pause(PauseScope::Tenant(acme.clone()), 60)], true),
        ] {
            let job = Job::waiting(JobId::generate(), acme.clone(), "import", Timestamp(0));
            assert_eq!(read(job, &pauses, now).is_paused, is_paused, "{pauses:?}");
        }
    }
}
