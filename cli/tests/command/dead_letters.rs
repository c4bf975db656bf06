//! The list of dead letters, on a server that imitates the API.

use std::process::Command;

use serde_json::{Value, json};

use super::server::{Call, Server};

/// Runs `dead-letters` with these arguments. Returns its output.
fn dead_letters(server: &Server, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.arg("dead-letters").args(["--api-url", &server.url]).args(arguments).current_dir(folder.path());
    longshore.env_remove("LONGSHORE_TOKEN").env("XDG_CONFIG_HOME", folder.path());
    let output = longshore.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert_eq!(error, format!("Deployment: {}\n", server.url), "an operator sees which one it is");
    String::from_utf8(output.stdout).unwrap()
}

/// A dead letter as the API lists it, with members that the table does not show.
fn dead_letter(id: &str) -> Value {
    json!({ "letterId": id, "queue": "chunk", "kind": "chunk", "jobId": "j", "jobStatus": "completed", "tenant": "acme",
        "jobType": "invite", "group": 2, "chunk": 5, "firstItem": 51, "itemCount": 50,
        "seenAt": "2026-07-01T09:00:00Z", "replay": "generation" })
}

#[test]
fn a_list_is_the_documents_of_all_pages_as_json_or_a_table() {
    let mut pages = [("a", json!("c")), ("b", Value::Null)].into_iter().cycle();
    let server = Server::start(move |_: &Call| {
        let (id, next) = pages.next().unwrap();
        (200, json!({ "deadLetters": [dead_letter(id)], "nextCursor": next }))
    });
    let printed: Value = serde_json::from_str(&dead_letters(&server, &["list", "--json"])).unwrap();
    assert_eq!(printed, json!({ "deadLetters": [dead_letter("a"), dead_letter("b")] }));
    let table = dead_letters(&server, &["list"]);
    assert!(
        table.contains("\na   chunk  job j (completed), 50 rows from 51") && table.contains("\n2 open."),
        "{table}"
    );
}

#[test]
fn an_empty_list_is_an_empty_document_or_a_sentence() {
    let server = Server::start(|_: &Call| (200, json!({ "deadLetters": [], "nextCursor": null })));
    let filter = ["list", "--queue", "chunk", "--job", "j"];
    let printed: Value = serde_json::from_str(&dead_letters(&server, &[&filter[..], &["--json"]].concat())).unwrap();
    assert_eq!(printed, json!({ "deadLetters": [] }));
    assert_eq!(dead_letters(&server, &filter), "There are no open dead letters that match.\n");
    assert_eq!(dead_letters(&server, &[]), "There are no open dead letters.\n");
}
