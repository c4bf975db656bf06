//! Records in the table with concurrent writers, lost replies, or changes by others.

use longshore::store::records::DynamoRecords;
use longshore_domain::ids::JobId;
use longshore_domain::ports::RecordStore;
use longshore_domain::writer::{Rule, Written};
use longshore_tests::harness::faults::Faults;
use longshore_tests::harness::resources::aws;
use serde_json::json;

use crate::on_both::Local;
use crate::records::{dataset, put_all, put_one, record, table};

#[tokio::test]
async fn concurrent_writers_leave_one_insert_and_the_latest_upsert() {
    let local = Local::start().await;
    let records = table(&local).await;
    let jobs: Vec<JobId> = (0..4).map(|_| JobId::generate()).collect();
    for (rule, name) in [(Rule::Insert, "first"), (Rule::Upsert, "latest")] {
        let into = dataset(name);
        let file = |job: JobId| (1..=60).map(|row| record(job, row, &format!("k{row}"), json!({}))).collect::<Vec<_>>();
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| records.put(&into, rule, file(jobs[at])));
        let written: Vec<Written> = <[_; 4]>::from(tokio::join!(a, b, c, d)).concat();
        let stored = written.iter().filter(|w| **w == Written::Stored).count();
        assert!(
            written.iter().all(|w| !matches!(w, Written::Unknown(_) | Written::Refused(_) | Written::Untried)),
            "{written:?}"
        );
        let page = records.list(&into, 1_000, None).await.unwrap();
        assert_eq!(page.items.len(), 60);
        if rule == Rule::Insert {
            assert_eq!(stored, 60);
        } else {
            assert!(page.items.iter().all(|r| r.writer.unwrap().job == jobs[3]));
        }
    }
}

#[tokio::test]
async fn a_second_import_of_a_file_overwrites_its_records() {
    let local = Local::start().await;
    let records = table(&local).await;
    let into = dataset("d");
    // The second run finds most keys present, and the third begins with the other statement. All have the same
    // result.
    for _ in 0..3 {
        let job = JobId::generate();
        let file = (1..=120).map(|row| record(job, row, &format!("k{row}"), json!({ "row": row })));
        let new = record(job, 121, &format!("{job}"), json!({}));
        put_all(&records, &into, Rule::Upsert, file.chain([new]).collect()).await;
        let page = records.list(&into, 1_000, None).await.unwrap();
        assert_eq!(page.items.iter().filter(|r| r.writer.unwrap().job == job).count(), 121);
    }
}

#[tokio::test]
async fn writes_whose_replies_are_lost_happen_once_and_are_recognized() {
    let local = Local::start().await;
    table(&local).await;
    let faults = Faults::start(&local.endpoint).unwrap();
    let records = DynamoRecords::new(aws(&faults.endpoint).dynamodb(), &local.name);
    let job = JobId::generate();
    for rule in [Rule::Insert, Rule::Upsert] {
        faults.lose_replies("dynamodb", "BatchExecuteStatement", 2).unwrap();
        let mut open: Vec<_> = (1..=30).map(|row| record(job, row, &format!("k{row}"), json!({}))).collect();
        // If a worker stops retrying before it has a response, its next round finds its own write in this way.
        for _ in 0..3 {
            let written = records.put(&dataset("d"), rule, open.clone()).await;
            assert!(
                written.iter().all(|w| matches!(w, Written::Stored | Written::Unknown(_))),
                "{rule:?}: {written:?}"
            );
            let mut written = written.into_iter();
            open.retain(|_| written.next() != Some(Written::Stored));
        }
        assert_eq!(open, [], "{rule:?}");
    }
}

#[tokio::test]
async fn a_throttled_table_is_reported_and_a_failing_table_leaves_records_unknown() {
    let local = Local::start().await;
    table(&local).await;
    let faults = Faults::start(&local.endpoint).unwrap();
    let records = DynamoRecords::new(aws(&faults.endpoint).dynamodb(), &local.name);
    faults.refuse("dynamodb", "BatchExecuteStatement", 1_000, "ProvisionedThroughputExceededException").unwrap();
    let written = records.put(&dataset("d"), Rule::Insert, vec![record(JobId::generate(), 1, "k", json!({}))]).await;
    assert_eq!(written, [Written::Throttled("ProvisionedThroughputExceededException".into())]);
    faults.refuse("dynamodb", "BatchExecuteStatement", 1_000, "InternalServerError").unwrap();
    let written = records.put(&dataset("d"), Rule::Insert, vec![record(JobId::generate(), 2, "l", json!({}))]).await;
    let [Written::Unknown(reason)] = written.as_slice() else { panic!("{written:?}") };
    assert!(reason.starts_with("the table could not be written"), "{reason}");
}

#[tokio::test]
async fn a_record_without_an_import_stays_unchanged() {
    use aws_sdk_dynamodb::types::AttributeValue;
    let local = Local::start().await;
    let records = table(&local).await;
    let job = JobId::generate();
    put_one(&records, Rule::Insert, record(job, 1, "k", json!({}))).await;
    let items = local.aws.dynamodb().scan().table_name(&local.name).send().await.unwrap().items.unwrap();
    let mut item = items.into_iter().next().unwrap();
    item.remove("writer");
    item.insert("expiresAt".into(), AttributeValue::N("4102444800".into()));
    local.aws.dynamodb().put_item().table_name(&local.name).set_item(Some(item)).send().await.unwrap();
    assert_eq!(put_one(&records, Rule::Insert, record(job, 1, "k", json!({}))).await, Written::Taken(None));
    let upsert = put_one(&records, Rule::Upsert, record(job, 2, "k", json!({}))).await;
    assert!(matches!(&upsert, Written::Refused(why) if why.contains("no import wrote")), "{upsert:?}");
}
