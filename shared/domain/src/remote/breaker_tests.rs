//! The circuit breaker, by itself and with several workers.

use proptest::prelude::*;

use super::*;

// A new member does not compile until it is here, and in the golden file of its shape: docs/design/versions.md.
const _: fn(Breaker) = |Breaker { ping: _, open: _, failed: _, unanswered_since: _ }| {};
const _: fn(LastPing) = |LastPing { began_at: _, result: _ }| {};
const _: fn(Open) = |Open { reason: _, since: _, trial_at: _, wait_s: _ }| {};

/// Maximum outage: a day.
const OUTAGE: Duration = Duration::from_secs(86_400);

const fn at(seconds: i64) -> Timestamp {
    Timestamp(seconds * 1_000)
}

fn chunk(number: u32) -> ChunkOfJob {
    ChunkOfJob { job: JobId(uuid::Uuid::from_u128(1)), chunk: ChunkId::new(0, number) }
}

/// Returns the state after the ping that this decision asks for.
fn pinged(decision: AfterFault, began_at: Timestamp, result: PingResult) -> Breaker {
    let AfterFault::Ping(breaker) = decision else { panic!("{decision:?}") };
    breaker.after_ping(began_at, result, began_at).unwrap()
}

fn opened() -> Breaker {
    pinged(Breaker::default().after_fault(at(100), at(100)), at(100), PingResult::Bad)
}

#[test]
fn a_bad_ping_after_a_fault_opens_the_breaker_and_a_good_one_closes_it() {
    let breaker = opened();
    assert_eq!(breaker.open().unwrap().reason, OpenReason::Unreachable);
    assert_eq!(breaker.before_call(at(129), OUTAGE), BeforeCall::Wait(at(130)));
    let BeforeCall::Try(breaker) = breaker.before_call(at(130), OUTAGE) else { panic!() };
    assert_eq!(breaker.before_call(at(130), OUTAGE), BeforeCall::Wait(at(160)), "another worker");
    let closed = breaker.after_ping(at(130), PingResult::Good, at(131)).unwrap();
    assert_eq!(closed.before_call(at(131), OUTAGE), BeforeCall::Call);
    assert_eq!(closed.unanswered_since, Some(at(100)), "until an answer arrives");
    assert_eq!(closed.after_answer().unwrap().unanswered_since, None);
}

#[test]
fn the_time_to_the_next_trial_doubles_up_to_ten_minutes() {
    let (mut breaker, mut now, mut waits) = (opened(), at(100), Vec::new());
    for _ in 0..7 {
        let trial_at = breaker.open().unwrap().trial_at;
        waits.push(trial_at.seconds() - now.seconds());
        now = trial_at;
        let BeforeCall::Try(tried) = breaker.before_call(now, OUTAGE) else { panic!() };
        breaker = tried.after_ping(now, PingResult::Bad, now).unwrap();
    }
    assert_eq!(waits, [30, 60, 120, 240, 480, 600, 600]);
    assert_eq!(breaker.open().unwrap().since, at(100));
}

#[test]
fn only_a_ping_that_began_after_the_fault_decides() {
    let breaker = pinged(Breaker::default().after_fault(at(100), at(100)), at(100), PingResult::Good);
    assert_eq!(breaker.after_fault(at(100), at(101)), AfterFault::BatchAtFault);
    assert_eq!(breaker.after_fault(at(102), at(102)), AfterFault::Wait(at(105)), "once in five seconds");
    let breaker = pinged(breaker.after_fault(at(102), at(105)), at(105), PingResult::Good);
    assert_eq!(breaker.after_fault(at(102), at(106)), AfterFault::BatchAtFault, "this worker, or another one");
}

#[test]
fn a_ping_that_is_lost_with_its_worker_is_repeated() {
    let AfterFault::Ping(breaker) = Breaker::default().after_fault(at(100), at(100)) else { panic!() };
    assert_eq!(breaker.after_fault(at(101), at(101)), AfterFault::Wait(at(102)));
    let AfterFault::Ping(repeated) = breaker.after_fault(at(101), at(120)) else { panic!() };
    assert_eq!(repeated.after_ping(at(100), PingResult::Bad, at(121)), None, "the late result of the first ping");
    assert!(repeated.after_ping(at(120), PingResult::Bad, at(121)).unwrap().open().is_some());
}

#[test]
fn a_ping_that_asks_for_patience_decides_nothing() {
    let breaker = pinged(Breaker::default().after_fault(at(100), at(100)), at(100), PingResult::Undecided);
    assert_eq!(breaker.open(), None);
    assert_eq!(breaker.after_fault(at(100), at(101)), AfterFault::Wait(at(105)));
    let BeforeCall::Try(tried) = opened().before_call(at(130), OUTAGE) else { panic!() };
    assert_eq!(tried.after_ping(at(130), PingResult::Undecided, at(131)).unwrap().open().unwrap().trial_at, at(160));
}

#[test]
fn failed_batches_of_five_chunks_in_a_row_open_the_breaker_although_pings_are_good() {
    let breaker = (0..4).fold(Breaker::default(), |breaker, n| breaker.after_failed_batch(chunk(n), at(100)));
    assert_eq!(breaker.after_failed_batch(chunk(3), at(100)).open(), None, "halves of one chunk count once");
    let answered = breaker.after_answer().unwrap();
    assert_eq!(answered.after_failed_batch(chunk(4), at(100)).open(), None, "an answer begins a new row");
    let open = breaker.after_failed_batch(chunk(4), at(100));
    assert_eq!(open.open().unwrap().reason, OpenReason::BatchesFail);
    let BeforeCall::Try(tried) = open.before_call(at(130), OUTAGE) else { panic!() };
    let pinged = tried.after_ping(at(130), PingResult::Good, at(131)).unwrap();
    assert_eq!(pinged.before_call(at(131), OUTAGE), BeforeCall::Wait(at(160)), "only the trial call closes it");
    assert_eq!(pinged.after_failed_batch(chunk(9), at(132)).open().unwrap().trial_at, at(192));
    assert_eq!(pinged.after_answer().unwrap().before_call(at(132), OUTAGE), BeforeCall::Call);
}

#[test]
fn a_working_handler_needs_no_write() {
    assert_eq!(Breaker::default().after_answer(), None);
    let pinged = pinged(Breaker::default().after_fault(at(1), at(1)), at(1), PingResult::Good);
    assert_eq!(pinged.after_answer().unwrap().after_answer(), None);
}

proptest! {
    /// Any workers, any results: at most one ping begins in five seconds unless the breaker is open, and an open
    /// breaker has its next trial within ten minutes of the last event.
    #[test]
    fn pings_are_rare_and_a_trial_is_always_near(events in prop::collection::vec((0..7_u8, 0..20_000_i64), 1..120)) {
        let (mut breaker, mut now, mut began) = (Breaker::default(), at(1_000), Vec::new());
        for (event, wait) in events {
            now = Timestamp(now.0 + wait);
            let last = began.last().copied().unwrap_or(now);
            breaker = match event {
                0 | 1 => match breaker.after_fault(now, now) {
                    AfterFault::Ping(next) => {
                        prop_assert!(began.last().is_none_or(|last| now.millis_since(*last) >= 5_000));
                        began.push(now);
                        next
                    }
                    AfterFault::Wait(until) => {
                        prop_assert!(until > now);
                        breaker
                    }
                    AfterFault::BatchAtFault => breaker.after_failed_batch(chunk(wait as u32 % 9), now),
                },
                2 => breaker.after_ping(last, PingResult::Bad, now).unwrap_or(breaker),
                3 => breaker.after_ping(last, PingResult::Good, now).unwrap_or(breaker),
                4 => breaker.after_ping(last, PingResult::Undecided, now).unwrap_or(breaker),
                5 => breaker.after_answer().unwrap_or(breaker),
                _ => match breaker.before_call(now, OUTAGE) {
                    BeforeCall::Try(next) => {
                        began.push(now);
                        next
                    }
                    BeforeCall::GiveUp => panic!("no outage is so long"),
                    BeforeCall::Wait(until) => {
                        prop_assert!(until > now && breaker.open().is_some());
                        breaker
                    }
                    BeforeCall::Call => breaker,
                },
            };
            let near = breaker.open().is_none_or(|open| open.trial_at.0 - now.0 <= 600_000);
            prop_assert!(near, "{:?} at {:?}", breaker, now);
        }
    }
}

#[test]
fn items_are_given_up_only_because_of_a_recent_ping_and_a_handler_that_is_back_is_noticed() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let tried = |breaker: &Breaker, now, result| {
        let BeforeCall::Try(tried) = breaker.before_call(now, HOUR) else { panic!("no trial at {now:?}") };
        tried.after_ping(now, result, now).unwrap()
    };
    let bad = tried(&opened(), at(3_600), PingResult::Bad);
    assert_eq!(bad.before_call(at(3_659), HOUR), BeforeCall::Wait(at(3_660)), "the outage is shorter");
    let bad = tried(&bad, at(3_701), PingResult::Bad);
    assert_eq!(bad.before_call(at(3_730), HOUR), BeforeCall::GiveUp);
    let good = tried(&bad, at(3_731), PingResult::Good);
    assert_eq!(good.before_call(at(3_731), HOUR), BeforeCall::Call);
}

#[test]
fn a_fault_after_a_long_break_begins_another_outage() {
    let poison = pinged(Breaker::default().after_fault(at(100), at(100)), at(100), PingResult::Good);
    let much_later = at(100_000);
    let breaker = pinged(poison.after_fault(much_later, much_later), much_later, PingResult::Bad);
    assert_eq!(breaker.unanswered_since, Some(much_later));
    assert!(matches!(breaker.before_call(at(100_010), Duration::from_secs(3_600)), BeforeCall::Wait(_)));
    let soon = pinged(poison.after_fault(at(700), at(700)), at(700), PingResult::Bad);
    assert_eq!(soon.unanswered_since, Some(at(100)));
}
