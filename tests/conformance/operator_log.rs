//! The log of operators: entries and results are appended once, and listed newest first.

use longshore::store::dynamo::DynamoOperatorLog;
use longshore_domain::ids::JobId;
use longshore_domain::operator_log::{ActionResult, ActionScope, LogEntry, LoggedAction, MAX_JOBS, OperatorAction};
use longshore_domain::ports::OperatorLog;
use longshore_testing::MemoryOperatorLog;
use longshore_tests::harness::setup::create_jobs_table;

use crate::fixtures::at;
use crate::on_both::Local;

macro_rules! on_both_logs {
    ($($name:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name(super::MemoryOperatorLog::default()).await;
            })+
        }
        mod on_dynamodb {
            $(#[tokio::test]
            async fn $name() {
                let local = super::Local::start().await;
                // The jobs table has the same keys, and its indexes do no harm.
                super::create_jobs_table(&local.aws, &local.name).await.unwrap();
                super::$name(super::DynamoOperatorLog::new(local.aws.dynamodb(), local.name.clone())).await;
            })+
        }
    };
}

on_both_logs! {
    an_entry_and_its_result_are_appended_once,
    entries_are_listed_newest_first_page_by_page,
}

fn entry(second: i64) -> LogEntry {
    LogEntry {
        id: LogEntry::generate_id(at(second)),
        at: at(second),
        operator: "olga".into(),
        operator_name: Some("Olga".into()),
        action: OperatorAction::RetryFailures,
        scope: ActionScope {
            code: Some("late".into()),
            job_ids: vec![JobId::generate(); MAX_JOBS],
            ..ActionScope::default()
        },
        reason: Some("fixed".into()),
    }
}

fn result(status: u16) -> ActionResult {
    ActionResult::new(at(9), status, "1 of 1 jobs started", vec![JobId::generate()])
}

async fn an_entry_and_its_result_are_appended_once(log: impl OperatorLog) {
    let (first, done) = (entry(1), result(200));
    log.append(&first).await.unwrap();
    log.append(&LogEntry { reason: None, ..first.clone() }).await.unwrap();
    let listed = async || log.logged_actions(None, 5).await.unwrap().items;
    assert_eq!(listed().await, [LoggedAction { entry: first.clone(), result: None }]);
    log.append_result(&first, &done).await.unwrap();
    log.append_result(&first, &result(500)).await.unwrap();
    assert_eq!(listed().await, [LoggedAction { entry: first, result: Some(done) }]);
}

async fn entries_are_listed_newest_first_page_by_page(log: impl OperatorLog) {
    let mut expected = Vec::new();
    for second in 0..7 {
        let entry = entry(second);
        log.append(&entry).await.unwrap();
        // Every third action has no result.
        let result = (second % 3 != 0).then(|| result(202));
        if let Some(result) = &result {
            log.append_result(&entry, result).await.unwrap();
        }
        expected.insert(0, LoggedAction { entry, result });
    }
    for limit in [1, 2, 3, 7, 8] {
        let (mut found, mut after, mut pages) = (Vec::new(), None::<String>, 0);
        loop {
            let page = log.logged_actions(after.as_deref(), limit).await.unwrap();
            assert!(page.items.len() <= limit);
            found.extend(page.items);
            pages += 1;
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!((found, pages), (expected.clone(), 7_usize.div_ceil(limit)), "{limit}");
    }
}
