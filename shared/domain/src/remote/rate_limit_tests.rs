//! Tests of the rate limit: workers that reserve one after the other, on time or late.

use proptest::prelude::*;

use super::*;

fn limit(items: f64) -> ItemsPerSecond {
    ItemsPerSecond::new(items).unwrap()
}

/// A rate whose items have a whole number of milliseconds each, at its pace.
fn every_ms(ms: f64) -> ItemsPerSecond {
    limit(1_000.0 / (ms * PACE))
}

#[test]
fn a_limit_is_a_positive_number() {
    for items in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(ItemsPerSecond::new(items), None);
    }
}

#[test]
fn items_follow_each_other_at_the_pace() {
    let now = Timestamp(1_000);
    let mut reserved = ReservedUntil::default();
    for (at, wanted, items) in [(1_000, 7, 5), (1_500, 5, 5), (2_000, 1, 1), (2_100, 0, 1)] {
        let request = RateRequest::new(every_ms(100.0), wanted, now);
        reserved = request.after(reserved).unwrap();
        let reservation = request.reservation(reserved);
        assert_eq!((reservation.at(), reservation.items_left(reservation.at())), (Timestamp(at), items));
    }
}

#[test]
fn an_idle_handler_gathers_no_burst() {
    let request = RateRequest::new(every_ms(500.0), 100, Timestamp(1_000_000));
    let reserved = request.after(ReservedUntil(0)).unwrap();
    assert!((1_000_500_000..=1_000_500_001).contains(&reserved.0), "{reserved:?}");
    assert_eq!(request.reservation(reserved).at(), Timestamp(1_000_000));
}

#[test]
fn a_worker_waits_for_at_most_five_seconds() {
    let reserved = ReservedUntil(6_000_000);
    let request = |now| RateRequest::new(limit(1.0), 1, Timestamp(now));
    let end = request(1_000).after(reserved).unwrap();
    assert_eq!(request(1_000).reservation(end).at(), Timestamp(6_000));
    assert_eq!(request(999).after(reserved), None);
}

#[test]
fn items_whose_time_has_passed_are_not_sent() {
    for (items_ms, wanted, late_ms, left) in [
        (1.0, 100, 0, 100),
        (1.0, 100, 21, 100),
        (1.0, 100, 22, 99),
        (1.0, 100, 120, 1),
        (1.0, 100, 121, 0),
        (20.0, 1, 40, 1),
        (20.0, 1, 41, 0),
        (1_000.0, 1, 250, 1),
        (1_000.0, 1, 251, 0),
    ] {
        let request = RateRequest::new(every_ms(items_ms), wanted, Timestamp(1_000));
        let reservation = request.reservation(request.after(ReservedUntil(0)).unwrap());
        assert_eq!(reservation.items_left(Timestamp(1_000 + late_ms)), left, "{items_ms} {wanted} {late_ms}");
    }
}

/// The calls of workers that always want items, each late by a number of milliseconds.
fn calls(limit: ItemsPerSecond, requests: &[(u32, i64)]) -> Vec<(Timestamp, u32)> {
    let (mut reserved, mut now, mut calls) = (ReservedUntil::default(), Timestamp(0), Vec::new());
    for (wanted, late_ms) in requests {
        let request = RateRequest::new(limit, *wanted, now);
        let Some(next) = request.after(reserved) else {
            now = reserved.time();
            continue;
        };
        reserved = next;
        let reservation = request.reservation(reserved);
        let at = Timestamp(reservation.at().0 + late_ms);
        calls.push((at, reservation.items_left(at)));
    }
    calls.sort_unstable();
    calls
}

proptest! {
    /// Any ten seconds have 90 to 105 % of the limit, in whole items, and no second has more than the limit and one batch.
    #[test]
    fn the_limit_is_used_and_kept(
        per_second in 1.0..5_000.0_f64,
        most in 1..1_000_u32,
        requests in prop::collection::vec((1..1_000_u32, 0..21_i64), 400),
    ) {
        let requests: Vec<_> = requests.iter().map(|(wanted, late)| ((*wanted).min(most), *late)).collect();
        let calls = calls(limit(per_second), &requests);
        let sum = |from: Timestamp, ms: i64| -> u32 {
            calls.iter().filter(|(at, _)| (from.0..from.0 + ms).contains(&at.0)).map(|(_, n)| n).sum()
        };
        let end = calls.last().unwrap().0;
        let batch = f64::from(calls.iter().map(|(_, n)| *n).max().unwrap());
        for (from, _) in calls.iter().filter(|(at, _)| at.0 + 10_000 < end.0) {
            for from in [from.0, from.0 + 1].map(Timestamp) {
                let (items, ten) = (f64::from(sum(from, 10_000)), 10.0 * per_second);
                prop_assert!(((0.9 * ten).floor()..=(1.05 * ten).ceil()).contains(&items), "{items} {per_second}");
                prop_assert!(f64::from(sum(from, 1_000)) <= per_second + batch);
            }
        }
    }
}
