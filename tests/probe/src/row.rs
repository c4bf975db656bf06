//! A probe row and its behavior.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, abort, id};
use std::time::Duration;

use longshore::handler::{ItemKey, JobContext, Outcome, Rejection};

/// Behavior of the row, its duration, the rounds in which it is transient, and the file that records its calls.
#[derive(serde::Deserialize)]
pub struct Row {
    action: Action,
    millis: Option<u64>,
    rounds: Option<u32>,
    mark: Option<PathBuf>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Ok,
    Skip,
    Reject,
    /// Rejected on the first call of this row, as `mark` shows; ok on later ones.
    Recover,
    /// `Retry` in the first `rounds` rounds, then ok.
    Retry,
    Fatal,
    /// The handler panics.
    Panic,
    /// The process aborts, on each call.
    Abort,
    /// The process is killed on the first call of this row, or on its first `rounds` calls, as `mark` shows; ok on
    /// later ones.
    Kill,
}

impl Row {
    /// Behaves as the row says.
    pub(crate) async fn work(self, job: &JobContext, key: ItemKey) -> Outcome {
        if let Some(millis) = self.millis {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        let calls = self.note(key.number);
        match self.action {
            Action::Ok => Outcome::Ok,
            Action::Skip => Outcome::Skip { reason: "asked to".into() },
            Action::Reject => rejected(),
            Action::Recover if calls == Some(0) => rejected(),
            Action::Retry if job.round < self.rounds.unwrap_or(0) => {
                Outcome::Retry { after: None, reason: "asked to".into() }
            }
            Action::Retry => Outcome::Ok,
            Action::Fatal => Outcome::Fatal(Rejection::new("asked_to_stop", None, "the row asked the job to stop")),
            Action::Panic => panicking(),
            Action::Abort => abort(),
            Action::Kill if calls.is_some_and(|calls| calls < self.rounds.unwrap_or(1)) => killed(),
            Action::Kill | Action::Recover => Outcome::Ok,
        }
    }

    /// Behaves as the row says, and records start and end in a file beside `mark`: `in`, `out`.
    pub(crate) async fn work_noted(self, job: &JobContext, key: ItemKey) -> Outcome {
        let path = self.mark.as_ref().map(|mark| mark.with_extension("inside"));
        let note = |word| path.as_ref().is_none_or(|path| append(path, word));
        note("in");
        let outcome = self.work(job, key).await;
        note("out");
        outcome
    }

    /// Records the call in the row's file. Returns the number of calls recorded before.
    fn note(&self, item: u64) -> Option<u32> {
        let path = self.mark.as_ref()?;
        let item = item.to_string();
        let noted = std::fs::read_to_string(path).unwrap_or_default();
        let calls = noted.lines().filter(|line| *line == item).count();
        append(path, &item).then(|| u32::try_from(calls).unwrap_or(u32::MAX))
    }
}

/// Appends a line in one write: the kernel appends it as a whole, even with concurrent writers.
fn append(path: &Path, line: &str) -> bool {
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).is_ok()
}

fn rejected() -> Outcome {
    Outcome::reject("asked_to", Some("action"), "the row asked to be rejected")
}

#[allow(clippy::panic, reason = "that is what the row asked for")]
fn panicking() -> Outcome {
    panic!("the row asked the handler to panic")
}

/// Kills the process with SIGKILL, which no code can intercept.
fn killed() -> Outcome {
    let killed = Command::new("sh").args(["-c", "kill -9 \"$0\"", &id().to_string()]).status();
    tracing::error!(?killed, "this process should be dead");
    abort()
}
