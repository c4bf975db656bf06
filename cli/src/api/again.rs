//! Further tries of calls that fail for a while, and what the user is told of the waits between them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::answer::Answer;
use super::http::Transient;
use super::refused::refusal;
use crate::output::progress::note;

/// Number of times that a call is tried.
const TRIES: u32 = 5;

/// Delay before the second try; doubled for each further one.
const BACK_OFF: Duration = Duration::from_millis(500);

/// Longest wait of which nothing is printed.
const SILENT: Duration = Duration::from_secs(2);

/// Faults after which a call is tried again.
#[derive(Copy, Clone)]
pub(super) enum Again {
    /// All faults that may pass: the call is harmless twice.
    AfterFaults,
    /// Status 429, after which nothing was done, and no other fault.
    AfterThrottling,
}

impl Again {
    /// Returns the delay before another try; `None` if this result is final. `tries` is the number of tries so far.
    pub(super) fn delay(self, tries: u32, result: &Result<Answer>) -> Option<Duration> {
        let may_pass = match (self, result) {
            (Self::AfterFaults, Ok(answer)) => answer.is_transient(),
            (Self::AfterFaults, Err(error)) => error.is::<Transient>(),
            (Self::AfterThrottling, Ok(answer)) => answer.status() == 429 && answer.is_transient(),
            (Self::AfterThrottling, Err(_)) => false,
        };
        let asked = result.as_ref().ok().and_then(Answer::retry_after);
        (may_pass && tries < TRIES).then(|| asked.unwrap_or(BACK_OFF * 2_u32.pow(tries.saturating_sub(1))))
    }
}

/// The fault of a try, for the user.
pub(crate) enum Fault {
    /// A refusal with this status.
    Status(u16),
    /// No answer, or one that ended early.
    Lost,
}

impl Fault {
    /// Returns the fault of a result that is not final.
    pub(super) fn of_result(result: &Result<Answer>) -> Self {
        result.as_ref().map_or(Self::Lost, |answer| Self::Status(answer.status()))
    }

    /// Returns the fault that caused an error.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        refusal(error).map_or(Self::Lost, |refused| Self::Status(refused.status))
    }

    fn describe(&self) -> String {
        match self {
            Self::Status(429) => "throttled".to_owned(),
            Self::Status(status) => format!("the API answers {status}"),
            Self::Lost => "no answer".to_owned(),
        }
    }
}

/// The waits of the threads that use a client.
#[derive(Default)]
pub(super) struct Waits {
    /// End of the wait that was printed last.
    printed: Mutex<Option<Instant>>,
}

impl Waits {
    /// Prints that a call waits for its next try, unless it is soon, or another thread has printed that it waits.
    pub(super) fn announce(&self, fault: &Fault, delay: Duration) {
        if let Some(line) = self.line(fault, delay, Instant::now()) {
            note(&line);
        }
    }

    fn line(&self, fault: &Fault, delay: Duration, now: Instant) -> Option<String> {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        if delay <= SILENT || printed.is_some_and(|end| now < end) {
            return None;
        }
        *printed = now.checked_add(delay);
        Some(format!("  {}, next try in {} s", fault.describe(), delay.as_millis().div_ceil(1_000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::answer::tests::answer;

    fn lost() -> Result<Answer> {
        Err(Transient("lost".to_owned()).into())
    }

    #[test]
    fn a_call_with_an_effect_is_tried_again_only_if_nothing_was_done() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (result, harmless, with_effect) in [
            (Ok(answer(429, Some("7"))), seconds(7), seconds(7)),
            (Ok(answer(429, None)), Some(BACK_OFF), Some(BACK_OFF)),
            (Ok(answer(429, Some("39600"))), None, None),
            (Ok(answer(503, Some("30"))), seconds(30), None),
            (Ok(answer(503, Some("39600"))), None, None),
            (Ok(answer(500, None)), Some(BACK_OFF), None),
            (Ok(answer(202, None)), None, None),
            (Ok(answer(409, Some("1"))), None, None),
            (lost(), Some(BACK_OFF), None),
            (Err(anyhow::anyhow!("no disk")), None, None),
        ] {
            let delays = [Again::AfterFaults, Again::AfterThrottling].map(|again| again.delay(1, &result));
            assert_eq!(delays, [harmless, with_effect], "{:?}", result.map(|answer| answer.status()));
        }
    }

    #[test]
    fn a_call_is_tried_five_times_with_growing_delays() {
        let delays: Vec<_> = (1..=TRIES).map(|tries| Again::AfterFaults.delay(tries, &lost())).collect();
        assert_eq!(
            delays,
            [Some(500), Some(1_000), Some(2_000), Some(4_000), None].map(|ms| ms.map(Duration::from_millis))
        );
    }

    #[test]
    fn a_long_wait_is_printed_once_for_all_threads() {
        let (waits, now) = (Waits::default(), Instant::now());
        let seconds = Duration::from_secs;
        let throttled = Fault::of_result(&Ok(answer(429, None)));
        assert_eq!(waits.line(&throttled, SILENT, now), None);
        let line = waits.line(&throttled, Duration::from_millis(29_001), now);
        assert_eq!(line.as_deref(), Some("  throttled, next try in 30 s"));
        assert_eq!(waits.line(&throttled, seconds(30), now + seconds(1)), None, "of another thread");
        let line = waits.line(&Fault::of_result(&lost()), seconds(4), now + seconds(30));
        assert_eq!(line.as_deref(), Some("  no answer, next try in 4 s"));
        let unavailable = Fault::of_result(&Ok(answer(503, None)));
        let line = waits.line(&unavailable, seconds(10), now + seconds(60));
        assert_eq!(line.as_deref(), Some("  the API answers 503, next try in 10 s"));
    }

    #[test]
    fn an_error_has_the_fault_of_its_cause() {
        let refused = answer(429, None).success("reading").err();
        assert_eq!(refused.map(|error| Fault::of_error(&error).describe()).as_deref(), Some("throttled"));
        let lost: anyhow::Error = Transient("lost".to_owned()).into();
        assert_eq!(Fault::of_error(&lost).describe(), "no answer");
    }
}
