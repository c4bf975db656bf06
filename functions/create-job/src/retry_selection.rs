//! Selection of the failed items that run again: all that can be read, those in a corrected file with its contents, or
//! those that were given up with the chunks of replayed dead letters. An item that has failed for another reason since,
//! or has succeeded, is left unchanged.

use longshore::failures_file::{CorrectedFile, Correction};
use longshore_domain::job::Job;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::work_file::{End, Entry};

use crate::dead_letters::DeadItems;
use crate::outcome::Halt;
use crate::splitter::Splitter;

/// Selection of the failed items that run again.
pub(crate) enum RetrySelection {
    All,
    Corrected(CorrectedFile),
    Dead(DeadItems),
}

impl RetrySelection {
    /// Returns the item as one that waits for its round, or unchanged if it stays failed.
    pub(crate) fn again(&self, entry: Entry) -> Entry {
        let raw = match (&entry.end, self) {
            (End::Failed(_), Self::Corrected(file)) => match file.correction(&entry) {
                Correction::As(raw) => raw,
                Correction::Absent | Correction::Unchanged => return entry,
            },
            (End::Failed(_), _) if entry.damaged => return entry,
            (End::Failed(why), Self::Dead(items)) if !items.took(entry.n, why) => return entry,
            _ => entry.raw,
        };
        let entry = Entry { raw, damaged: false, ..entry };
        match entry.end {
            End::Failed(why) => Entry { end: End::Transient { attempts: 0, reason: why.code }, ..entry },
            End::Transient { reason, .. } => Entry { end: End::Transient { attempts: 0, reason }, ..entry },
            End::Skipped { .. } => entry,
        }
    }
}

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Reads the selection of the job's current generation.
    pub(crate) async fn retry_selection(&self, job: &Job, item_bytes: u64) -> Result<RetrySelection, Halt> {
        if let Some(file) = self.corrected_file(job, item_bytes).await? {
            return Ok(RetrySelection::Corrected(file));
        }
        match &job.retry.selected_chunks {
            Some(_) => Ok(RetrySelection::Dead(self.dead_items(job).await?)),
            None => Ok(RetrySelection::All),
        }
    }
}

#[cfg(test)]
mod tests {
    use longshore::chunk::DEAD_LETTERED;
    use longshore::failures_file::Columns;
    use longshore_domain::outcome::Rejection;

    use super::*;

    fn failed(n: u64, code: &str, damaged: bool) -> Entry {
        Entry { n, end: End::Failed(Rejection::new(code, None, "no")), raw: "1,old".into(), damaged }
    }

    fn waits(entry: &Entry) -> bool {
        matches!(entry.end, End::Transient { attempts: 0, .. })
    }

    #[test]
    fn of_what_failed_a_corrected_file_runs_only_what_stands_in_it() {
        let columns = Columns::Named(vec!["id".into(), "name".into()]);
        let file = CorrectedFile::parse(b"row,id,name\n7,1,new\n".to_vec(), columns, 100).unwrap();
        let retry_selection = RetrySelection::Corrected(file);
        let absent = failed(8, "bad", false);
        assert_eq!(retry_selection.again(absent.clone()), absent, "it stays failed, and is not offered");
        let corrected = retry_selection.again(failed(7, "bad", true));
        assert!(waits(&corrected) && !corrected.damaged && corrected.raw.contains("new"), "{corrected:?}");
        assert!(waits(&RetrySelection::All.again(absent)), "without a file all that can be read runs again");
        assert_eq!(RetrySelection::All.again(failed(8, "bad", true)), failed(8, "bad", true));
    }

    #[test]
    fn of_what_failed_dead_letters_run_only_what_was_given_up_with_them() {
        let mut items = DeadItems::default();
        items.add([9, 4, 5]);
        items.add([3, 4]);
        let retry_selection = RetrySelection::Dead(items);
        for n in [3, 4, 5, 9] {
            assert!(waits(&retry_selection.again(failed(n, DEAD_LETTERED, false))), "{n}");
        }
        for (n, code, damaged) in
            [(2, DEAD_LETTERED, false), (6, DEAD_LETTERED, false), (4, "bad", false), (4, DEAD_LETTERED, true)]
        {
            assert!(!waits(&retry_selection.again(failed(n, code, damaged))), "{n} {code} {damaged}");
        }
        let open = Entry { end: End::Transient { attempts: 2, reason: "busy".into() }, ..failed(1, "", false) };
        assert!(waits(&retry_selection.again(open)), "what was never ended runs all the same");
    }
}
