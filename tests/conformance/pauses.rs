//! Pauses: one of each scope, until it ends or is ended.

use std::time::Duration;

use longshore_domain::ids::PauseId;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{PauseOutcome, PauseRecords};
use longshore_domain::random::nonce;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::fixtures::at;

on_both_stores! {
    a_pause_is_stored_unless_one_of_its_scope_is_in_force,
    a_pause_is_ended_by_its_id,
    a_pause_is_soon_among_the_recent_ones,
}

fn pause(scope: &PauseScope, since: Timestamp, until: Timestamp) -> Pause {
    Pause { id: PauseId::generate(), scope: scope.clone(), since, until, by: "olga".to_owned() }
}

async fn stored(store: &impl PauseRecords, scope: &PauseScope) -> Option<Pause> {
    store.pauses().await.unwrap().into_iter().find(|pause| pause.scope == *scope)
}

async fn a_pause_is_stored_unless_one_of_its_scope_is_in_force(store: impl PauseRecords) {
    let of_tenant = TenantId::parse(&nonce()).unwrap();
    for scope in [PauseScope::JobType(nonce()), PauseScope::Tenant(of_tenant)] {
        let first = pause(&scope, at(100), at(200));
        assert_eq!(stored(&store, &scope).await, None);
        assert_eq!(store.put_pause(&first).await.unwrap(), PauseOutcome::Made);
        assert_eq!(store.put_pause(&first).await.unwrap(), PauseOutcome::Made, "a lost response");
        let second = pause(&scope, at(199), at(900));
        assert_eq!(store.put_pause(&second).await.unwrap(), PauseOutcome::InForce(first.clone()));
        assert_eq!(stored(&store, &scope).await, Some(first));
        let later = pause(&scope, at(200), at(300));
        assert_eq!(store.put_pause(&later).await.unwrap(), PauseOutcome::Made, "the first one has ended");
        assert_eq!(stored(&store, &scope).await, Some(later));
    }
}

async fn a_pause_is_ended_by_its_id(store: impl PauseRecords) {
    let scope = PauseScope::JobType(nonce());
    let (first, second) = (pause(&scope, at(100), at(200)), pause(&scope, at(200), at(300)));
    store.put_pause(&first).await.unwrap();
    store.put_pause(&second).await.unwrap();
    store.end_pause(&first).await.unwrap();
    assert_eq!(stored(&store, &scope).await, Some(second.clone()));
    for _ in 0..2 {
        store.end_pause(&second).await.unwrap();
        assert_eq!(stored(&store, &scope).await, None);
    }
}

/// The read for display may lag behind.
async fn a_pause_is_soon_among_the_recent_ones(store: impl PauseRecords) {
    let scope = PauseScope::JobType(nonce());
    let pause = pause(&scope, at(100), at(200));
    let is_read = async || store.recent_pauses().await.unwrap().contains(&pause);
    assert!(!is_read().await);
    store.put_pause(&pause).await.unwrap();
    for _ in 0..50 {
        if is_read().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the pause is not read within five seconds");
}
