//! Handlers that do one thing wrong: each has exactly its finding.

mod answers;
mod durations;
mod items;
mod pings;

use serde_json::{Value, json};

use super::endpoint::{Request, Response};
use super::handler::{self, is_recent, is_signed, pong, results};
use super::run::{Checked, check_endpoint};

pub(crate) type Respond = Box<dyn Fn(&Request) -> Response + Send + Sync>;

pub(crate) fn message(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

pub(crate) fn is_ping(message: &Value) -> bool {
    message["items"].is_null()
}

pub(crate) fn count(message: &Value) -> usize {
    message["items"].as_array().map_or(0, Vec::len)
}

/// Deviates in the answers to verified messages.
pub(crate) fn with(deviate: impl Fn(&Value) -> Option<Response> + Send + Sync + 'static) -> Respond {
    Box::new(move |request| {
        if !is_signed(request) || !is_recent(request) {
            return handler::perfect(request);
        }
        deviate(&message(request)).unwrap_or_else(|| handler::perfect(request))
    })
}

/// Deviates in the answers to pings.
pub(crate) fn ping(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Respond {
    with(move |message| {
        (message["schema"] == "longshore.ping/1").then(|| {
            let mut pong = pong(message);
            change(&mut pong);
            Response::json(200, pong.to_string())
        })
    })
}

/// Deviates in the results of batches.
pub(crate) fn batches(change: impl Fn(&Value, &mut Vec<Value>) + Send + Sync + 'static) -> Respond {
    with(move |message| {
        (!is_ping(message)).then(|| {
            let mut results = results(message);
            change(message, &mut results);
            Response::json(200, json!({ "results": results }).to_string())
        })
    })
}

/// Answers batches with this text, if they have so many items.
pub(crate) fn text(items: impl Fn(usize) -> bool + Send + Sync + 'static, status: u16, text: &'static str) -> Respond {
    with(move |message| (!is_ping(message) && items(count(message))).then(|| Response::json(status, text)))
}

pub(crate) fn find(respond: Respond, arguments: &[&str]) -> Checked {
    check_endpoint(respond, arguments)
}

/// Checks handlers, each of which must have one finding: "check status id".
pub(crate) fn each_has_its_finding(rows: Vec<(&'static str, Respond)>) {
    let runs = rows.into_iter().map(|(expected, respond)| {
        std::thread::spawn(move || difference(expected, &find(respond, &["--timeout", "10"])))
    });
    let wrong: Vec<_> = runs.collect::<Vec<_>>().into_iter().filter_map(|run| run.join().unwrap()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares a run with the one finding that it must have. Returns the difference.
fn difference(expected: &str, checked: &Checked) -> Option<String> {
    let findings = checked.findings();
    if findings != [expected] || checked.code != Some(i32::from(expected.contains(" failed "))) {
        return Some(format!("{expected}: {findings:?}, exit code {:?}", checked.code));
    }
    let finding = checked.checks().iter().find(|check| !check["finding"].is_null()).unwrap();
    let members = ["summary", "sent", "received", "why", "fix"];
    let absent = members.iter().find(|member| finding[*member].as_str().is_none_or(str::is_empty));
    let is_long = finding["received"].as_str().unwrap_or_default().chars().count() > 300;
    absent.map(|member| format!("{expected}: {member}")).or_else(|| is_long.then(|| format!("{expected}: too long")))
}
