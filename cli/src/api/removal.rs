//! The removal of a job: it is canceled, waited for, and deleted. Calls of a busy API are repeated.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::Value;

use super::answer::is_transient_status;
use super::client::Api;
use super::documents::is_final;
use super::http::Transient;

/// Time limit of each step. A canceled job normally ends within seconds.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Delay before another call, unless the API asks for a longer one.
const DELAY: Duration = Duration::from_secs(1);

/// Number of repetitions of a call that has no answer.
const MAX_LOST: u32 = 4;

/// A response of the API.
#[derive(Clone, Default)]
struct Response {
    status: u16,
    retry_after: Option<Duration>,
    body: Value,
}

/// The calls of an API.
trait Calls {
    /// Sends a request once.
    ///
    /// # Errors
    /// If there is no response.
    fn call(&self, method: &str, path: &str) -> Result<Response>;
}

impl Calls for Api {
    fn call(&self, method: &str, path: &str) -> Result<Response> {
        let mut answer = self.send(method, path, &[], None)?;
        let text = answer.response.body_mut().read_to_string();
        let text = text.map_err(|error| Transient(format!("the answer to {method} {path} ends early: {error}")))?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        Ok(Response { status: answer.status(), retry_after: answer.retry_after(), body })
    }
}

/// A clock that starts at zero.
trait Clock {
    fn now(&self) -> Duration;
    fn sleep(&self, time: Duration);
}

impl Clock for Instant {
    fn now(&self) -> Duration {
        self.elapsed()
    }

    fn sleep(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// The removal of jobs of a deployment.
pub(crate) struct JobRemoval<'a> {
    calls: &'a dyn Calls,
    clock: &'a dyn Clock,
}

impl<'a> JobRemoval<'a> {
    /// Creates the removal. `start` is the zero of its clock.
    pub(crate) fn new(api: &'a Api, start: &'a Instant) -> Self {
        Self { calls: api, clock: start }
    }

    /// Cancels the job, waits until it has ended, and deletes it.
    pub(crate) fn remove_job(&self, id: &str) -> Result<()> {
        self.cancel_job(id)?;
        self.wait_for_end(id, TIMEOUT)?;
        self.delete_job(id)
    }

    /// Cancels the job. One that has ended, or does not exist, is canceled.
    pub(crate) fn cancel_job(&self, id: &str) -> Result<()> {
        let response = self.call("POST", &format!("{}/cancel", path(id)), TIMEOUT)?;
        if response.status < 400 || matches!(response.status, 404 | 409) {
            return Ok(());
        }
        bail!("cannot cancel it: {}", response.describe())
    }

    /// Waits until the job has ended or does not exist, because a running job writes records. Returns its document;
    /// `None` if it does not exist.
    ///
    /// # Errors
    /// If its status is unknown, or the time is over.
    pub(crate) fn wait_for_end(&self, id: &str, timeout: Duration) -> Result<Option<Value>> {
        let deadline = self.clock.now() + timeout;
        loop {
            let response = self.call("GET", &path(id), deadline.saturating_sub(self.clock.now()))?;
            match (response.status, response.body["status"].as_str()) {
                (404, _) => return Ok(None),
                (200, Some(status)) if is_final(status) => return Ok(Some(response.body)),
                (200, Some(_)) => {}
                _ => bail!("cannot read its status: {}", response.describe()),
            }
            if self.clock.now() > deadline {
                bail!("it has not ended after {} s", timeout.as_secs());
            }
            self.clock.sleep(DELAY);
        }
    }

    /// Deletes the job with its files and its upload. One that does not exist is deleted.
    pub(crate) fn delete_job(&self, id: &str) -> Result<()> {
        let response = self.call("DELETE", &path(id), TIMEOUT)?;
        if response.status < 300 || response.status == 404 {
            return Ok(());
        }
        bail!("cannot delete it: {}", response.describe())
    }

    /// Calls the API. While the API is busy, repeats the call until the time is over. Every call is harmless twice.
    fn call(&self, method: &str, path: &str, timeout: Duration) -> Result<Response> {
        let deadline = self.clock.now() + timeout;
        let mut lost = 0;
        loop {
            let delay = match self.calls.call(method, path) {
                Ok(response) => {
                    let delay = response.retry_after.unwrap_or(DELAY).max(DELAY);
                    if !is_transient_status(response.status) || self.clock.now().saturating_add(delay) > deadline {
                        return Ok(response);
                    }
                    delay
                }
                Err(error) if lost == MAX_LOST || !error.is::<Transient>() => return Err(error),
                Err(_) => {
                    lost += 1;
                    DELAY
                }
            };
            self.clock.sleep(delay);
        }
    }
}

fn path(id: &str) -> String {
    format!("/api/jobs/{id}")
}

impl Response {
    /// Describes a refusal.
    fn describe(&self) -> String {
        let detail = self.body["detail"].as_str().map_or_else(String::new, |detail| format!(": {detail}"));
        format!("the API returned {}{detail}", self.status)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use anyhow::Context;
    use serde_json::json;

    use super::*;

    /// The status of a response that is lost.
    const LOST: u16 = 0;

    /// An API that returns a list of responses, and a clock that only `sleep` advances.
    #[derive(Default)]
    struct Script {
        responses: RefCell<Vec<Response>>,
        calls: RefCell<Vec<String>>,
        slept: RefCell<Vec<u64>>,
    }

    impl Script {
        fn new(responses: impl IntoIterator<Item = Response>) -> Self {
            let mut responses: Vec<_> = responses.into_iter().collect();
            responses.reverse();
            Self { responses: RefCell::new(responses), ..Self::default() }
        }

        fn remove(&self) -> Result<(), String> {
            JobRemoval { calls: self, clock: self }.remove_job("j").map_err(|error| error.to_string())
        }
    }

    impl Calls for Script {
        fn call(&self, method: &str, path: &str) -> Result<Response> {
            let response = self.responses.borrow_mut().pop().context("no more responses")?;
            self.calls.borrow_mut().push(format!("{method} {path} {}", response.status));
            if response.status == LOST { Err(Transient("lost".to_owned()).into()) } else { Ok(response) }
        }
    }

    impl Clock for Script {
        fn now(&self) -> Duration {
            Duration::from_secs(self.slept.borrow().iter().sum())
        }

        fn sleep(&self, time: Duration) {
            self.slept.borrow_mut().push(time.as_secs());
        }
    }

    fn response(status: u16) -> Response {
        Response { status, ..Response::default() }
    }

    fn busy(status: u16, seconds: u64) -> Response {
        Response { retry_after: Some(Duration::from_secs(seconds)), ..response(status) }
    }

    fn job(status: &str) -> Response {
        Response { body: json!({ "status": status }), ..response(200) }
    }

    #[test]
    fn a_busy_api_is_called_again_until_the_job_has_ended() {
        let script = Script::new([
            busy(429, 3),
            response(202),
            busy(429, 7),
            response(503),
            job("running"),
            job("canceled"),
            busy(503, 2),
            response(202),
        ]);
        assert_eq!(script.remove(), Ok(()));
        let expected = [
            "POST /api/jobs/j/cancel 429",
            "POST /api/jobs/j/cancel 202",
            "GET /api/jobs/j 429",
            "GET /api/jobs/j 503",
            "GET /api/jobs/j 200",
            "GET /api/jobs/j 200",
            "DELETE /api/jobs/j 503",
            "DELETE /api/jobs/j 202",
        ];
        assert_eq!(*script.calls.borrow(), expected);
        assert_eq!(*script.slept.borrow(), [3, 7, 1, 1, 2]);
    }

    #[test]
    fn removal_fails_if_the_api_stays_busy() {
        let script = Script::new([response(202)].into_iter().chain(vec![busy(429, 30); 9]));
        let expected = "cannot read its status: the API returned 429";
        assert_eq!(script.remove(), Err(expected.to_owned()));
        assert_eq!(script.now(), TIMEOUT);
    }

    #[test]
    fn removal_fails_if_the_job_does_not_end() {
        let script = Script::new([response(202)].into_iter().chain(vec![job("running"); 200]));
        assert_eq!(script.remove(), Err("it has not ended after 120 s".to_owned()));
    }

    #[test]
    fn a_job_that_does_not_exist_counts_as_removed_and_a_refused_deletion_does_not() {
        assert_eq!(Script::new(vec![response(404); 3]).remove(), Ok(()));
        let script = Script::new([response(409), job("completed"), response(403)]);
        assert_eq!(script.remove(), Err("cannot delete it: the API returned 403".to_owned()));
    }

    #[test]
    fn a_delay_is_at_least_a_second() {
        for (first, seconds) in [(busy(429, 3), 3), (busy(429, 0), 1), (response(429), 1), (response(LOST), 1)] {
            let script = Script::new([first, response(404), response(404), response(404)]);
            assert_eq!((script.remove(), script.now()), (Ok(()), Duration::from_secs(seconds)));
        }
    }

    #[test]
    fn an_api_that_does_not_answer_is_called_five_times() {
        let script = Script::new(vec![response(LOST); 9]);
        assert_eq!((script.remove(), script.calls.borrow().len()), (Err("lost".to_owned()), 5));
    }

    #[test]
    fn the_document_of_the_end_is_returned() -> Result<()> {
        let script = Script::new([job("running"), job("failed"), response(404)]);
        let removal = JobRemoval { calls: &script, clock: &script };
        assert_eq!(removal.wait_for_end("j", TIMEOUT)?, Some(json!({ "status": "failed" })));
        assert_eq!(removal.wait_for_end("j", TIMEOUT)?, None);
        Ok(())
    }
}
