//! Finds port calls in a function's code: its own sources, and the parts of `shared` that it uses.
//!
//! This is a text search: `store.job(` is a call of the port's method `job`. It also finds code that a function never
//! runs, and it misses a port under another name. The flow tests, which enforce policies, find those.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Parts of `shared/src` that call ports, and the functions that run them.
const SHARED: [(&str, &[&str]); 13] = [
    ("process-item", &["chunk", "job_types", "pause_cache.rs"]),
    ("call-handler", &["chunk", "pause_cache.rs", "remote"]),
    (
        "sweep",
        // It passes no item to a handler, so it reads no records.
        &[
            "chunk/attempt.rs",
            "chunk/chain.rs",
            "chunk/commit.rs",
            "chunk/definition_cache.rs",
            "chunk/delivery_recorder.rs",
            "chunk/ending.rs",
            "chunk/items.rs",
            "chunk/limiter.rs",
            "chunk/tolerance_stop.rs",
            "chunk/work.rs",
            "chunk/worker.rs",
            "events",
            "ports.rs",
            "webhooks/messages.rs",
            "../schedules/src/fire.rs",
        ],
    ),
    (
        "create-job",
        &["header", "chunk/chain.rs", "chunk/chunk_reader.rs", "chunk/ending.rs", "events", "webhooks/messages.rs"],
    ),
    ("complete-job", &["header", "chunk/chain.rs", "chunk/chunk_reader.rs", "events", "webhooks/messages.rs"]),
    (
        "jobs-api",
        &[
            "header",
            "job_request",
            "job_retry.rs",
            "chunk/ending.rs",
            "events/document.rs",
            "pause_cache.rs",
            "ports.rs",
            "stored_report.rs",
            "waiting.rs",
            "webhooks/messages.rs",
            "../schedules/src/fire.rs",
        ],
    ),
    ("prepare", &["header", "chunk/ending.rs"]),
    ("deliver", &["webhooks", "events/document.rs"]),
    ("operations", &["job_request/known_types.rs", "job_retry.rs", "ports.rs", "stored_report.rs", "waiting.rs"]),
    ("image-handler", &[]),
    ("inspect", &["header", "inspection", "job_request"]),
    ("upload", &[]),
    ("web", &[]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all code of a file or folder, without tests, comments and white space.
fn code(path: &Path) -> String {
    let mut text = String::new();
    if path.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("_tests")) {
        return text;
    }
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        text.extend(entries.iter().map(|entry| code(entry)));
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let file = fs::read_to_string(path).unwrap();
        let product = file.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let lines = product.lines().filter(|line| !line.trim_start().starts_with("//"));
        text.extend(lines.flat_map(str::split_whitespace));
    }
    text
}

/// Returns the code that a function can run.
fn function_code(function: &str) -> &'static str {
    static CODE: OnceLock<BTreeMap<&'static str, String>> = OnceLock::new();
    let functions = CODE.get_or_init(|| SHARED.iter().map(|(name, parts)| (*name, read(name, parts))).collect());
    functions.get(function).unwrap_or_else(|| panic!("{function} needs a row in SHARED"))
}

fn read(function: &str, parts: &[&str]) -> String {
    let own = code(&root().join("functions").join(function).join("src"));
    for module in ["chunk", "events", "header", "inspection", "job_request", "job_retry", "stored_report", "webhooks"] {
        let has_row = parts.iter().any(|part| part.starts_with(module));
        assert!(
            has_row || !own.contains(&format!("longshore::{module}")),
            "{function} uses {module}: add it to its row"
        );
    }
    let sends_create = own.contains("ports.send_create(");
    assert!(
        !sends_create || parts.contains(&"ports.rs"),
        "{function} calls ports.send_create: add ports.rs to its row"
    );
    let shared = parts.iter().map(|part| {
        let path = root().join("shared/src").join(part);
        assert!(path.exists(), "{} has moved", path.display());
        code(&path)
    });
    own + &shared.collect::<String>()
}

/// Returns true if a function's code calls `receiver.method(` on one of the receivers.
pub(super) fn calls(function: &str, receivers: &[&str], method: &str) -> bool {
    let code = function_code(function);
    receivers.iter().any(|receiver| {
        code.match_indices(&format!("{receiver}.{method}(")).any(|(at, _)| {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            !(before.is_alphanumeric() || before == '_') || KEYWORDS.iter().any(|word| code[..at].ends_with(word))
        })
    })
}

/// Keywords that can directly precede a receiver, because white space is removed.
const KEYWORDS: [&str; 5] = ["match", "return", "if", "in", "await"];

/// Lists the methods of the ports that a file declares.
pub(super) fn methods(path: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let traits = text.split("\npub trait ").skip(1).filter_map(|tail| tail.split("\n}").next());
    let methods = traits.flat_map(|body| body.split("\n    fn ").skip(1).map(str::to_owned).collect::<Vec<_>>());
    methods.map(|method| method.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}
