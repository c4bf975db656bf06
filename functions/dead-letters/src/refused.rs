//! Reasons why a dead letter cannot be replayed, each with a way to continue.

use longshore::problem::{Kind, Problem};
use longshore_domain::dead_letter::{Nothing, Replay};

/// Returns the reason why nothing could be replayed.
pub(crate) fn refused(replay: Replay) -> Problem {
    let nothing = |detail: &str| Problem::new(Kind::NothingToReplay, format!("{detail}; discard the dead letter"));
    match replay {
        Replay::Nothing(Nothing::JobGone) => {
            nothing("the job of the dead letter was deleted, or expires too soon to run again")
        }
        Replay::Nothing(Nothing::Canceled) => nothing("the job was canceled, and stays so until its owner retries it"),
        Replay::Nothing(Nothing::RunAgain) => nothing("a later attempt has run again what the dead letter was about"),
        Replay::Nothing(Nothing::WasDone) => nothing("what the dead letter was about has ended all the same"),
        Replay::RedriveToSource | Replay::SendAgain | Replay::Open | Replay::Done | Replay::Wait => {
            let detail = "the job has not ended, and what the dead letter was about is counted as failed; replay it after the \
                          job's end, with all other dead letters of the job";
            Problem::new(Kind::NotEnded, detail)
        }
    }
}

pub(crate) fn discarded() -> Problem {
    let detail =
        "the dead letter was discarded before; a retry of its job runs the rows that were counted as failed with it";
    Problem::new(Kind::LetterSettled, detail)
}

pub(crate) fn too_long() -> Problem {
    let detail = "the dead letter is unreadable and too long to be kept with its record; move it by the console of the queue, or discard it";
    Problem::new(Kind::NothingToReplay, detail)
}

pub(crate) fn no_room(active: u64) -> Problem {
    let detail = format!(
        "{active} jobs of the job's tenant have not ended, or were deleted and are not removed yet, and more may not be \
         active at once; wait for some minutes"
    );
    Problem::new(Kind::TooManyJobs, detail).retry_after(10)
}
