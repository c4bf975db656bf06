//! Checks that the tests that the threat model names exist.

use std::fs;
use std::path::Path;

use anyhow::Result;

/// Folders that contain tests.
const CODE: [&str; 8] = ["bench", "cli", "functions", "fuzz", "shared", "tests", "tools", "xtask"];

#[test]
fn every_test_named_in_the_threat_model_exists() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut code = String::new();
    for folder in CODE {
        read_all(&root.join(folder), &mut code)?;
    }
    let text = fs::read_to_string(root.join("docs/threat-model.md"))?;
    let names: Vec<&str> = text.split('`').skip(1).step_by(2).filter(|word| is_test_name(word)).collect();
    assert!(names.len() > 30, "only {} tests are named", names.len());
    let missing: Vec<&&str> = names.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "no such test: {missing:?}");
    Ok(())
}

/// Returns true for the name of a test. Names of tests are sentences.
fn is_test_name(word: &str) -> bool {
    word.matches('_').count() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn read_all(folder: &Path, code: &mut String) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            read_all(&path, code)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code.push_str(&fs::read_to_string(&path)?);
        }
    }
    Ok(())
}
