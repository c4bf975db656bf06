//! Random faults in calls of services, and the counts of all faults.

use std::cell::RefCell;
use std::collections::BTreeMap;

use longshore_domain::ports::{PortError, PortResult};
use longshore_domain::timestamp::Timestamp;

use crate::clock::{step, true_time};
use crate::rng::Rng;
use crate::trace;

/// Number of faults by kind.
pub(crate) type Tally = BTreeMap<&'static str, u64>;

/// Average number of calls between two storms. Most calls are refused during a storm, as for a partition or a key that
/// is too hot.
const STORM_INTERVAL: u64 = 3_001;
/// Length of a storm, in milliseconds.
const STORM_MS: i64 = 4_000;

/// Probabilities of faults, per thousand calls.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct Rates {
    /// The service refuses the call.
    pub(crate) throttled: u32,
    /// The call is executed, and the caller receives an error.
    pub(crate) reply_dropped: u32,
    /// The call is executed, its reply is lost, and the client sends it again.
    pub(crate) sent_twice: u32,
    /// An eventually consistent read returns old data.
    pub(crate) stale: u32,
}

/// The fault of one call.
#[derive(Copy, Clone, Eq, PartialEq)]
pub(crate) enum Fault {
    None,
    ReplyDropped,
    SentTwice,
}

struct FaultState {
    rng: Rng,
    rates: Rates,
    tally: Tally,
    calls: u64,
    /// Errors since the last query.
    errors: u32,
    storm_until: Timestamp,
    capacity: Option<Capacity>,
}

/// Calls per second that the services accept: a token bucket with a capacity of one second.
struct Capacity {
    calls_per_s: i64,
    /// Remaining tokens, in thousandths of a call.
    left: i64,
    filled_at: Timestamp,
}

thread_local!(static STATE: RefCell<Option<FaultState>> = const { RefCell::new(None) });

/// Begins a run whose faults are decided by this random generator.
pub(crate) fn begin(rng: Rng, rates: Rates) {
    let storm_until = Timestamp(0);
    STATE.set(Some(FaultState { rng, rates, tally: Tally::new(), calls: 0, errors: 0, storm_until, capacity: None }));
}

/// Sets the number of calls per second that the services accept. They refuse all others.
pub(crate) fn limit_calls(per_s: i64) {
    let filled_at = true_time();
    STATE.with_borrow_mut(|state| {
        state.iter_mut().for_each(|state| state.capacity = Some(Capacity { calls_per_s: per_s, left: 0, filled_at }));
    });
}

/// Ends all random faults.
pub(crate) fn clear() {
    STATE.with_borrow_mut(|state| state.iter_mut().for_each(|state| state.rates = Rates::default()));
}

/// Returns true if there are no random faults.
pub(crate) fn is_calm() -> bool {
    STATE.with_borrow(|state| state.as_ref().is_none_or(|state| state.rates == Rates::default()))
}

/// Starts random faults again.
pub(crate) fn set_rates(rates: Rates) {
    STATE.with_borrow_mut(|state| state.iter_mut().for_each(|state| state.rates = rates));
}

/// Counts a fault of this kind.
pub(crate) fn count_fault(kind: &'static str) {
    STATE.with_borrow_mut(|state| state.iter_mut().for_each(|state| *state.tally.entry(kind).or_default() += 1));
}

/// Faults so far, and the number of calls.
pub(crate) fn tally() -> (Tally, u64) {
    STATE.with_borrow(|state| state.as_ref().map(|state| (state.tally.clone(), state.calls)).unwrap_or_default())
}

/// Number of calls that have failed since the last query.
pub(crate) fn take_errors() -> u32 {
    STATE.with_borrow_mut(|state| state.as_mut().map_or(0, |state| std::mem::take(&mut state.errors)))
}

/// Returns true if an eventually consistent read returns old data.
pub(crate) fn is_stale() -> bool {
    let stale = STATE.with_borrow_mut(|state| state.as_mut().is_some_and(|state| state.rng.often(state.rates.stale)));
    if stale {
        count_fault("stale read");
    }
    stale
}

/// Returns a random number below `end`, which must not be 0.
pub(crate) fn random_below(end: usize) -> usize {
    STATE.with_borrow_mut(|state| state.as_mut().map_or(0, |state| state.rng.below(end)))
}

/// Takes a step before a call and picks its fault. Returns an error if the service refuses the call.
pub(crate) async fn before(call: &'static str) -> PortResult<Fault> {
    step().await;
    let fault = STATE.with_borrow_mut(|state| state.as_mut().map(|state| state.next_fault()));
    match fault {
        None => Ok(Fault::None),
        Some(Err(())) => {
            count_fault("throttled");
            trace::append(format_args!("{call}: refused"));
            Err(failed(call))
        }
        Some(Ok(fault)) => {
            trace::append(format_args!("{call}"));
            Ok(fault)
        }
    }
}

/// Takes a step between the two executions of a call whose first reply was lost.
pub(crate) async fn again(call: &'static str) {
    count_fault("sent twice");
    step().await;
    trace::append(format_args!("{call}: again"));
}

/// Time of a transaction's second execution: now, or sometimes after its request token has expired.
pub(crate) fn repeated_at(now: Timestamp) -> Timestamp {
    let late = STATE.with_borrow_mut(|state| state.as_mut().is_some_and(|state| state.rng.often(250)));
    count_fault(if late { "token expired" } else { "token valid" });
    if late { now.plus_seconds(601) } else { now }
}

/// Takes a step after a call. Returns an error if the reply is dropped.
pub(crate) async fn after(call: &'static str, fault: Fault) -> PortResult<()> {
    step().await;
    if fault != Fault::ReplyDropped {
        return Ok(());
    }
    count_fault("reply dropped");
    STATE.with_borrow_mut(|state| state.iter_mut().for_each(|state| state.errors += 1));
    trace::append(format_args!("{call}: the reply is dropped"));
    Err(failed(call))
}

/// Returns the error of a call that was not sent in time.
pub(crate) fn late(call: &'static str) -> PortError {
    count_fault("late");
    STATE.with_borrow_mut(|state| state.iter_mut().for_each(|state| state.errors += 1));
    failed(call)
}

fn failed(operation: &'static str) -> PortError {
    PortError { service: "simulated", operation, source: "an injected fault".into() }
}

impl Capacity {
    fn take_one(&mut self, now: Timestamp) -> bool {
        let filled = self.left + self.calls_per_s * now.millis_since(self.filled_at);
        (self.left, self.filled_at) = (filled.min(self.calls_per_s * 1_000), now);
        let is_accepted = self.left >= 1_000;
        self.left -= if is_accepted { 1_000 } else { 0 };
        is_accepted
    }
}

impl FaultState {
    fn next_fault(&mut self) -> Result<Fault, ()> {
        self.calls += 1;
        if self.capacity.as_mut().is_some_and(|capacity| !capacity.take_one(true_time())) {
            self.errors += 1;
            return Err(());
        }
        let Rates { throttled, reply_dropped, sent_twice, .. } = self.rates;
        let number = self.rng.number();
        if throttled > 0 && self.is_refused_by_storm(number) {
            self.errors += 1;
            return Err(());
        }
        let rng = (number % 1000) as u32;
        if rng < throttled {
            self.errors += 1;
            return Err(());
        }
        Ok(match rng - throttled {
            rng if rng < reply_dropped => Fault::ReplyDropped,
            rng if rng < reply_dropped + sent_twice => Fault::SentTwice,
            _ => Fault::None,
        })
    }

    /// Returns true if a storm refuses the call. During a storm, seven in ten calls are refused.
    fn is_refused_by_storm(&mut self, number: u64) -> bool {
        let now = true_time();
        if number.is_multiple_of(STORM_INTERVAL) {
            self.storm_until = Timestamp(now.0 + STORM_MS);
            *self.tally.entry("storm").or_default() += 1;
        }
        now < self.storm_until && (number >> 32) % 10 < 7
    }
}
