//! Lists of jobs, newest first: those of a tenant, and those of all tenants and one day.

use std::collections::BTreeMap;

use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, JobTimes, Status};
use longshore_domain::ports::{CreatedRange, JobPosition, JobsOf, JobsQuery, Store, Upload};
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};
use longshore_domain::timestamp::Timestamp;

use crate::fixtures::{accepted, at, definition, finish, job_after, waiting_job};

on_both_stores! {
    a_tenants_jobs_are_listed_newest_first,
    jobs_of_all_tenants_are_listed_by_day,
    a_list_has_the_jobs_of_its_range_of_times,
    pages_contain_each_job_once,
    filters_select_the_matching_jobs,
    a_list_by_metadata_has_the_jobs_with_all_pairs_once,
    a_page_ends_after_its_last_matching_job,
    a_listed_job_equals_the_stored_one,
    uploads_are_not_listed_as_jobs,
}

const ALL: JobsQuery<'static> = JobsQuery {
    of: JobsOf::Tenant(&DEFAULT_TENANT),
    created: CreatedRange::ALL,
    status: None,
    job_type: None,
    metadata: &BTreeMap::new(),
    limit: 100,
    after: None,
};

/// Stores this many jobs, a millisecond apart. Returns their ids, newest first.
async fn stored(store: &impl Store, count: i64, change: impl Fn(i64, &mut Job)) -> Vec<JobId> {
    let mut ids = Vec::new();
    for age in 0..count {
        let mut job = Job { times: JobTimes { created_at: at(age), ..waiting_job().times.clone() }, ..waiting_job() };
        change(age, &mut job);
        store.create_job(&job, &definition(), None).await.unwrap();
        ids.push(job.job_id);
    }
    ids.reverse();
    ids
}

/// Every page of a list.
async fn pages(store: &impl Store, query: JobsQuery<'_>) -> Vec<Vec<JobId>> {
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = store.jobs(&JobsQuery { after, ..query }).await.unwrap();
        pages.push(page.jobs.iter().map(|job| job.job_id).collect());
        after = page.next;
        if after.is_none() {
            return pages;
        }
    }
}

async fn a_tenants_jobs_are_listed_newest_first(store: impl Store) {
    assert_eq!(pages(&store, ALL).await, [[]]);
    let [second, third] = ["default2", "default3"].map(TenantId::from_static);
    let tenant = |age: i64, job: &mut Job| {
        if age % 2 == 1 {
            job.tenant = second.clone();
        }
    };
    let jobs = stored(&store, 7, tenant).await;
    let own: Vec<_> = jobs.iter().copied().step_by(2).collect();
    assert_eq!(pages(&store, ALL).await, [own]);
    let other: Vec<_> = jobs.iter().copied().skip(1).step_by(2).collect();
    assert_eq!(pages(&store, JobsQuery { of: JobsOf::Tenant(&second), ..ALL }).await, [other]);
    assert_eq!(pages(&store, JobsQuery { of: JobsOf::Tenant(&third), ..ALL }).await, [[]]);
}

async fn jobs_of_all_tenants_are_listed_by_day(store: impl Store) {
    let day = at(0).end_of_day();
    let other = TenantId::from_static("default2");
    // Two days of two tenants, by turns.
    let place = |age: i64, job: &mut Job| {
        job.times.created_at = Timestamp(day.0 + (age - 4) * 3_600_000);
        if age % 2 == 1 {
            job.tenant = other.clone();
        }
    };
    let jobs = stored(&store, 8, place).await;
    let of = |day| JobsQuery { of: JobsOf::Day(day), limit: 3, ..ALL };
    let [today, before] = [day, Timestamp(day.0 - 1)].map(|day| pages(&store, of(day)));
    assert_eq!((today.await.concat(), before.await.concat()), (jobs[..4].to_vec(), jobs[4..].to_vec()));
    assert_eq!(pages(&store, of(day.plus_days(1))).await, [[]]);
    job_after(store.begin(jobs[1], 0, day.plus_days(1)).await.unwrap());
    let running = JobsQuery { status: Some(Status::Running), ..of(day) };
    assert_eq!(pages(&store, running).await, [[jobs[1]]]);
}

async fn a_list_has_the_jobs_of_its_range_of_times(store: impl Store) {
    let jobs = stored(&store, 6, |_, _| {}).await;
    let created = CreatedRange { from: at(1), before: at(4) };
    for of in [ALL.of, JobsOf::Day(at(0))] {
        let query = JobsQuery { of, created, limit: 2, ..ALL };
        assert_eq!(pages(&store, query).await, [jobs[2..4].to_vec(), jobs[4..5].to_vec()]);
        for (outside, expected) in [(at(9), &jobs[2..4]), (at(0), &jobs[..0])] {
            let after = Some(JobPosition { created_at: outside, job_id: JobId::generate() });
            let page = store.jobs(&JobsQuery { after, ..query }).await.unwrap();
            assert_eq!(page.jobs.iter().map(|job| job.job_id).collect::<Vec<_>>(), expected);
        }
        let none = CreatedRange { from: at(4), before: at(4) };
        assert_eq!(pages(&store, JobsQuery { created: none, ..query }).await, [[]]);
    }
}

async fn pages_contain_each_job_once(store: impl Store) {
    // Three jobs of each millisecond: the store decides the order among them.
    let mut jobs = stored(&store, 9, |age, job| job.times.created_at = at(age / 3)).await;
    for limit in [1, 2, 4, 9, 10] {
        let pages = pages(&store, JobsQuery { limit, ..ALL }).await;
        assert_eq!(pages.len(), 9_usize.div_ceil(limit), "{limit}: no page is empty");
        assert!(pages.iter().all(|page| page.len() <= limit), "{limit}");
        let mut listed = pages.concat();
        listed.sort();
        jobs.sort();
        assert_eq!(listed, jobs, "{limit}");
    }
}

async fn filters_select_the_matching_jobs(store: impl Store) {
    let kind = |age: i64, job: &mut Job| job.job_type = if age < 4 { "import".into() } else { "invite".into() };
    let jobs = stored(&store, 6, kind).await;
    let [_, invited, imported, begun, ..] = jobs[..] else { panic!("six") };
    job_after(store.begin(begun, 0, at(10)).await.unwrap());
    for id in [invited, imported] {
        job_after(store.finish(id, &finish(Status::Canceled, 11)).await.unwrap());
    }
    for (status, job_type, expected) in [
        (Some(Status::Running), None, vec![begun]),
        (Some(Status::Canceled), None, vec![invited, imported]),
        (Some(Status::Canceled), Some("import"), vec![imported]),
        (Some(Status::Waiting), Some("invite"), vec![jobs[0]]),
        (Some(Status::Completed), None, vec![]),
        (None, Some("invite"), jobs[..2].to_vec()),
        (None, Some("invit"), vec![]),
    ] {
        let listed = pages(&store, JobsQuery { status, job_type, ..ALL }).await;
        assert_eq!(listed, std::slice::from_ref(&expected), "{status:?} {job_type:?}");
        let by_one = pages(&store, JobsQuery { status, job_type, limit: 1, ..ALL }).await;
        assert_eq!(by_one.concat(), expected, "{status:?} {job_type:?}");
    }
}

async fn a_list_by_metadata_has_the_jobs_with_all_pairs_once(store: impl Store) {
    let pairs = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    // More jobs than one query of the index reads; those of one team are far apart.
    let label = |age: i64, job: &mut Job| {
        let team = if age % 50 == 0 { "crm" } else { "erp" };
        job.metadata = pairs(&[("team", team), ("run", &(age % 100).to_string())]);
        job.job_type = if age < 10 { "invite".into() } else { "import".into() };
    };
    let jobs = stored(&store, 120, label).await;
    let at_age = |age: usize| jobs[119 - age];
    for (metadata, job_type, expected) in [
        (pairs(&[("team", "crm")]), None, vec![at_age(100), at_age(50), at_age(0)]),
        (pairs(&[("team", "crm")]), Some("import"), vec![at_age(100), at_age(50)]),
        (pairs(&[("team", "crm"), ("run", "0")]), None, vec![at_age(100), at_age(0)]),
        (pairs(&[("run", "7")]), None, vec![at_age(107), at_age(7)]),
        (pairs(&[("team", "crm"), ("run", "7")]), None, vec![]),
        (pairs(&[("team", "crm"), ("site", "")]), None, vec![]),
    ] {
        for limit in [1, 2, 3, 100] {
            let pages = pages(&store, JobsQuery { metadata: &metadata, job_type, limit, ..ALL }).await;
            assert!(pages.iter().all(|page| page.len() <= limit), "{limit}");
            assert_eq!(pages.concat(), expected, "{limit} {metadata:?}");
        }
    }
}

async fn a_page_ends_after_its_last_matching_job(store: impl Store) {
    let kind = |age: i64, job: &mut Job| job.job_type = if age % 3 == 0 { "import".into() } else { "invite".into() };
    let jobs = stored(&store, 9, kind).await;
    let query = JobsQuery { job_type: Some("invite"), limit: 3, ..ALL };
    let listed = pages(&store, query).await;
    let invites: Vec<_> = jobs.iter().enumerate().filter(|(n, _)| n % 3 != 2).map(|(_, id)| *id).collect();
    assert_eq!(listed, [invites[..3].to_vec(), invites[3..].to_vec()]);
    // A position is a time and an id, whether or not that job exists.
    let after = Some(JobPosition { created_at: at(4), job_id: JobId::generate() });
    let page = store.jobs(&JobsQuery { after, ..query }).await.unwrap();
    assert!(page.jobs.iter().all(|job| job.times.created_at <= at(4)), "{:?}", page.jobs);
}

async fn a_listed_job_equals_the_stored_one(store: impl Store) {
    let job = accepted(&store).await;
    job_after(store.begin(job.job_id, 0, at(1)).await.unwrap());
    let stored = store.job(job.job_id).await.unwrap().unwrap();
    assert_eq!(store.jobs(&ALL).await.unwrap().jobs, [stored]);
}

async fn uploads_are_not_listed_as_jobs(store: impl Store) {
    let upload = Upload {
        file_guid: FileGuid::generate(),
        tenant: TenantId::from_static("default"),
        key: "uploads/default/x".into(),
        file_name: "x".into(),
        content_type: "text/csv".into(),
        size_bytes: 1,
        sha256: None,
        multipart: None,
        promised_at: at(0),
        expires_at: 1_800_000_000,
    };
    store.create_upload(&upload, None).await.unwrap();
    assert_eq!(pages(&store, ALL).await, [[]]);
}
