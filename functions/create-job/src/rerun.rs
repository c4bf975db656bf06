//! Which of the failed items run again: all that can be read, those of a corrected file as they stand there, or those that
//! were given up with the chunks whose dead letters are replayed.
//!
//! What the letters took is read from the work files of their own chunks, whatever generation those are of, so that nothing of
//! it has to be written down. An item that has failed for another reason since, or has succeeded, is left as it is.

use std::ops::RangeInclusive;

use longshore::chunk::{DEAD_LETTERED, read_chain};
use longshore::failures_file::{CorrectedFile, Mended};
use longshore::ports::JobFolder;
use longshore_domain::group::{ChunkPlan, Group};
use longshore_domain::job::{Job, Place};
use longshore_domain::outcome::Rejection;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::work_file::{End, Entry};

use crate::splitter::{Halt, SplitError, Splitter};

/// Which of the failed items run again.
pub(crate) enum Rerun {
    All,
    Corrected(CorrectedFile),
    Dead(DeadItems),
}

impl Rerun {
    /// The item as one that waits for its round, unless it stays failed.
    pub(crate) fn again(&self, entry: Entry) -> Entry {
        let raw = match (&entry.end, self) {
            (End::Failed(_), Self::Corrected(file)) => match file.mend(&entry) {
                Mended::As(raw) => raw,
                Mended::Absent | Mended::Unchanged => return entry,
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

/// Items that were given up with their chunks, by number: runs, in order.
#[derive(Debug, Default)]
pub(crate) struct DeadItems(Vec<RangeInclusive<u64>>);

impl DeadItems {
    fn of(mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        let mut runs: Vec<RangeInclusive<u64>> = Vec::new();
        for n in numbers {
            match runs.last_mut() {
                Some(run) if n <= *run.end() + 1 => *run = *run.start()..=n,
                _ => runs.push(n..=n),
            }
        }
        Self(runs)
    }

    /// Whether an item that has failed so is one of them.
    fn took(&self, n: u64, why: &Rejection) -> bool {
        let run = self.0.partition_point(|run| *run.end() < n);
        why.code == DEAD_LETTERED && self.0.get(run).is_some_and(|run| run.contains(&n))
    }
}

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Which of the failed items the job's present generation runs again.
    pub(crate) async fn rerun(&self, job: &Job, item_bytes: u64) -> Result<Rerun, Halt> {
        if let Some(file) = self.corrected_file(job, item_bytes).await? {
            return Ok(Rerun::Corrected(file));
        }
        let Some(only) = &job.only else { return Ok(Rerun::All) };
        let first = only.first().map_or(0, |place| place.group);
        let (groups, _) = self.ports.store.progress_from(job.job_id, first).await?.ok_or(Halt::Refused)?;
        let mut numbers = Vec::new();
        for place in only {
            numbers.extend(self.taken_by(job, *place, &groups).await?);
        }
        Ok(Rerun::Dead(DeadItems::of(numbers)))
    }

    /// The items that were given up with this chunk.
    async fn taken_by(&self, job: &Job, place: Place, groups: &[Group]) -> Result<Vec<u64>, Halt> {
        let group = groups.iter().find(|group| group.number == place.group);
        let cursor = group.and_then(|group| group.cursors.get(&place.chunk));
        let Some(last) = cursor.and_then(|cursor| cursor.file.as_deref()) else { return Ok(Vec::new()) };
        let manifest = self.ports.store.manifest(job.job_id, place.group).await?;
        let manifest = manifest.ok_or(SplitError::ManifestMissing(place.group))?;
        let Some(plan) = manifest.chunks.get(place.chunk as usize) else { return Ok(Vec::new()) };
        let (files, at) = (&self.ports.files, (place.group, place.chunk));
        let chain = read_chain(files, JobFolder::of(job), at, Some(last), own_rounds(job, plan)).await?;
        let dead = |entry: &Entry| matches!(&entry.end, End::Failed(why) if why.code == DEAD_LETTERED);
        Ok(chain.iter().flat_map(|file| &file.entries).filter(|entry| dead(entry)).map(|entry| entry.n).collect())
    }
}

/// The first round that the workers of a chunk have written. The file with which a chunk was filed again counts as round 0:
/// what stays failed in it was not given up with this chunk.
fn own_rounds(job: &Job, plan: &ChunkPlan) -> u32 {
    let was_filed = job.source.is_some() && plan.end == 0;
    u32::from(was_filed)
}

#[cfg(test)]
mod tests {
    use longshore::failures_file::Columns;

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
        let rerun = Rerun::Corrected(file);
        let absent = failed(8, "bad", false);
        assert_eq!(rerun.again(absent.clone()), absent, "it stays failed, and is not offered");
        let corrected = rerun.again(failed(7, "bad", true));
        assert!(waits(&corrected) && !corrected.damaged && corrected.raw.contains("new"), "{corrected:?}");
        assert!(waits(&Rerun::All.again(absent)), "without a file all that can be read runs again");
        assert_eq!(Rerun::All.again(failed(8, "bad", true)), failed(8, "bad", true));
    }

    #[test]
    fn of_what_failed_dead_letters_run_only_what_was_given_up_with_them() {
        let rerun = Rerun::Dead(DeadItems::of(vec![9, 4, 3, 5]));
        for n in [3, 4, 5, 9] {
            assert!(waits(&rerun.again(failed(n, DEAD_LETTERED, false))), "{n}");
        }
        for (n, code, damaged) in
            [(2, DEAD_LETTERED, false), (6, DEAD_LETTERED, false), (4, "bad", false), (4, DEAD_LETTERED, true)]
        {
            assert!(!waits(&rerun.again(failed(n, code, damaged))), "{n} {code} {damaged}");
        }
        let open = Entry { end: End::Transient { attempts: 2, reason: "busy".into() }, ..failed(1, "", false) };
        assert!(waits(&rerun.again(open)), "what was never ended runs all the same");
    }
}
