//! Rows of the tables.

use serde_json::Value;

use crate::output::documents::{status, text};

/// Codes of the actions in the operators' log, each with the words of the page.
const ACTIONS: [(&str, &str); 8] = [
    ("replayDeadLetter", "Replayed a dead letter"),
    ("replayDeadLettersOfJob", "Replayed the dead letters of a job"),
    ("discardDeadLetter", "Discarded a dead letter"),
    ("retryFailures", "Retried failures"),
    ("pause", "Paused"),
    ("resume", "Ended a pause"),
    ("readDeadLetter", "Read the rows of a dead letter"),
    ("other", "Did something that this version does not know"),
];

/// Returns a job as a row.
pub(super) fn job(job: &Value) -> [String; 7] {
    let status = status(&job["status"], &job["waitingFor"]["reason"]);
    [
        text(&job["jobId"]),
        text(&job["tenant"]),
        text(&job["jobType"]),
        status,
        text(&job["itemCount"]),
        text(&job["counts"]["failed"]),
        text(&job["createdAt"]),
    ]
}

/// Returns a queue as a row.
pub(super) fn queue(queue: &Value) -> [String; 5] {
    ["queue", "visible", "inFlight", "delayed", "oldestSeconds"].map(|name| text(&queue[name]))
}

/// Returns a handler as a row.
pub(super) fn handler(handler: &Value) -> [String; 7] {
    let more = if handler["hasMoreParkedChunks"] == true { "+" } else { "" };
    [
        text(&handler["name"]),
        text(&handler["status"]),
        breaker(&handler["breaker"]["state"]),
        text(&handler["breaker"]["openSince"]),
        format!("{} of {}", text(&handler["permitsInUse"]), text(&handler["concurrencyNow"])),
        text(&handler["itemsPerSecond"]),
        format!("{}{more}", text(&handler["parkedChunks"])),
    ]
}

/// Returns an entry of the operators' log as a row.
pub(super) fn log_entry(entry: &Value) -> [String; 6] {
    let scope = &entry["scope"];
    let jobs = scope["jobIds"].as_array().map_or(0, Vec::len);
    let names = ["letterId", "code", "jobType", "tenant"].map(|name| &scope[name]);
    let named = names.into_iter().chain([&scope["jobIds"][0]]).find_map(Value::as_str);
    let concerns = match (named, jobs) {
        (Some(named), 0 | 1) => named.to_owned(),
        (Some(named), jobs) => format!("{named}, {jobs} jobs"),
        (None, _) => "-".to_owned(),
    };
    // Not the name alone: its bearer may be able to choose it.
    let operator = match entry["operatorName"].as_str() {
        Some(name) => format!("{name} ({})", text(&entry["operator"])),
        None => text(&entry["operator"]),
    };
    let result = match entry["result"]["detail"].as_str() {
        Some(detail) => detail.to_owned(),
        None => "unknown".to_owned(),
    };
    [text(&entry["at"]), operator, action(&entry["action"]), concerns, text(&entry["reason"]), result]
}

/// Returns the state of a circuit breaker; that of an open one is the name of its section in the runbook.
fn breaker(state: &Value) -> String {
    match state.as_str() {
        Some("unreachable") => "handler_unavailable".to_owned(),
        Some("batchesFail") => "handler_failing".to_owned(),
        _ => text(state),
    }
}

/// Returns an action in words; the code of one that a later version has.
fn action(code: &Value) -> String {
    let known = ACTIONS.iter().find(|(known, _)| code == known);
    known.map_or_else(|| text(code), |(_, words)| (*words).to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Has the same words.
    const PAGE: &str = include_str!("../../../../web/page/src/text/operations.ts");
    /// Has a section for each reason of an open breaker.
    const RUNBOOK: &str = include_str!("../../../../docs/runbook.md");

    #[test]
    fn documents_are_rows() {
        let waits = json!({ "jobId": "j", "tenant": "acme", "jobType": "invite", "status": "running", "itemCount": 7,
            "counts": null, "waitingFor": { "reason": "rate_limit" }, "createdAt": "t" });
        assert_eq!(job(&waits), ["j", "acme", "invite", "running (rate_limit)", "7", "-", "t"]);
        let work = json!({ "queue": "chunkHigh", "visible": 3, "inFlight": 2, "delayed": 0, "oldestSeconds": null });
        assert_eq!(queue(&work), ["chunkHigh", "3", "2", "0", "-"]);
        let open = json!({ "name": "invite", "status": "active",
            "breaker": { "state": "unreachable", "openSince": "t" }, "permitsInUse": 1, "concurrencyNow": 5, "itemsPerSecond": null, "parkedChunks": 40,
            "hasMoreParkedChunks": true });
        assert_eq!(handler(&open), ["invite", "active", "handler_unavailable", "t", "1 of 5", "-", "40+"]);
        let retried = json!({ "at": "t", "operator": "o", "operatorName": null, "action": "retryFailures",
            "reason": "r", "scope": { "code": "late", "jobIds": ["a", "b"] }, "result": null });
        assert_eq!(log_entry(&retried), ["t", "o", "Retried failures", "late, 2 jobs", "r", "unknown"]);
        let named = json!({ "at": "t", "operator": "o", "operatorName": "Olga", "action": "resume", "reason": "r",
            "scope": { "tenant": "acme" }, "result": { "detail": "ended" } });
        assert_eq!(log_entry(&named), ["t", "Olga (o)", "Ended a pause", "acme", "r", "ended"]);
    }

    #[test]
    fn an_open_breaker_is_named_by_its_section_of_the_runbook() {
        for state in ["unreachable", "batchesFail"] {
            let name = breaker(&json!(state));
            assert!(RUNBOOK.contains(&format!("\n### {name}\n")), "{name}");
        }
        assert_eq!(breaker(&json!("closed")), "closed");
    }

    #[test]
    fn actions_have_the_words_of_the_page() {
        for (code, words) in ACTIONS {
            assert!(PAGE.contains(&format!("\n        {code}: \"{words}\",\n")), "{code}: {words}");
        }
        assert_eq!(action(&json!("startAgain")), "startAgain", "of a later version");
    }
}
