//! Polls a job until it ends: shows its messages with a bar and an ETA, and verifies in every answer that progress is
//! exact and never decreases.

use crate::api::{Api, Job};
use crate::progress::style;
use anyhow::{Result, ensure};
use indicatif::ProgressBar;
use std::thread::sleep;
use std::time::Duration;

/// Follows the job and returns its final document.
pub(super) fn to_its_end(api: &Api, url: &str) -> Result<Job> {
    let bar = ProgressBar::no_length();
    bar.set_style(style("  {bar:32} {pos} of {len} rows  {msg}").progress_chars("█▌░"));
    let mut printed = String::new();
    let mut last: Option<Job> = None;
    loop {
        let polled = api.poll(url)?;
        let job = polled.job;
        check(last.as_ref(), &job)?;
        show(&bar, &job, &mut printed);
        if matches!(job.status.as_str(), "completed" | "failed" | "canceled") {
            bar.finish_and_clear();
            return Ok(job);
        }
        last = Some(job);
        // At least 100 ms, even if the server asks for less.
        sleep(polled.wait.max(Duration::from_millis(100)));
    }
}

/// Checks the invariants of one answer, and of two consecutive ones.
fn check(before: Option<&Job>, now: &Job) -> Result<()> {
    let counts = now.counts;
    let (done, all) = (now.item_progress, now.item_count);
    ensure!(
        counts.succeeded + counts.failed + counts.skipped == done,
        "the counts {counts:?} do not add up to itemProgress {done}"
    );
    ensure!(done <= all, "itemProgress {done} is beyond itemCount {all}");
    ensure!(now.percent <= 100, "{} percent", now.percent);
    if let Some(before) = before {
        ensure!(done >= before.item_progress, "itemProgress fell from {} to {done}", before.item_progress);
        ensure!(now.percent >= before.percent, "percent fell from {} to {}", before.percent, now.percent);
        ensure!(
            !before.item_count_final || (now.item_count_final && all == before.item_count),
            "the final itemCount {} became {all}",
            before.item_count
        );
    }
    Ok(())
}

/// Shows the job's three messages as lines, and the progress within "Job running" as a bar. Without a terminal there
/// is no bar, and every change is a line.
fn show(bar: &ProgressBar, job: &Job, printed: &mut String) {
    // A bar of length 0 would be shown as full.
    if job.item_count > 0 {
        bar.set_length(job.item_count);
    }
    bar.set_position(job.item_progress);
    let eta = job.eta_seconds.map_or_else(String::new, |s| format!("{s:.0} s left"));
    bar.set_message(eta);
    let line = if bar.is_hidden() { job.message.clone() } else { without_digits(&job.message) };
    if *printed != line {
        bar.suspend(|| println!("  {}", job.message));
        *printed = line;
    }
}

fn without_digits(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(progress: u64, failed: u64, all: u64) -> Result<Job> {
        Ok(serde_json::from_value(serde_json::json!({
            "jobId": "j", "status": "running", "message": "Job running", "itemCount": all, "itemCountFinal": true,
            "itemProgress": progress, "percent": 0,
            "counts": { "succeeded": progress - failed, "failed": failed, "skipped": 0, "pending": 0 }
        }))?)
    }

    #[test]
    fn progress_that_lies_or_falls_is_noticed() -> Result<()> {
        check(Some(&job(3, 1, 9)?), &job(9, 1, 9)?)?;
        assert!(check(Some(&job(3, 1, 9)?), &job(2, 1, 9)?).is_err());
        assert!(check(None, &job(10, 1, 9)?).is_err());
        assert!(check(Some(&job(3, 1, 9)?), &job(3, 1, 8)?).is_err());
        let mut wrong = job(3, 1, 9)?;
        wrong.counts.skipped = 1;
        assert!(check(None, &wrong).is_err());
        Ok(())
    }
}
