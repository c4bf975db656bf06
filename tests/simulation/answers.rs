//! The requests to the lying handler, the outcomes in its answers, and the checks of what follows.
//!
//! - Only the outcomes in answers of the contract are counted.
//! - A worker that ends as planned has committed every outcome that it received: no later worker sends these items
//!   again. A worker sends no item again that it has an outcome for.
//! - An item has spent a try only if it was asked to be retried, was left unanswered, or failed alone and a ping after it
//!   was good. Backpressure, and the fault of a batch of several items, spend none.
//! - An item that was asked to wait is not sent before.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::ids::JobId;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use crate::clock::true_time;
use crate::trace;

/// Maximum difference of the clocks of two workers in milliseconds.
const SKEW_MS: i64 = 6_000;

/// Milliseconds before the start of a round at which its message can begin it.
const EARLY_MS: i64 = 3_000;

/// Content of an answer.
pub(crate) enum Content {
    /// The results of some items, at least one.
    Results(Vec<Value>),
    /// The handler is to be called later, or the job is to stop.
    NoOutcome,
    /// Nothing: it is not an answer of the contract.
    Fault,
}

/// An item in one generation of its job.
type Item = (JobId, u64, u64);

/// The answers about an item.
#[derive(Default)]
struct ItemAnswers {
    /// Earliest next try, by the try that may have been spent.
    next_tries: BTreeMap<u64, Timestamp>,
    /// Functions that received an outcome with which the item has ended.
    ended_in: BTreeSet<u64>,
    /// Number of the last function when one of these had ended as planned.
    kept_before: Option<u64>,
}

#[derive(Default)]
struct Answers {
    items: BTreeMap<Item, ItemAnswers>,
    /// Outcomes of each item, in any generation.
    outcomes: BTreeSet<(JobId, u64, String)>,
    /// Items that failed alone, with their try, and with no good ping since.
    failed_alone: Vec<(Item, u64)>,
    good_ping_at: Option<Timestamp>,
    /// Functions whose last request was a good ping: their next call is a trial.
    on_trial: BTreeSet<u64>,
}

thread_local!(static ANSWERS: RefCell<Answers> = RefCell::default());

/// Begins a run.
pub(crate) fn begin() {
    ANSWERS.take();
}

/// Checks that a batch contains only items that are to be sent now.
pub(crate) fn check_request(request: &Value) {
    let function = trace::function_number();
    ANSWERS.with_borrow_mut(|answers| {
        for (item, attempt) in items(request) {
            answers.items.entry(item).or_default().check_try(item, attempt, function);
        }
    });
}

/// Records an answer to a batch.
pub(crate) fn record_answer(request: &Value, content: &Content) {
    let function = trace::function_number();
    ANSWERS.with_borrow_mut(|answers| answers.record(request, content, function));
}

/// Records a good ping.
pub(crate) fn record_good_ping() {
    ANSWERS.with_borrow_mut(|answers| {
        answers.good_ping_at = Some(true_time());
        answers.on_trial.insert(trace::function_number());
        for (item, attempt) in std::mem::take(&mut answers.failed_alone) {
            answers.spend(item, attempt, Timestamp::default());
        }
    });
}

/// Records that a worker has ended as planned, while `last` was the number of the last function.
pub(crate) fn record_planned_end(function: u64, last: u64) {
    ANSWERS.with_borrow_mut(|answers| {
        let ended = answers.items.values_mut().filter(|item| item.ended_in.contains(&function));
        ended.for_each(|item| item.kept_before = Some(item.kept_before.unwrap_or(last)));
    });
}

/// Returns true if an answer has this outcome of an item, in any generation of its job.
pub(crate) fn has_answered(job: JobId, number: u64, outcome: &str) -> bool {
    ANSWERS.with_borrow(|answers| answers.outcomes.contains(&(job, number, outcome.to_owned())))
}

/// Returns true if the item may have spent all its tries in one generation of its job.
pub(crate) fn may_have_spent(job: JobId, number: u64, tries: u64) -> bool {
    ANSWERS.with_borrow(|answers| {
        let mut generations = answers.items.iter().filter(|((of, _, n), _)| (*of, *n) == (job, number));
        generations.any(|(_, item)| item.next_tries.contains_key(&tries))
    })
}

impl ItemAnswers {
    fn check_try(&self, item: Item, attempt: u64, function: u64) {
        assert!(
            !self.ended_in.contains(&function),
            "a worker sends an item again that it has an outcome for: {item:?}"
        );
        let is_kept = self.kept_before.is_some_and(|last| last < function);
        assert!(!is_kept, "an item is sent again although its outcome was committed: {item:?}");
        if attempt == 1 {
            return;
        }
        let earliest = self.next_tries.get(&(attempt - 1));
        let earliest =
            earliest.unwrap_or_else(|| panic!("an item has spent try {} for no reason: {item:?}", attempt - 1));
        let early_ms = earliest.millis_since(true_time());
        assert!(early_ms <= SKEW_MS + EARLY_MS, "an item is sent {early_ms} ms before its time: {item:?}");
    }
}

impl Answers {
    /// Records a reason for which an item may have spent a try, and the earliest time of the next one.
    fn spend(&mut self, item: Item, attempt: u64, earliest: Timestamp) {
        let next = self.items.entry(item).or_default().next_tries.entry(attempt).or_insert(earliest);
        *next = earliest.min(*next);
    }

    fn record(&mut self, request: &Value, content: &Content, function: u64) {
        let is_trial = self.on_trial.remove(&function);
        let items: Vec<_> = items(request).collect();
        match content {
            Content::Results(results) => {
                for (position, (item, attempt)) in items.into_iter().enumerate() {
                    let key = &request["items"][position]["key"];
                    let result = results.iter().find(|result| result["key"] == *key);
                    self.record_result(item, attempt, result, function);
                }
            }
            Content::Fault => {
                if let [(item, attempt)] = items[..] {
                    let pinged_at = self.good_ping_at.filter(|at| true_time().millis_since(*at) <= SKEW_MS);
                    match pinged_at {
                        None if !is_trial => self.failed_alone.push((item, attempt)),
                        _ => self.spend(item, attempt, Timestamp::default()),
                    }
                }
            }
            Content::NoOutcome => {}
        }
    }

    fn record_result(&mut self, item: Item, attempt: u64, result: Option<&Value>, function: u64) {
        let (job, _, number) = item;
        // If no further call fits into the worker's time, an unanswered item spends a try.
        let Some(result) = result else { return self.spend(item, attempt, Timestamp::default()) };
        let outcome = result["outcome"].as_str().expect("an outcome");
        self.outcomes.insert((job, number, outcome.to_owned()));
        if outcome == "retry" {
            let wait_s = result["after"].as_i64().unwrap_or_default();
            return self.spend(item, attempt, true_time().plus_seconds(wait_s));
        }
        self.items.entry(item).or_default().ended_in.insert(function);
    }
}

/// Returns the items of a batch, and the number of the try of each.
fn items(request: &Value) -> impl Iterator<Item = (Item, u64)> {
    let job: JobId = serde_json::from_value(request["job"]["id"].clone()).expect("the id of a job");
    let generation = request["job"]["generation"].as_u64().expect("a generation");
    let items = request["items"].as_array().expect("items");
    let number = |value: &Value| value.as_u64().expect("a number");
    items.iter().map(move |item| ((job, generation, number(&item["number"])), number(&item["try"])))
}
