//! Up to 25 statements in one call, and again for those that are not settled, until all are or patience ends.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::BatchStatementResponse;
use longshore_domain::time_stamp::Timestamp;
use uuid::Uuid;

use super::DynamoRecords;
use super::statement::{Next, Pending, Step};
use crate::aws_limits::dynamodb::BATCH_STATEMENTS as STATEMENTS;
use crate::store::records::{Dataset, NewRecord, Rule, Written, size};
use crate::telemetry;

/// Bytes of records in one call, roughly: keeps a call's time even where records are large.
const BYTES: usize = 1 << 20;
/// Rounds of one batch: INSERT, UPDATE, and some for throttling and for keys that come and go meanwhile.
const ROUNDS: u32 = 8;
/// No third round is begun when the write as a whole has taken this long. The second is: it is the other half of the
/// first, and without it nobody knows whose the keys are that were found taken.
const PATIENCE: Duration = Duration::from_secs(3);
/// Waits between rounds double from this on.
const FIRST_WAIT_MS: u64 = 50;
/// The longest of them.
const LONGEST_WAIT_MS: u64 = 800;

/// Records that travel together.
#[derive(Debug)]
pub(super) struct Batch {
    rule: Rule,
    open: Vec<Pending>,
}

/// What became of one record.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) index: usize,
    pub(super) was_present: bool,
    pub(super) written: Written,
}

impl Batch {
    /// Cuts records into batches.
    pub(super) fn split(into: &Dataset, rule: Rule, records: Vec<NewRecord>, step: Step, now: Timestamp) -> Vec<Self> {
        let mut batches: Vec<Self> = Vec::with_capacity(records.len() / STATEMENTS + 1);
        let mut bytes = BYTES;
        for (index, record) in records.into_iter().enumerate() {
            let size = size::bytes(&record.key, &record.data);
            if bytes + size > BYTES || batches.last().is_none_or(|b| b.open.len() == STATEMENTS) {
                batches.push(Self { rule, open: Vec::with_capacity(STATEMENTS) });
                bytes = 0;
            }
            bytes += size;
            if let Some(batch) = batches.last_mut() {
                batch.open.push(Pending::new(into, index, record, step, now));
            }
        }
        batches
    }

    /// Sends statements until every record's fate is known; where it is not in the end, says so. `began` is when the
    /// whole write began.
    pub(super) async fn run(mut self, records: &DynamoRecords, began: Instant) -> Vec<Done> {
        let mut done = Vec::with_capacity(self.open.len());
        let mut reason = String::from("there was no time left to write it");
        let mut waits = 0;
        for round in 0..ROUNDS {
            if self.open.is_empty() || (round > 1 && began.elapsed() > PATIENCE) {
                break;
            }
            match execute(records, &self.open, self.rule).await {
                Ok(responses) => {
                    if let Some(wait) = self.settle(&responses, &mut done) {
                        reason = wait;
                        tokio::time::sleep(back_off(waits)).await;
                        waits += 1;
                    }
                }
                Err(error) => {
                    reason = error;
                    break;
                }
            }
        }
        done.extend(self.open.drain(..).map(|p| Done::new(&p, Written::Unknown(reason.clone()))));
        done
    }

    /// Takes out the records that are settled; why to wait, if any of the others asks for it.
    fn settle(&mut self, responses: &[BatchStatementResponse], done: &mut Vec<Done>) -> Option<String> {
        let mut wait = None;
        for (position, mut pending) in std::mem::take(&mut self.open).into_iter().enumerate() {
            let next = match responses.get(position) {
                Some(response) => pending.next(self.rule, response.error()),
                None => Next::Wait(String::from("the table left a statement unanswered")),
            };
            match next {
                Next::Done(written) => done.push(Done::new(&pending, written)),
                Next::Go(step) => {
                    pending.step = step;
                    self.open.push(pending);
                }
                Next::Wait(reason) => {
                    wait = Some(reason);
                    self.open.push(pending);
                }
            }
        }
        wait
    }
}

impl Done {
    fn new(pending: &Pending, written: Written) -> Self {
        Self { index: pending.index, was_present: pending.was_present, written }
    }
}

/// `BatchExecuteStatement`: the open records' statements, each with a condition of its own and an answer of its own.
/// The SDK has tried a few times before this fails; what went into the table is not known then.
async fn execute(records: &DynamoRecords, open: &[Pending], rule: Rule) -> Result<Vec<BatchStatementResponse>, String> {
    let statements: Result<Vec<_>, _> = open.iter().map(|p| p.statement(&records.table, rule)).collect();
    let call = records.client.batch_execute_statement().set_statements(Some(statements.map_err(|e| e.to_string())?));
    match call.send().await {
        Ok(output) => Ok(output.responses.unwrap_or_default()),
        Err(error) => {
            tracing::warn!(error = telemetry::chain(&error), records = open.len(), "writing records failed");
            let code = error.code().unwrap_or("no answer").to_owned();
            Err(format!("the table could not be written: {code}"))
        }
    }
}

/// The time before the next round: half of it fixed, half by chance, so that callers who were throttled together
/// do not come back together.
fn back_off(waits: u32) -> Duration {
    let most = (FIRST_WAIT_MS << waits.min(8)).min(LONGEST_WAIT_MS);
    let chance = Uuid::new_v4().as_u64_pair().1 % (most / 2 + 1);
    Duration::from_millis(most / 2 + chance)
}
