//! The costs of a tenant's month: the end of a run adds its cost once, however often it is called.

use longshore_domain::cost::{Charge, Cost, Month, MonthCost, NanoDollars};
use longshore_domain::job::{Finish, Job, Reopen, Selection, Status, Transition};
use longshore_domain::ports::{Created, Store, TenantCounts};
use longshore_domain::tenant::TenantId;

use crate::fixtures::{at, definition, finish, job_after, reopened_job, waiting_job};

on_both_stores! {
    the_end_of_a_run_is_charged_once,
    each_run_is_charged_in_the_month_and_for_the_type_of_its_job,
}

const COST: Cost = Cost {
    compute: NanoDollars(13),
    requests: NanoDollars(200),
    database: NanoDollars(1_250),
    storage: NanoDollars(5_000),
    queue: NanoDollars(500),
};

/// The end of a job with its charge.
fn charged(job: &Job, generation: u32, millis: i64) -> Finish {
    let charge = Charge { tenant: job.tenant.clone(), job_type: job.job_type.clone(), cost: COST };
    Finish { generation, charge: Some(charge), ..finish(Status::Failed, millis) }
}

async fn created(store: &impl Store, tenant: &TenantId, job_type: &str) -> Job {
    let job = Job { tenant: tenant.clone(), job_type: job_type.into(), ..waiting_job() };
    assert_eq!(store.create_job(&job, &definition(), None).await.unwrap(), Created::New);
    job
}

/// A tenant that no other test uses, and no earlier run of this one.
fn tenant() -> TenantId {
    TenantId::parse(&format!("costs-{}", longshore_domain::random::nonce())).unwrap()
}

async fn the_end_of_a_run_is_charged_once(store: impl Store + TenantCounts) {
    let (tenant, month) = (tenant(), Month::from_time(at(0)));
    let job = created(&store, &tenant, "import").await;
    assert!(store.month_costs(&month, Some(&tenant)).await.unwrap().is_empty());
    assert_eq!(store.finish(job.job_id, &charged(&job, 1, 7)).await.unwrap(), Transition::Refused);
    for _ in 0..2 {
        let ended = job_after(store.finish(job.job_id, &charged(&job, 0, 7)).await.unwrap());
        assert_eq!((ended.status, ended.completion.cost), (Status::Failed, Some(COST)));
    }
    assert_eq!(store.finish(job.job_id, &charged(&job, 0, 8)).await.unwrap(), Transition::Refused);
    let once = MonthCost { tenant: tenant.clone(), job_type: "import".into(), runs: 1, cost: COST };
    assert_eq!(store.month_costs(&month, Some(&tenant)).await.unwrap(), [once]);
}

async fn each_run_is_charged_in_the_month_and_for_the_type_of_its_job(store: impl Store + TenantCounts) {
    let (tenant, first) = (tenant(), Month::from_time(at(0)));
    let job = created(&store, &tenant, "import").await;
    let ended = job_after(store.finish(job.job_id, &charged(&job, 0, 7)).await.unwrap());
    let reopen =
        Reopen { generation: 0, at: at(8), deadline_at: at(99_000), selection: Selection::All, registration: None };
    let retried = reopened_job(store.reopen(&ended, &reopen).await.unwrap());
    assert_eq!((retried.completion.cost, retried.retry.carried_over.cost), (None, COST));
    let next_month = 40 * 86_400_000;
    job_after(store.finish(job.job_id, &charged(&job, 1, next_month)).await.unwrap());
    let export = created(&store, &tenant, "export").await;
    job_after(store.finish(export.job_id, &charged(&export, 0, 9)).await.unwrap());
    let of = |job_type: &str| MonthCost { tenant: tenant.clone(), job_type: job_type.into(), runs: 1, cost: COST };
    assert_eq!(store.month_costs(&first, Some(&tenant)).await.unwrap(), [of("export"), of("import")]);
    assert_eq!(store.month_costs(&Month::from_time(at(next_month)), Some(&tenant)).await.unwrap(), [of("import")]);
    let stranger = TenantId::parse(&format!("{tenant}-2")).unwrap();
    assert!(store.month_costs(&first, Some(&stranger)).await.unwrap().is_empty());
    // Other tests add costs of other tenants.
    let of_all = store.month_costs(&first, None).await.unwrap();
    let own: Vec<_> = of_all.into_iter().filter(|cost| cost.tenant == tenant).collect();
    assert_eq!(own, [of("export"), of("import")]);
}
