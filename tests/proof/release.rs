//! A release as deployed to AWS: `cargo xtask prove release` builds it with cargo-lambda, whose flags differ from
//! those of plain cargo.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use longshore_domain::random::nonce;
use longshore_tests::harness::stack::{Stack, StackOptions};
use longshore_tests::harness::watch::{Report, Watch, csv_rows};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::sample::Sample;

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

/// Rows of the file that a deployed package imports.
const ROWS: u64 = 1_000;

#[test]
fn a_package_of_the_release_is_complete_and_deployed_without_a_build() {
    let Some(package) = std::env::var_os(measurements::PACKAGE).map(PathBuf::from) else {
        return measurements::skipped("it needs a package of a release: run cargo xtask prove release");
    };
    let files = verified(&package).unwrap_or_else(|error| panic!("{}: {error:?}", package.display()));
    let stack = Stack::start(&StackOptions { package: Some(package), ..Default::default() });
    let stack = stack.unwrap_or_else(|error| panic!("the package is not deployed: {error:?}"));
    let run = || -> Result<_> {
        // The page is not in the API document.
        let page = stack.client.clone().signed_out().of_any_version().get("/")?;
        ensure!(page.status == 200 && page.text().contains("<script"), "the page is answered with {}", page.status);
        let sample = Sample::insert(&format!("package-{}", nonce()), ROWS);
        let id = stack.client.start_once("import", &sample.file, &sample.options())?;
        sample.differences(&stack.client, &Watch::new(&stack, &id).end()?)
    };
    let violations = run().unwrap_or_else(|error| panic!("{error:?}\n{}", stack.log_tail(40)));
    measurements::row("release-package", &[("files", &files), ("rows", &ROWS), ("violations", &violations.len())]);
    assert!(violations.is_empty(), "{violations:?}");
}

/// Compares every file with its checksum, as `sha256sum --check` does. Returns the number of files.
fn verified(package: &Path) -> Result<usize> {
    let checksums = fs::read_to_string(package.join("SHA256SUMS"))?;
    let mut names = BTreeSet::from(["SHA256SUMS".to_owned()]);
    for line in checksums.lines() {
        let (expected, name) = line.split_once("  ").with_context(|| format!("not a checksum: {line}"))?;
        let actual = HEXLOWER.encode(&Sha256::digest(fs::read(package.join(name))?));
        ensure!(actual == expected, "{name} has the checksum {actual}, not {expected}");
        names.insert(name.to_owned());
    }
    for entry in fs::read_dir(package)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        ensure!(names.contains(&name), "{name} has no checksum");
    }
    Ok(names.len())
}
