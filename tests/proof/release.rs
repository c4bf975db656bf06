//! A release as deployed to AWS: `cargo xtask prove release` builds it with cargo-lambda, whose flags differ from
//! those of plain cargo.

use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::{Report, Watch, csv_rows};
use serde_json::json;

#[test]
fn in_a_release_build_a_row_that_panics_fails_alone() {
    if std::env::var_os(measurements::PROBE).is_none() {
        return measurements::skipped("it needs a release build: run cargo xtask prove release");
    }
    let stack = Stack::start(&StackOptions { probe: true, ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the stack does not start: {error:?}"));
    let rows = (1..=40).map(|n| if n == 21 { "panic,,,\n" } else { "ok,,,\n" });
    let file = format!("action,millis,rounds,mark\n{}", rows.collect::<String>()).into_bytes();
    let run = || -> anyhow::Result<_> {
        let id = stack.client.start("probe", "file.csv", &file, &json!({}))?;
        let job = Watch::new(&stack, &id).end()?;
        let report = Report::read(&stack.client, &id)?;
        report.partitions(&csv_rows(&file)?)?;
        Ok((job, report.codes()))
    };
    let (job, codes) = run().unwrap_or_else(|error| panic!("{error:?}\n{}", stack.log_tail(40)));
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), [(21, "handler_panicked".to_owned())], "{job}");
    assert_eq!((&job["status"], &job["counts"]["succeeded"]), (&json!("completed"), &json!(39)), "{job}");
    measurements::row("release", &[("rows", &40), ("panicked", &1), ("failed with it", &0), ("violations", &0)]);
}
