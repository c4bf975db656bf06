//! Responses to statements, the action after each, and the write rate.

use aws_sdk_dynamodb::types::{AttributeValue, BatchStatementError, BatchStatementErrorCodeEnum as Code};
use longshore_domain::ids::JobId;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::Map;

use super::{Next, Pending, Step};
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::NewRecord;
use longshore_domain::writer::{Rule, Writer, Written};

fn pending(writer: Writer, step: Step) -> Pending {
    let into = Dataset { tenant: TenantId::from_static("default"), name: "d".into() };
    Pending::new(&into, 0, &NewRecord { key: "k".into(), data: Map::new(), writer }, step, Timestamp(1))
}

fn error(code: Code, holder: Option<&str>) -> BatchStatementError {
    let error = BatchStatementError::builder().code(code).message("said the table");
    let image = |holder: &str| [("writer".to_owned(), AttributeValue::S(holder.to_owned()))].into();
    error.set_item(holder.map(image)).build()
}

#[test]
fn each_response_has_its_next_action() {
    let job = JobId::generate();
    let [earlier, own, later] = [1, 2, 3].map(|row| Writer { job, row });
    let refused = |holder: Writer| error(Code::ConditionalCheckFailed, Some(&holder.to_string()));
    let wait = |code: &str| Next::Wait(format!("{code}: said the table"));
    let throttled = |code: &str| Next::Throttled(format!("{code}: said the table"));
    let taken = |holder| Next::Done(Written::Taken(holder));
    let rules: [(Rule, Step, BatchStatementError, Next); 21] = [
        (Rule::Insert, Step::Insert, error(Code::DuplicateItem, None), Next::Go(Step::Update)),
        (Rule::Upsert, Step::Insert, error(Code::DuplicateItem, None), Next::Go(Step::Update)),
        (Rule::Insert, Step::Update, refused(earlier), taken(Some(earlier))),
        (Rule::Insert, Step::Update, refused(later), taken(Some(later))),
        (Rule::Upsert, Step::Update, refused(later), Next::Done(Written::Superseded(later))),
        // The image is newer than the refusal: by now the rule would allow the write.
        (Rule::Insert, Step::Update, refused(own), Next::Go(Step::Update)),
        (Rule::Upsert, Step::Update, refused(earlier), Next::Go(Step::Update)),
        (Rule::Insert, Step::Update, error(Code::ConditionalCheckFailed, Some("else")), taken(None)),
        (Rule::Upsert, Step::Update, error(Code::ConditionalCheckFailed, None), Next::Go(Step::Insert)),
        (Rule::Update, Step::Update, refused(later), Next::Done(Written::Superseded(later))),
        (Rule::Update, Step::Update, refused(earlier), Next::Go(Step::Update)),
        (Rule::Update, Step::Update, error(Code::ConditionalCheckFailed, None), Next::Done(Written::Missing)),
        (Rule::Delete, Step::Delete, refused(later), Next::Done(Written::Superseded(later))),
        (Rule::Delete, Step::Delete, refused(earlier), Next::Go(Step::Delete)),
        (
            Rule::Delete,
            Step::Delete,
            error(Code::ConditionalCheckFailed, None),
            Next::Wait("the table does not show which writer has the key".into()),
        ),
        (
            Rule::Upsert,
            Step::Insert,
            error(Code::ValidationError, None),
            Next::Done(Written::Refused("said the table".into())),
        ),
        (Rule::Upsert, Step::Insert, error(Code::ThrottlingError, None), throttled("ThrottlingError")),
        (
            Rule::Upsert,
            Step::Update,
            error(Code::ProvisionedThroughputExceeded, None),
            throttled("ProvisionedThroughputExceeded"),
        ),
        (Rule::Upsert, Step::Insert, error(Code::RequestLimitExceeded, None), throttled("RequestLimitExceeded")),
        (Rule::Insert, Step::Insert, error(Code::TransactionConflict, None), wait("TransactionConflict")),
        (Rule::Insert, Step::Insert, error(Code::InternalServerError, None), wait("InternalServerError")),
    ];
    for (rule, step, answer, next) in rules {
        assert_eq!(pending(own, step).next(rule, Some(&answer)), next, "{rule:?} {step:?} {answer:?}");
    }
    assert_eq!(pending(own, Step::Insert).next(Rule::Insert, None), Next::Done(Written::Stored));
    assert_eq!(pending(own, Step::Delete).next(Rule::Delete, None), Next::Done(Written::Stored));
}

#[test]
fn a_refusal_without_the_stored_record_is_repeated_a_limited_number_of_times() {
    for rule in [Rule::Insert, Rule::Upsert] {
        let mut pending = pending(Writer { job: JobId::generate(), row: 1 }, Step::Insert);
        let answers = [Code::DuplicateItem, Code::ConditionalCheckFailed].map(|code| error(code, None));
        let mut observed: Vec<Next> = Vec::new();
        for answer in answers.iter().cycle().take(4) {
            let next = pending.next(rule, Some(answer));
            if let Next::Go(step) = next {
                pending.step = step;
            }
            observed.push(next);
        }
        let go = Next::Go;
        assert_eq!(observed[..3], [go(Step::Update), go(Step::Insert), go(Step::Update)]);
        assert!(matches!(observed[3], Next::Done(Written::Unknown(_))), "the row is offered again: {observed:?}");
    }
}

#[test]
fn a_statement_carries_its_condition() {
    let writer = Writer { job: JobId::generate(), row: 1 };
    let text = |step, rule| pending(writer, step).statement("t", rule).unwrap();
    let insert = text(Step::Insert, Rule::Upsert);
    assert_eq!(insert.parameters().last(), Some(&AttributeValue::S(writer.job.to_string())), "the creator");
    assert!(insert.statement().starts_with("INSERT INTO \"t\" VALUE {"));
    let delete = text(Step::Delete, Rule::Delete);
    assert!(delete.statement().starts_with("DELETE FROM \"t\"") && delete.statement().ends_with("\"writer\" <= ?"));
    assert_eq!(delete.parameters().last(), Some(&AttributeValue::S(writer.to_string())));
    assert!(delete.return_values_on_condition_check_failure().is_some());
    let conditions = [(Rule::Insert, "="), (Rule::Upsert, "<="), (Rule::Update, "<=")];
    for (rule, condition) in conditions.map(|(rule, holder)| (rule, format!("\"writer\" {holder} ?"))) {
        let update = text(Step::Update, rule);
        assert!(update.statement().ends_with(&condition), "{}", update.statement());
        assert_eq!(update.parameters().len(), 6);
        assert_eq!(update.parameters().last(), Some(&AttributeValue::S(writer.to_string())));
        assert!(update.return_values_on_condition_check_failure().is_some());
    }
}
