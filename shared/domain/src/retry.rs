//! Back-off schedules: of transient items (30 s, 2 min, 8 min, 30 min, 2 h with full jitter), and of messages
//! whose delivery returned an error.

use crate::timestamp::Timestamp;

/// Maximum delay of a message in a queue: 15 minutes (SQS `DelaySeconds`). The sweeper sends later rounds.
pub const MAX_QUEUE_DELAY_S: i64 = 900;

/// Multiples of the base delay (30 s by default) after attempts 1, 2, 3 and so on; the last one repeats.
const SCHEDULE: [i64; 5] = [1, 4, 16, 60, 240];

/// Returns the delay in seconds of an item that requests no wait, after this number of attempts (from 1). `fraction` in
/// 0..1 is the jitter. Full jitter: anything up to the schedule's delay.
pub fn usual_delay_s(attempts: u32, base_s: i64, fraction: f64) -> i64 {
    let step = SCHEDULE[(attempts.max(1) as usize - 1).min(SCHEDULE.len() - 1)];
    ((step * base_s) as f64 * fraction.clamp(0.0, 1.0)) as i64
}

/// Returns the delay of a round's message in its queue, in seconds; `None` if it exceeds a queue's maximum, so that the
/// sweeper has to send the message.
pub fn queue_delay_s(now: Timestamp, due: Timestamp) -> Option<i32> {
    let seconds = due.millis_since(now).div_euclid(1000);
    (seconds <= MAX_QUEUE_DELAY_S).then(|| i32::try_from(seconds).unwrap_or(0))
}

/// Multiples of the base delay between consecutive failed deliveries of a message; the last one repeats.
const REDELIVERIES: [i64; 5] = [1, 3, 9, 27, 40];

/// Returns the seconds until the next delivery of a message after this number of failed deliveries (from 1). `fraction`
/// in 0..1 is the jitter.
///
/// With the base of 30 s, the first redelivery is due after 15 to 27 s, and the last of ten deliveries is at least 60
/// minutes after the first. So a service may be down for that time before a message is received for the last time.
pub fn redelivery_s(failed: u32, base_s: i64, fraction: f64) -> i32 {
    let step = REDELIVERIES[(failed.max(1) as usize - 1).min(REDELIVERIES.len() - 1)];
    let delay = (step * base_s) as f64 * (0.5 + 0.4 * fraction.clamp(0.0, 1.0));
    (delay as i32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_follow_the_schedule_and_the_jitter() {
        for (attempts, fraction, expected_s) in [
            (1, 1.0, 30),
            (2, 1.0, 120),
            (3, 1.0, 480),
            (4, 1.0, 1800),
            (5, 1.0, 7200),
            (9, 1.0, 7200),
            (2, 0.5, 60),
            (1, 0.0, 0),
        ] {
            assert_eq!(usual_delay_s(attempts, 30, fraction), expected_s, "after {attempts} attempts");
        }
    }

    #[test]
    fn a_failed_delivery_is_followed_within_thirty_seconds_and_ten_of_them_span_an_hour() {
        for fraction in [0.0, 0.5, 1.0] {
            assert!((15..30).contains(&redelivery_s(1, 30, fraction)));
            let growing: Vec<_> = (1..=10).map(|failed| redelivery_s(failed, 30, fraction)).collect();
            assert!(growing.is_sorted(), "{growing:?}");
            assert!(growing.iter().sum::<i32>() >= 3_600, "{growing:?}");
            // The maximum visibility timeout of SQS is twelve hours.
            assert!(growing.iter().all(|delay| *delay <= 43_200));
        }
        assert_eq!((redelivery_s(0, 0, 0.0), redelivery_s(99, 30, 1.0)), (1, 1_080));
    }

    #[test]
    fn a_round_beyond_the_maximum_queue_delay_is_sent_by_the_sweeper() {
        assert_eq!(queue_delay_s(Timestamp(0), Timestamp(900_000)), Some(900));
        assert_eq!(queue_delay_s(Timestamp(0), Timestamp(901_000)), None);
        assert_eq!(queue_delay_s(Timestamp(5_000), Timestamp(0)), Some(0));
    }
}
