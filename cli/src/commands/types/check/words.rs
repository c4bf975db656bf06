//! Descriptions of responses and outcomes, for people.

use std::collections::BTreeMap;

use longshore_domain::outcome::Outcome;
use longshore_domain::remote::{Fault, ItemOutcome};
use longshore_domain::text::shortened;
use serde_json::Value;

use super::exchange::{Exchange, Response};
pub(super) use crate::output::duration;

/// Maximum characters of a response that are shown.
const SHOWN_CHARS: usize = 200;

/// Describes a response, with the first characters of its body.
pub(super) fn response(exchange: &Exchange) -> String {
    let took = duration(exchange.took);
    let body = excerpt(exchange.body());
    match &exchange.response {
        Response::Http { status, .. } => {
            let location = exchange.headers.location.as_ref().map(|to| format!(" to {}", safe(to))).unwrap_or_default();
            format!("HTTP {status}{location} in {took}: {body}")
        }
        Response::Returned(_) => format!("a return value in {took}: {body}"),
        Response::FunctionError(_) => format!("a function error in {took}: {body}"),
        Response::LambdaError { name, message, .. } => format!("{} after {took}: {}", safe(name), safe(message)),
        Response::TooLarge => format!("more than 4 MiB in {took}"),
        Response::TimedOut(phase) => format!("nothing in {took}: {phase}"),
        Response::Unreachable(_, detail) | Response::Broken(detail) => {
            format!("no answer after {took}: {}", safe(detail))
        }
    }
}

/// Describes a response that is an answer: without its body.
pub(super) fn answer(exchange: &Exchange) -> String {
    match &exchange.response {
        Response::Http { status, .. } => format!("HTTP {status} in {}", duration(exchange.took)),
        _ => format!("an answer in {}", duration(exchange.took)),
    }
}

/// Describes a fault, with what the error document of a function says.
pub(super) fn fault(fault: &Fault, exchange: &Exchange) -> String {
    let text = fault.to_string();
    match &exchange.response {
        Response::FunctionError(document) => function_error(document),
        _ => text.strip_prefix("bad_answer: ").unwrap_or(&text).to_owned(),
    }
}

/// Describes the error document of a Lambda function.
pub(super) fn function_error(document: &[u8]) -> String {
    let document: Value = serde_json::from_slice(document).unwrap_or_default();
    let text = |name: &str| document[name].as_str().unwrap_or_default();
    let (kind, message) = (text("errorType"), text("errorMessage"));
    let has = |word: &str| kind.contains(word) || message.contains(word);
    if has("Timedout") || has("Task timed out") {
        return "the function reached its own time-out: raise its Timeout above the time-out of the job type, and stop \
                before the deadline of the batch"
            .to_owned();
    }
    if has("OutOfMemory") || has("signal: killed") {
        return "the function ran out of memory: raise its MemorySize, or register smaller batches".to_owned();
    }
    if has("ImportModuleError") || has("HandlerNotFound") || has("InvalidEntrypoint") {
        return format!("the function cannot start ({}): its package or its handler setting is wrong", safe(kind));
    }
    format!(
        "the function failed with {}; see its log",
        if kind.is_empty() { "an error".to_owned() } else { safe(kind) }
    )
}

/// Returns the first characters of a body.
pub(super) fn excerpt(body: &[u8]) -> String {
    if body.is_empty() {
        return "an empty body".to_owned();
    }
    let first = &body[..body.len().min(SHOWN_CHARS * 4)];
    safe(&String::from_utf8_lossy(first))
}

/// Shortens a text of the handler, and replaces characters that a terminal would obey.
fn safe(text: &str) -> String {
    shortened(text, SHOWN_CHARS).chars().map(|c| if c.is_control() { '·' } else { c }).collect()
}

/// Names an outcome with its code.
pub(super) fn label(outcome: &ItemOutcome) -> String {
    match outcome {
        Outcome::Ok(_) => "ok".to_owned(),
        Outcome::Skip { reason } => format!("skip {reason}"),
        Outcome::Reject(rejection) => format!("reject {}", rejection.code),
        Outcome::Retry { .. } | Outcome::Busy { .. } => "retry".to_owned(),
        Outcome::Fatal(rejection) => format!("fatal {}", rejection.code),
    }
}

/// Counts outcomes: "8 ok, 2 reject bad_email".
pub(super) fn counts(outcomes: &[Option<ItemOutcome>]) -> String {
    const SHOWN: usize = 5;
    let mut counts = BTreeMap::<_, usize>::new();
    outcomes.iter().flatten().for_each(|outcome| *counts.entry(label(outcome)).or_default() += 1);
    let mut texts: Vec<_> = counts.iter().take(SHOWN).map(|(label, count)| format!("{count} {label}")).collect();
    texts.extend((counts.len() > SHOWN).then(|| format!("{} other outcomes", counts.len() - SHOWN)));
    texts.join(", ")
}

/// Writes a number of times.
pub(super) fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_safe_for_a_terminal() {
        assert_eq!(excerpt(b"a\x1b[2Jb\n\xff"), "a·[2Jb·\u{fffd}");
        assert_eq!(excerpt("ä".repeat(300).as_bytes()).chars().count(), SHOWN_CHARS + 1);
        assert_eq!(excerpt(b""), "an empty body");
    }

    #[test]
    fn a_function_error_has_a_cause_and_a_fix() {
        for (document, words) in [
            (
                r#"{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: 1 Error: Task timed out after 3.00 seconds"}"#,
                "its own time-out",
            ),
            (r#"{"errorMessage":"2026-01-01T00:00:00Z 1 Task timed out after 3.00 seconds"}"#, "its own time-out"),
            (
                r#"{"errorType":"Runtime.ExitError","errorMessage":"RequestId: 1 Error: Runtime exited with error: signal: killed"}"#,
                "out of memory",
            ),
            (r#"{"errorType":"Runtime.OutOfMemory"}"#, "out of memory"),
            (r#"{"errorType":"Runtime.ImportModuleError"}"#, "cannot start"),
            (r#"{"errorType":"KeyError","errorMessage":"'email'"}"#, "failed with KeyError"),
            ("x", "an error"),
        ] {
            assert!(function_error(document.as_bytes()).contains(words), "{document}");
        }
    }
}
