//! Selection of the failed items that run again: all readable items, the items in a corrected file with the contents of
//! the file, or the items that were given up with the chunks of replayed dead letters. An item that has since failed
//! for another reason, or has succeeded, is not changed.

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
    /// Returns the item as a deferred item, or unchanged if it stays failed.
    pub(crate) fn replan(&self, entry: Entry) -> Entry {
        let raw = match (&entry.end, self) {
            (End::Failed(_), Self::Corrected(file)) => match file.correction(&entry) {
                Correction::As(raw) => raw,
                Correction::Absent | Correction::Unchanged => return entry,
            },
            (End::Failed(_), _) if entry.damaged => return entry,
            (End::Failed(why), Self::Dead(items)) if !items.contains(entry.n, why) => return entry,
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
    fn a_corrected_file_selects_only_its_failed_items() {
        let columns = Columns::Named(vec!["id".into(), "name".into()]);
        let file = CorrectedFile::parse(b"row,id,name\n7,1,new\n".to_vec(), columns, 100).unwrap();
        let retry_selection = RetrySelection::Corrected(file);
        let absent = failed(8, "bad", false);
        assert_eq!(retry_selection.replan(absent.clone()), absent, "the item stays failed");
        let corrected = retry_selection.replan(failed(7, "bad", true));
        assert!(waits(&corrected) && !corrected.damaged && corrected.raw.contains("new"), "{corrected:?}");
        assert!(waits(&RetrySelection::All.replan(absent)), "without a file, every readable item runs again");
        assert_eq!(RetrySelection::All.replan(failed(8, "bad", true)), failed(8, "bad", true));
    }

    #[test]
    fn dead_letters_select_only_the_items_that_were_given_up_with_them() {
        let mut items = DeadItems::default();
        items.add([9, 4, 5]);
        items.add([3, 4]);
        let retry_selection = RetrySelection::Dead(items);
        for n in [3, 4, 5, 9] {
            assert!(waits(&retry_selection.replan(failed(n, DEAD_LETTERED, false))), "{n}");
        }
        for (n, code, damaged) in
            [(2, DEAD_LETTERED, false), (6, DEAD_LETTERED, false), (4, "bad", false), (4, DEAD_LETTERED, true)]
        {
            assert!(!waits(&retry_selection.replan(failed(n, code, damaged))), "{n} {code} {damaged}");
        }
        let open = Entry { end: End::Transient { attempts: 2, reason: "busy".into() }, ..failed(1, "", false) };
        assert!(waits(&retry_selection.replan(open)), "an item that has not ended runs in any case");
    }
}
