//! All queries of one stack, the list of those that failed, and the version of the API.

use anyhow::{Context, Result};
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use crate::api::{Answer, Api};
use crate::aws::inventory::Inventory;
use crate::aws::session::Session;
use crate::aws::target::Target;
use crate::operators::doctor::facts::{ApiAnswer, Facts, Skipped, Stack};

/// Status of an answer to one of too many calls.
const TOO_MANY_CALLS: u16 = 429;

/// The queries of one stack.
pub(super) struct Observer<'a> {
    pub(super) session: &'a Session,
    pub(super) inventory: &'a Inventory,
    pub(super) now: Timestamp,
    skipped: Vec<Skipped>,
}

/// Observes a stack.
pub(in crate::operators::doctor) fn observe(target: &Target) -> Facts {
    let (session, inventory) = (&target.session, &target.inventory);
    let mut observer = Observer { session, inventory, now: Timestamp::now(), skipped: Vec::new() };
    let stack = Stack {
        name: target.name.clone(),
        endpoint: target.endpoint.clone(),
        status: inventory.status.clone(),
        reason: inventory.reason.clone(),
        created_at: inventory.created_at,
        parameters: inventory.parameters.clone(),
        api_url: inventory.outputs.get("ApiUrl").cloned(),
    };
    let (queues, (alarms, missing_alarms)) = (observer.queues(), observer.alarms());
    Facts {
        alarms,
        missing_alarms,
        foreign_readers: observer.foreign_readers(&queues),
        queues,
        functions: observer.functions(),
        mappings: observer.mappings(),
        quota: observer.quota(),
        tables: observer.tables(),
        cors: observer.cors(),
        schedules: observer.schedules(),
        open_breakers: observer.open_breakers(stack.parameter("ImageJobs") == "true"),
        jobs: observer.jobs(),
        failing_webhooks: observer.failing_webhooks(),
        api: target.api_url().map(|url| api(&url)),
        now: observer.now,
        skipped: observer.skipped,
        stack,
    }
}

impl Observer<'_> {
    /// Waits for a query. If it fails, notes what was not observed.
    pub(super) fn wait<T>(&mut self, what: &str, query: impl Future<Output = Result<T>>) -> Option<T> {
        match self.session.block_on(query) {
            Ok(found) => Some(found),
            Err(error) => {
                self.skip(what, format!("{error:#}"));
                None
            }
        }
    }

    pub(super) fn skip(&mut self, what: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(Skipped { what: what.into(), reason: reason.into() });
    }

    /// Returns an output of the stack, or notes that it is missing.
    pub(super) fn output(&mut self, name: &str, what: &str) -> Option<String> {
        let output = self.inventory.outputs.get(name).cloned();
        if output.is_none() {
            self.skip(what, format!("the stack has no output {name}"));
        }
        output
    }
}

/// Asks the API for its version, which needs no token. Faults that may pass are tried again.
fn api(url: &str) -> ApiAnswer {
    let action = "reading the version of the API";
    let answer = Api::new(url, None).repeat("GET", "/api/openapi.json", &[], None, action);
    match answer {
        Ok(answer) if answer.status() == TOO_MANY_CALLS => ApiAnswer::Throttled,
        answer => answer.and_then(|answer| version(answer, action)).map_or_else(failure, ApiAnswer::Version),
    }
}

fn version(answer: Answer, action: &str) -> Result<String> {
    let document: Value = answer.success(action)?.json(action)?;
    document["info"]["version"].as_str().map(str::to_owned).with_context(|| format!("{action}: it has none"))
}

fn failure(error: anyhow::Error) -> ApiAnswer {
    ApiAnswer::Failed(format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Asks an API that gives these answers, one after the other, and then none.
    fn ask(answers: &[(u16, &str)]) -> ApiAnswer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Vec<_> = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let server = std::thread::spawn(move || {
            for (status, body) in answers {
                let (mut connection, _) = listener.accept().unwrap();
                let (mut request, mut part) = (Vec::new(), [0; 1024]);
                while !request.ends_with(b"\r\n\r\n") {
                    let length = connection.read(&mut part).unwrap();
                    request.extend_from_slice(&part[..length]);
                }
                // Without a delay, so that the test does not wait.
                let head = format!("HTTP/1.1 {status} \r\nretry-after: 0\r\nconnection: close\r\n");
                write!(connection, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
            }
        });
        let answer = api(&url);
        server.join().unwrap();
        answer
    }

    const DOCUMENT: (u16, &str) = (200, r#"{"info":{"version":"1.2.3"}}"#);

    #[test]
    fn an_answer_that_can_pass_is_asked_for_again() {
        let version = ApiAnswer::Version("1.2.3".to_owned());
        for first in [429, 500, 503] {
            assert_eq!(ask(&[(first, ""), DOCUMENT]), version, "{first}");
        }
    }

    #[test]
    fn an_api_is_throttled_only_if_every_try_is_refused_so() {
        assert_eq!(ask(&[(429, ""); 5]), ApiAnswer::Throttled);
        for answers in [vec![(503, ""); 5], vec![(404, "{}")], vec![(200, "{}")]] {
            assert!(matches!(ask(&answers), ApiAnswer::Failed(_)), "{answers:?}");
        }
    }
}
