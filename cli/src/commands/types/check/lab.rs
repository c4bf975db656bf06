//! What checks work with: the handler, the items, and what was learnt so far.

use std::collections::BTreeSet;
use std::time::Duration;

use longshore_domain::ids::JobId;
use longshore_domain::outcome::Outcome;
use longshore_domain::remote::{
    AnsweredItems, BadAnswerReason, CallOutcome, Fault, FaultCause, ItemOutcome, JsonError, Mode,
};
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use super::caller::{self, Caller, Heard, Message};
use super::exchange::{Exchange, Signature};
use super::messages::{Items, Job};
use super::order::{Check, Facts};
use super::problems::Problem;
use super::report::{Evidence, Report};
use super::samples::Samples;
use super::words;

/// The equipment of a run.
pub(super) struct Lab {
    pub(super) caller: Caller,
    pub(super) samples: Samples,
    /// Name of the stack in pings.
    pub(super) stack: String,
    /// True if the author has set the signing secret.
    pub(super) has_secret: bool,
    /// The mode that the author asked for.
    pub(super) mode: Option<Mode>,
    pub(super) job_id: JobId,
    pub(super) job_type: String,
    pub(super) options: Value,
}

/// What was learnt.
#[derive(Default)]
pub(super) struct Notebook {
    pub(super) facts: Facts,
    /// The exchange of the ping.
    pub(super) ping: Option<Exchange>,
    /// Why the handler cannot be reached.
    pub(super) unreachable: Option<String>,
    /// True if the endpoint refused requests without a valid signature.
    pub(super) refuses_bad_signatures: bool,
    /// Outcomes of the batch of 10.
    pub(super) batch: Vec<Option<ItemOutcome>>,
    /// Codes of rejections and skips.
    pub(super) codes: BTreeSet<String>,
    /// An answer that was refused because of a key.
    pub(super) wrong_keys: Option<Defect>,
    /// An answer that was refused because of a code.
    pub(super) bad_code: Option<Defect>,
    keys_are_reported: bool,
}

/// The reason why an answer was refused.
pub(super) struct Defect {
    pub(super) reason: String,
    pub(super) evidence: Evidence,
}

/// The change of a request before it is sent.
pub(super) type Change = fn(&[u8]) -> serde_json::Result<Vec<u8>>;

/// A batch to send.
pub(super) struct Batch {
    pub(super) items: Items,
    /// Time until the deadline.
    pub(super) deadline: Duration,
    pub(super) change: Option<Change>,
}

impl Lab {
    /// Returns a batch of samples with these item numbers.
    pub(super) fn batch(&self, name: &str, numbers: impl IntoIterator<Item = u64>) -> Batch {
        let items = numbers.into_iter().enumerate().map(|(at, number)| (number, self.samples.at(at))).collect();
        Batch { items: Items { name: name.to_owned(), items }, deadline: self.caller.timeout(), change: None }
    }

    /// Sends a batch.
    pub(super) async fn send(&self, batch: &Batch, notebook: &Notebook) -> anyhow::Result<Heard<CallOutcome>> {
        let job = Job {
            id: self.job_id,
            job_type: self.job_type.clone(),
            options: self.options.clone(),
            mode: notebook.facts.mode.unwrap_or(Mode::Validate),
        };
        let request = |id: &str| {
            let millis = i64::try_from(batch.deadline.as_millis()).unwrap_or_default();
            job.batch(id, &batch.items, Timestamp(Timestamp::now().0 + millis))
        };
        let name = format!("{}-1-{}", job.id, batch.items.name);
        let keys = request(&caller::id(&name, 0))?.keys;
        let build = |id: &str| {
            let body = request(id).map(|batch| batch.body).unwrap_or_default();
            batch.change.and_then(|change| change(&body).ok()).unwrap_or(body)
        };
        let message = Message { name: &name, signature: Signature::Valid, build };
        let decide = |exchange: &Exchange| CallOutcome::new(exchange.result(), &keys, Timestamp::now());
        Ok(self.caller.send(message, decide).await)
    }
}

impl Batch {
    /// Describes the batch.
    pub(super) fn sent(&self, notebook: &Notebook) -> String {
        let mode = notebook.facts.mode.map_or("", Mode::as_str);
        match &self.items.items[..] {
            [(number, value)] => {
                format!("1 item (number {number}), mode {mode}: {}", words::excerpt(value.get().as_bytes()))
            }
            items => {
                let numbers = (items.first().map_or(0, |item| item.0), items.last().map_or(0, |item| item.0));
                format!("{} items (numbers {} to {}), mode {mode}", items.len(), numbers.0, numbers.1)
            }
        }
    }

    /// Returns the evidence of an exchange.
    pub(super) fn evidence(&self, heard: &Heard<CallOutcome>, notebook: &Notebook) -> Evidence {
        Evidence { sent: self.sent(notebook), received: heard.received() }
    }
}

impl Notebook {
    /// Returns the results of a batch, and notes them.
    ///
    /// # Errors
    /// The report of the check if there are none. Bad keys and codes are reported by the checks of that name.
    pub(super) fn results<'a>(
        &mut self,
        check: Check,
        batch: &Batch,
        heard: &'a Heard<CallOutcome>,
    ) -> Result<&'a AnsweredItems, Box<Report>> {
        let evidence = batch.evidence(heard, self);
        match &heard.outcome {
            CallOutcome::Items(items) => {
                self.note_codes(items);
                self.facts.usable.insert(check);
                Ok(items)
            }
            CallOutcome::Fatal(rejection) => {
                let summary = format!("the handler answered fatal {}: {}", rejection.code, rejection.message);
                Err(Report::problem(check, Problem::Fatal, words::excerpt(summary.as_bytes())).with(evidence).into())
            }
            CallOutcome::Parked(backpressure) => {
                self.facts.is_busy = true;
                let summary = format!("busy {}: {}", words::times(heard.busy), backpressure.reason);
                Err(Report::problem(check, Problem::Busy, words::excerpt(summary.as_bytes())).with(evidence).into())
            }
            CallOutcome::Fault(fault) => Err(self.fault(check, fault, &heard.exchange, evidence).into()),
        }
    }

    /// Reports a fault, in the check that it belongs to.
    fn fault(&mut self, check: Check, fault: &Fault, exchange: &Exchange, evidence: Evidence) -> Report {
        let reason = words::fault(fault, exchange);
        let problem = problem(&fault.cause);
        let elsewhere = |name: &str| Report::skipped(check, format!("its answer was refused: see the check `{name}`"));
        match problem {
            Problem::BadCode => {
                self.bad_code.get_or_insert(Defect { reason, evidence });
                elsewhere(Check::Codes.title())
            }
            Problem::WrongKeys if !self.keys_are_reported && check != Check::Keys => {
                self.wrong_keys.get_or_insert(Defect { reason, evidence });
                self.facts.has_wrong_keys = true;
                elsewhere(Check::Keys.title())
            }
            _ => Report::problem(check, problem, reason).with(evidence),
        }
    }

    /// Reports wrong keys with the check that finds them from now on.
    pub(super) fn take_wrong_keys(&mut self) -> Option<Defect> {
        self.keys_are_reported = true;
        self.wrong_keys.take()
    }

    fn note_codes(&mut self, items: &AnsweredItems) {
        self.codes.extend(items.outcomes().iter().flatten().filter_map(|outcome| match outcome {
            Outcome::Reject(rejection) => Some(rejection.code.clone()),
            Outcome::Skip { reason } => Some(reason.clone()),
            _ => None,
        }));
    }
}

/// Returns the problem of a fault.
fn problem(cause: &FaultCause) -> Problem {
    let FaultCause::BadAnswer(reason) = cause else { return Problem::CallFailed };
    match reason {
        BadAnswerReason::Json(JsonError::TooLarge { .. }) => Problem::AnswerTooLarge,
        BadAnswerReason::UnknownKey { .. } | BadAnswerReason::DoubledKey { .. } => Problem::WrongKeys,
        BadAnswerReason::BadCode { .. } => Problem::BadCode,
        _ => Problem::BadAnswer,
    }
}
