//! The parts that have passed, so that an interrupted run can be resumed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::part::{Outcome, Part};

/// Stores that a part has passed.
pub(super) fn store(folder: &Path, outcome: &Outcome) -> Result<()> {
    if outcome.passed {
        let path = path(folder, outcome.part);
        fs::write(&path, format!("{}\n{}\n", outcome.commit, outcome.duration.as_secs()))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns the parts that have passed at a commit that is still valid for them. Deletes the measurements of the others.
pub(super) fn read(folder: &Path, is_valid: impl Fn(Part, &str) -> bool) -> Result<Vec<Outcome>> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut outcomes = Vec::new();
    for part in Part::ALL {
        if let Some(outcome) = stored(folder, part).filter(|outcome| is_valid(part, &outcome.commit)) {
            outcomes.push(outcome);
            continue;
        }
        let tables = part.tables().iter().map(|table| folder.join(format!("{table}.jsonl")));
        for file in tables.chain([path(folder, part)]).filter(|file| file.exists()) {
            fs::remove_file(&file).with_context(|| format!("cannot delete {}", file.display()))?;
        }
    }
    Ok(outcomes)
}

fn stored(folder: &Path, part: Part) -> Option<Outcome> {
    let text = fs::read_to_string(path(folder, part)).ok()?;
    let (commit, seconds) = text.trim().split_once('\n')?;
    let duration = Duration::from_secs(seconds.parse().ok()?);
    Some(Outcome { part, passed: true, duration, commit: commit.to_owned() })
}

fn path(folder: &Path, part: Part) -> PathBuf {
    folder.join(format!("{}.passed", part.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(part: Part, passed: bool, commit: &str) -> Outcome {
        Outcome { part, passed, duration: Duration::from_secs(7), commit: commit.to_owned() }
    }

    #[test]
    fn parts_that_passed_at_a_valid_commit_are_kept_with_their_measurements() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let folder = dir.path();
        for part in [Part::Corpus, Part::Completion, Part::Release] {
            fs::write(folder.join(format!("{}.jsonl", part.tables()[0])), "{}\n")?;
        }
        store(folder, &outcome(Part::Corpus, true, "abc"))?;
        store(folder, &outcome(Part::Completion, false, "abc"))?;
        store(folder, &outcome(Part::Release, true, "older"))?;
        let kept = read(folder, |_, commit| commit == "abc")?;
        assert_eq!(
            kept.iter().map(|kept| (kept.part, kept.duration.as_secs(), kept.commit.as_str())).collect::<Vec<_>>(),
            [(Part::Corpus, 7, "abc")]
        );
        let mut files: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
        files.sort();
        assert_eq!(files, ["corpus.jsonl", "corpus.passed"]);
        Ok(())
    }
}
