//! Handlers that are slow or busy.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::super::endpoint::Response;
use super::super::handler::now;
use super::{count, each_has_its_finding, find, with};

#[test]
fn durations() {
    each_has_its_finding(vec![
        (
            "large_batch warning slow_batch",
            with(|message| {
                let deadline = message["batch"]["deadline"].as_str()?;
                let deadline = longshore_domain::timestamp::Timestamp::parse_rfc3339(deadline).unwrap();
                let left = u64::try_from(deadline.0 - now().as_millis() as i64).unwrap();
                if count(message) > 100 {
                    sleep(Duration::from_millis(left.saturating_sub(1_000).min(5_500)));
                }
                None
            }),
        ),
        (
            "deadline warning late_answer",
            with(|message| {
                if count(message) > 100 {
                    sleep(Duration::from_millis(2_400));
                }
                None
            }),
        ),
    ]);
}

#[test]
fn a_busy_handler_is_called_again_not_before_the_time_that_it_asked_for() {
    let calls = AtomicU32::new(0);
    let last = Mutex::new(Duration::ZERO);
    let respond = with(move |message| {
        if count(message) != 10 {
            return None;
        }
        let waited = now() - std::mem::replace(&mut *last.lock().unwrap(), now());
        match calls.fetch_add(1, Ordering::SeqCst) {
            0 => Some(Response { headers: vec![("retry-after", "2".into())], ..Response::json(429, "") }),
            1 if waited < Duration::from_secs(2) => Some(Response::json(500, "too early")),
            _ => None,
        }
    });
    let checked = find(respond, &[]);
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    assert_eq!(checked.check("batch")["notes"], json!(["busy once before its answer"]));
}
