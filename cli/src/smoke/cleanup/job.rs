//! Removes a job, through the API.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ureq::http::Request;
use ureq::{Agent, RequestExt};

/// Time limit for the end of a canceled job, which normally takes seconds, and for its deletion.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Timeout of one call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Statuses that mean "retry later": rate limited, busy.
const BUSY: [u16; 2] = [429, 503];

/// A response of the API.
#[derive(Clone, Default)]
pub(super) struct Response {
    pub(super) status: u16,
    /// The header `Retry-After`; empty if absent.
    pub(super) retry_after: String,
    pub(super) body: Value,
}

/// An API.
pub(super) trait Api {
    /// Sends a request. Fails if there is no response.
    fn call(&self, method: &str, path: &str) -> Result<Response>;
}

/// A clock that starts at zero.
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

/// Jobs of a deployment.
pub(super) struct Jobs<'a> {
    pub(super) api: &'a dyn Api,
    pub(super) clock: &'a dyn Clock,
}

impl Jobs<'_> {
    /// Cancels the job, waits until it has ended, and deletes it.
    pub(super) fn remove(&self, job: &str) -> Result<()> {
        let path = format!("/api/jobs/{job}");
        let deadline = self.clock.now() + TIMEOUT;
        self.call("POST", &format!("{path}/cancel"), deadline)?;
        self.wait_for_end(&path, deadline)?;
        let status = self.call("DELETE", &path, self.clock.now() + TIMEOUT)?.status;
        if !matches!(status, 202 | 204 | 404) {
            bail!("the API returned {status}");
        }
        Ok(())
    }

    /// Waits until the job has ended or does not exist, because a running job writes records. Fails if its status is
    /// unknown.
    fn wait_for_end(&self, path: &str, deadline: Duration) -> Result<()> {
        loop {
            let response = self.call("GET", path, deadline)?;
            match (response.status, response.body["status"].as_str()) {
                (404, _) => return Ok(()),
                (200, Some("completed" | "failed" | "canceled")) => return Ok(()),
                (200, Some("waiting" | "running")) => {}
                (status, _) => bail!("cannot read its status: the API returned {status}"),
            }
            if self.clock.now() > deadline {
                bail!("it has not ended after {} s", TIMEOUT.as_secs());
            }
            self.clock.sleep(Duration::from_secs(1));
        }
    }

    /// Calls the API. While the API is busy, retries until the deadline.
    fn call(&self, method: &str, path: &str, deadline: Duration) -> Result<Response> {
        loop {
            let response = self.api.call(method, path)?;
            let wait = delay(&response.retry_after);
            if !BUSY.contains(&response.status) || self.clock.now().saturating_add(wait) > deadline {
                return Ok(response);
            }
            self.clock.sleep(wait);
        }
    }
}

/// Parses `Retry-After`. Returns one second if it is absent or a date.
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
        // No proxy, because the API can be local.
        let config = Agent::config_builder().proxy(None).http_status_as_error(false);
        let config = config.timeout_global(Some(CALL_TIMEOUT)).build();
        let bearer = token.map(|token| format!("Bearer {token}"));
        Self { base: base.to_owned(), bearer, agent: Agent::new_with_config(config) }
    }
}

impl Api for HttpApi {
    fn call(&self, method: &str, path: &str) -> Result<Response> {
        let url = format!("{}{path}", self.base);
        let mut request = Request::builder().method(method).uri(&url);
        if let Some(bearer) = &self.bearer {
            request = request.header("authorization", bearer);
        }
        let response = if method == "POST" {
            // An empty body with a `Content-Length`: a `POST` without a body would be sent in chunks.
            request.body(&[] as &[u8])?.with_agent(&self.agent).run()
        } else {
            request.body(())?.with_agent(&self.agent).run()
        };
        let mut response = response.with_context(|| format!("{url} does not respond"))?;
        let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = retry_after.unwrap_or_default().to_owned();
        let text = response.body_mut().read_to_string().with_context(|| format!("the response of {url} broke off"))?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        Ok(Response { status: response.status().as_u16(), retry_after, body })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;

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
            Jobs { api: self, clock: self }.remove("j").map_err(|error| error.to_string())
        }
    }

    impl Api for Script {
        fn call(&self, method: &str, path: &str) -> Result<Response> {
            let response = self.responses.borrow_mut().pop().context("no more responses")?;
            self.calls.borrow_mut().push(format!("{method} {path} {}", response.status));
            Ok(response)
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

    fn busy(status: u16, retry_after: &str) -> Response {
        Response { retry_after: retry_after.to_owned(), ..response(status) }
    }

    fn job(status: &str) -> Response {
        Response { body: json!({ "status": status }), ..response(200) }
    }

    #[test]
    fn a_busy_api_is_called_again_until_the_job_has_ended() {
        let script = Script::new([
            busy(429, "3"),
            response(202),
            busy(429, "7"),
            response(503),
            job("running"),
            job("canceled"),
            busy(503, "2"),
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
        let script = Script::new([response(202)].into_iter().chain(vec![busy(429, "30"); 9]));
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
        assert_eq!(script.remove(), Err("the API returned 403".to_owned()));
    }

    #[test]
    fn a_retry_after_that_is_absent_or_a_date_means_one_second() {
        for (text, seconds) in [("3", 3), ("0", 1), ("", 1), ("Wed, 21 Oct 2026 07:28:00 GMT", 1)] {
            assert_eq!(delay(text), Duration::from_secs(seconds), "{text}");
        }
    }
}
