//! Removal of a job, through the API.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::http::Request;
use ureq::{Agent, RequestExt};

/// Time for a canceled job to end, which normally takes seconds, and for its deletion.
const PATIENCE: Duration = Duration::from_secs(120);
/// Timeout of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Rate limited or busy: retry later.
const BUSY: [u16; 2] = [429, 503];

/// An answer of the API.
#[derive(Clone, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The header `Retry-After`; empty if absent.
    pub(super) retry_after: String,
    pub(super) body: Value,
}

/// The calls of an API.
pub(super) trait Api {
    /// Sends a call. Fails if no answer comes.
    fn call(&self, method: &str, path: &str) -> Result<Answer>;
}

/// Time since a start.
pub(super) trait Clock {
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

/// The jobs of a deployment.
pub(super) struct Jobs<'a> {
    pub(super) api: &'a dyn Api,
    pub(super) clock: &'a dyn Clock,
}

impl Jobs<'_> {
    /// Cancels the job, waits until it has ended, and deletes it.
    pub(super) fn remove(&self, job: &str) -> Result<()> {
        let path = format!("/api/jobs/{job}");
        let deadline = self.clock.now() + PATIENCE;
        self.call("POST", &format!("{path}/cancel"), deadline)?;
        self.wait_for_end(&path, deadline)?;
        let status = self.call("DELETE", &path, self.clock.now() + PATIENCE)?.status;
        if !matches!(status, 202 | 204 | 404) {
            bail!("the API answered {status}");
        }
        Ok(())
    }

    /// Waits until the job has ended or does not exist; until then it writes records. Fails if its state is unknown.
    fn wait_for_end(&self, path: &str, deadline: Duration) -> Result<()> {
        loop {
            let answer = self.call("GET", path, deadline)?;
            match (answer.status, answer.body["status"].as_str()) {
                (404, _) => return Ok(()),
                (200, Some("waiting" | "running")) => {}
                (200, _) => return Ok(()),
                (status, _) => bail!("whether it has ended is unknown: the API answered {status}"),
            }
            if self.clock.now() > deadline {
                bail!("it has not ended after {} s", PATIENCE.as_secs());
            }
            self.clock.sleep(Duration::from_secs(1));
        }
    }

    /// Calls the API. Retries until the deadline while the API is busy.
    fn call(&self, method: &str, path: &str, deadline: Duration) -> Result<Answer> {
        loop {
            let answer = self.api.call(method, path)?;
            let wait = delay(&answer.retry_after);
            if !BUSY.contains(&answer.status) || self.clock.now() + wait > deadline {
                return Ok(answer);
            }
            self.clock.sleep(wait);
        }
    }
}

/// Parses the seconds of `Retry-After`; one if it is absent or a date.
fn delay(retry_after: &str) -> Duration {
    Duration::from_secs(retry_after.parse().unwrap_or(1).max(1))
}

/// An API over HTTP.
pub(super) struct HttpApi {
    base: String,
    bearer: Option<String>,
    agent: Agent,
}

impl HttpApi {
    pub(super) fn new(base: &str, token: Option<&str>) -> Self {
        // No proxy, because the API may be a local port.
        let config = Agent::config_builder().proxy(None).http_status_as_error(false);
        let config = config.timeout_global(Some(CALL_TIMEOUT)).build();
        let bearer = token.map(|token| format!("Bearer {token}"));
        Self { base: base.to_owned(), bearer, agent: Agent::new_with_config(config) }
    }
}

impl Api for HttpApi {
    fn call(&self, method: &str, path: &str) -> Result<Answer> {
        let url = format!("{}{path}", self.base);
        let mut request = Request::builder().method(method).uri(&url);
        if let Some(bearer) = &self.bearer {
            request = request.header("authorization", bearer);
        }
        // An empty body: `POST` needs one.
        let request = request.body(())?.with_agent(&self.agent);
        let mut answer = request.run().with_context(|| format!("{url} does not answer"))?;
        let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = retry_after.unwrap_or_default().to_owned();
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        let body = serde_json::from_str(&text).unwrap_or_default();
        Ok(Answer { status: answer.status().as_u16(), retry_after, body })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;

    /// An API that answers from a list, and a clock that only sleeps move.
    #[derive(Default)]
    struct Script {
        answers: RefCell<Vec<Answer>>,
        calls: RefCell<Vec<String>>,
        slept: RefCell<Vec<u64>>,
    }

    impl Script {
        fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
            let mut answers: Vec<_> = answers.into_iter().collect();
            answers.reverse();
            Self { answers: RefCell::new(answers), ..Self::default() }
        }

        fn remove(&self) -> Result<(), String> {
            Jobs { api: self, clock: self }.remove("j").map_err(|error| error.to_string())
        }
    }

    impl Api for Script {
        fn call(&self, method: &str, path: &str) -> Result<Answer> {
            let answer = self.answers.borrow_mut().pop().context("no more answers")?;
            self.calls.borrow_mut().push(format!("{method} {path} {}", answer.status));
            Ok(answer)
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

    fn answer(status: u16) -> Answer {
        Answer { status, ..Answer::default() }
    }

    fn busy(status: u16, retry_after: &str) -> Answer {
        Answer { retry_after: retry_after.to_owned(), ..answer(status) }
    }

    fn job(status: &str) -> Answer {
        Answer { body: json!({ "status": status }), ..answer(200) }
    }

    #[test]
    fn a_busy_api_is_asked_again_until_the_job_has_ended() {
        let script = Script::new([
            busy(429, "3"),
            answer(202),
            busy(429, "7"),
            answer(503),
            job("running"),
            job("canceled"),
            busy(503, "2"),
            answer(202),
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
    fn an_api_that_stays_busy_is_given_up() {
        let script = Script::new([answer(202)].into_iter().chain(vec![busy(429, "30"); 9]));
        let expected = "whether it has ended is unknown: the API answered 429";
        assert_eq!(script.remove(), Err(expected.to_owned()));
        assert_eq!(script.now(), PATIENCE);
    }

    #[test]
    fn a_job_that_never_ends_is_given_up() {
        let script = Script::new([answer(202)].into_iter().chain(vec![job("running"); 200]));
        assert_eq!(script.remove(), Err("it has not ended after 120 s".to_owned()));
    }

    #[test]
    fn a_job_that_is_gone_is_removed_and_one_that_cannot_be_deleted_is_not() {
        assert_eq!(Script::new(vec![answer(404); 3]).remove(), Ok(()));
        let script = Script::new([answer(409), job("completed"), answer(403)]);
        assert_eq!(script.remove(), Err("the API answered 403".to_owned()));
    }

    #[test]
    fn a_date_or_nothing_is_a_second() {
        for (text, seconds) in [("3", 3), ("0", 1), ("", 1), ("Wed, 21 Oct 2026 07:28:00 GMT", 1)] {
            assert_eq!(delay(text), Duration::from_secs(seconds), "{text}");
        }
    }
}
