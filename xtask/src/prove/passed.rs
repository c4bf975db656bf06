//! The parts that have passed, so that an interrupted run can be resumed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::part::{Outcome, Part};

/// Stores that a part has passed at a commit.
pub(super) fn store(folder: &Path, commit: &str, outcome: &Outcome) -> Result<()> {
    if outcome.passed {
        let path = path(folder, outcome.part);
        fs::write(&path, format!("{commit}\n{}\n", outcome.duration.as_secs()))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns the parts that have passed at a commit. Deletes the measurements of the others.
pub(super) fn read(folder: &Path, commit: &str) -> Result<Vec<Outcome>> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut outcomes = Vec::new();
    for part in Part::ALL {
        if let Some(duration) = duration(&path(folder, part), commit) {
            outcomes.push(Outcome { part, passed: true, duration });
            continue;
        }
        let tables = part.tables().iter().map(|table| folder.join(format!("{table}.jsonl")));
        for file in tables.chain([path(folder, part)]).filter(|file| file.exists()) {
            fs::remove_file(&file).with_context(|| format!("cannot delete {}", file.display()))?;
        }
    }
    Ok(outcomes)
}

fn duration(path: &Path, commit: &str) -> Option<Duration> {
    let text = fs::read_to_string(path).ok()?;
    let (_, seconds) = text.trim().split_once('\n').filter(|(at, _)| *at == commit)?;
    seconds.parse().ok().map(Duration::from_secs)
}

fn path(folder: &Path, part: Part) -> PathBuf {
    folder.join(format!("{}.passed", part.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(part: Part, passed: bool) -> Outcome {
        Outcome { part, passed, duration: Duration::from_secs(7) }
    }

    #[test]
    fn parts_that_passed_at_the_commit_are_kept_with_their_measurements() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let folder = dir.path();
        for part in [Part::Corpus, Part::Completion, Part::Release] {
            fs::write(folder.join(format!("{}.jsonl", part.tables()[0])), "{}\n")?;
        }
        store(folder, "abc", &outcome(Part::Corpus, true))?;
        store(folder, "abc", &outcome(Part::Completion, false))?;
        store(folder, "older", &outcome(Part::Release, true))?;
        let kept = read(folder, "abc")?;
        assert_eq!(
            kept.iter().map(|kept| (kept.part, kept.duration.as_secs())).collect::<Vec<_>>(),
            [(Part::Corpus, 7)]
        );
        let mut files: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
        files.sort();
        assert_eq!(files, ["corpus.jsonl", "corpus.passed"]);
        Ok(())
    }
}
