//! The second DynamoDB engine. `tests/second-engine.sh` builds it, starts it and runs the conformance suite on it. A
//! test that passes on the emulator and fails here shows a difference between the engines; the AWS documentation
//! decides which one is right.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use local_cloud::process::free_port;
use local_cloud::project::Project;

/// Name of the results table.
pub(super) const TABLE: &str = "second-engine";

/// The tests of one topic.
#[derive(Debug, Default, PartialEq)]
struct Topic {
    passed: u32,
    failed: Vec<String>,
}

/// Returns the command that runs the script on a free port. The script caches the engine in `LONGSHORE_CACHE_DIR`.
pub(super) fn command(project: &Project) -> Result<Command> {
    let mut script = Command::new("bash");
    script.current_dir(&project.root).arg("tests/second-engine.sh");
    script.env("LONGSHORE_DYNOXIDE_PORT", free_port()?.to_string());
    Ok(script)
}

/// Writes a row for each topic in the script's output.
pub(super) fn write_metrics(folder: &Path, log: &Path) -> Result<()> {
    let text = std::fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
    let mut lines = String::new();
    for (name, Topic { passed, failed }) in topics(&text) {
        let (tests, violations) = (passed as usize + failed.len(), failed.len());
        let cells = [
            ["topic".to_owned(), name],
            ["tests".to_owned(), tests.to_string()],
            ["passed".to_owned(), passed.to_string()],
            ["differing".to_owned(), failed.join(", ")],
            ["violations".to_owned(), violations.to_string()],
        ];
        lines += &format!("{}\n", serde_json::json!(cells));
    }
    let path = folder.join(format!("{TABLE}.jsonl"));
    if lines.is_empty() {
        Ok(())
    } else {
        std::fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Groups tests by topic, from lines such as `test topic::on_dynamodb::name ... ok`.
fn topics(output: &str) -> BTreeMap<String, Topic> {
    let mut topics = BTreeMap::<String, Topic>::new();
    for line in output.lines() {
        let Some((test, result)) = line.strip_prefix("test ").and_then(|line| line.split_once(" ... ")) else {
            continue;
        };
        let (topic, name) = test.split_once("::").unwrap_or((test, test));
        let topic = topics.entry(topic.to_owned()).or_default();
        match result {
            "ok" => topic.passed += 1,
            "FAILED" => topic.failed.push(name.to_owned()),
            _ => {}
        }
    }
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "running 3 tests\n\
        test concurrency::on_dynamodb::a_permit_is_taken_once ... ok\n\
        test ledger::on_dynamodb::a_commit_counts_once ... FAILED\n\
        test ledger::on_dynamodb::a_group_is_made_once ... ok\n\
        test result: FAILED. 2 passed; 1 failed\n";

    #[test]
    fn a_topic_has_a_row_with_its_failed_tests() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let log = dir.path().join("log");
        std::fs::write(&log, OUTPUT)?;
        write_metrics(dir.path(), &log)?;
        let tables = super::super::metrics::read(dir.path())?;
        assert_eq!(tables[TABLE].columns, ["topic", "tests", "passed", "differing", "violations"]);
        let rows = [["concurrency", "1", "1", "", "0"], ["ledger", "2", "1", "on_dynamodb::a_commit_counts_once", "1"]];
        assert_eq!(tables[TABLE].rows, rows);
        assert_eq!(super::super::metrics::violations(&tables), 1);
        Ok(())
    }

    #[test]
    fn a_run_without_tests_writes_no_metrics() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let log = dir.path().join("log");
        std::fs::write(&log, "error: the engine does not start\n")?;
        write_metrics(dir.path(), &log)?;
        assert!(super::super::metrics::read(dir.path())?.is_empty());
        Ok(())
    }
}
