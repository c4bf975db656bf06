//! Acceptance of the jobs of a world, as by the API, and selection of the current job.

use std::collections::BTreeSet;

use longshore::ports::upload_key;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, JobTimes, SourceFile, Tolerance, deadline};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, Queues};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;

use super::customer::{Customer, Seen};
use super::{World, now};
use crate::clock::clock;
use crate::plan::JobPlan;
use crate::rows::{file_of, only};

impl World {
    pub(super) fn customer(&self) -> &Customer {
        &self.customers[self.at]
    }

    pub(super) fn customer_mut(&mut self) -> &mut Customer {
        &mut self.customers[self.at]
    }

    /// Makes each job the current one in turn.
    pub(crate) fn each(&mut self, mut action: impl FnMut(&mut Self)) {
        let current = self.at;
        for at in 0..self.customers.len() {
            self.at = at;
            action(self);
        }
        self.at = current;
    }

    /// Returns true if a condition holds for each job.
    pub(crate) fn all(&mut self, mut condition: impl FnMut(&mut Self) -> bool) -> bool {
        let mut holds = true;
        self.each(|world| holds &= condition(world));
        holds
    }

    /// The name of each job's end. A removed job is `None`.
    pub(crate) fn ends_of_jobs(&mut self, name: impl Fn(Option<Job>) -> &'static str) -> Vec<&'static str> {
        let mut ends = Vec::new();
        self.each(|world| ends.push(name(world.stored())));
        ends
    }

    /// Stores a job and its uploaded file as the API does.
    pub(super) fn accept(&mut self, plan: &JobPlan) {
        let id = format!("0b3d3f5e-7d0c-4e34-9c6c-{:012}", plan.upload);
        let key = upload_key(&TenantId::from_static(plan.tenant), FileGuid::parse(&id).expect("a UUID"));
        self.files.put(&key, file_of(&plan.rows, plan.dialect));
        let job = self.new_job(plan, key);
        let definition = Definition { options: plan.kind.options(plan.tolerated), columns: None };
        now(self.store.create_job(&job, &definition, None)).unwrap();
        let create = CreateMessage::new(&job);
        now(self.queues.send_create(&create)).unwrap();
        self.customers.push(Customer {
            id: job.job_id,
            tenant: plan.tenant,
            kind: plan.kind,
            dialect: plan.dialect,
            action_rates: plan.action_rates,
            seen: Seen::default(),
            expired: None,
            expires: plan.kept_s.is_some(),
            possible: only(&plan.rows),
            corrected: BTreeSet::new(),
        });
    }

    fn new_job(&mut self, plan: &JobPlan, key: String) -> Job {
        let info = now(self.files.info(&key)).unwrap().unwrap();
        let (format, name) = match plan.dialect.json_lines {
            true => (Format::JsonLines, "file.jsonl"),
            false => (Format::Csv, "file.csv"),
        };
        let source = SourceFile { key, size_bytes: info.size_bytes, etag: info.etag, format, name: name.into() };
        let id = format!("{:032x}", (u128::from(self.rng.number()) << 64) | u128::from(self.rng.number()));
        let at = clock();
        let job = Job::waiting(
            JobId::parse(&id).expect("a valid id"),
            TenantId::from_static(plan.tenant),
            plan.kind.name(),
            at,
        );
        let expires_at = plan.kept_s.map_or(job.times.expires_at, |kept_s| at.plus_seconds(kept_s).seconds());
        Job {
            source: Some(source),
            tolerance: Tolerance { max_failed: plan.tolerated, max_failed_percent: None },
            priority: plan.priority,
            times: JobTimes {
                expires_at,
                timeout_s: plan.time_limit_s,
                deadline_at: deadline(at, plan.time_limit_s, expires_at),
                ..job.times.clone()
            },
            ..job
        }
    }
}
