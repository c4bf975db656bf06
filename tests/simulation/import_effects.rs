//! Effects of imports: the stored records agree with the outcomes of the rows.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use longshore_domain::dataset::Dataset;
use longshore_domain::ports::RecordStore;
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::MemoryRecords;

use crate::imports::{LATER, MISSING, dataset};
use crate::lineage;
use crate::report::Ended;
use crate::rows::{ACTIONS, bit};

/// The records at the end of a job, and its rows.
struct Effects<'a> {
    dataset: Dataset,
    holders: BTreeMap<String, Writer>,
    ended: &'a Ended<'a>,
    /// All writers of each key, also of versions that were undone since.
    writers: BTreeMap<&'static str, BTreeSet<Writer>>,
}

/// Checks the effects of an import.
pub(crate) fn check(records: &MemoryRecords, rule: Rule, ended: &Ended<'_>) {
    let from = dataset(ended.job.tenant.clone(), rule);
    let stored = records.list(&from, 2 * ACTIONS.len(), None).now_or_never().unwrap().unwrap().items;
    let holders = stored.into_iter().filter_map(|record| Some((record.key, record.writer?))).collect();
    let is_undone = lineage::has_undone(&from);
    let earlier = |action| if is_undone { lineage::writers(&from, action) } else { BTreeSet::new() };
    let writers = ACTIONS.map(|action| (action, earlier(action))).into();
    let effects = Effects { dataset: from, holders, ended, writers };
    effects.check_succeeded(rule);
    effects.check_own_records();
    match rule {
        Rule::Insert => effects.check_duplicates(),
        Rule::Upsert => {}
        Rule::Update => effects.check_update(),
        Rule::Delete => effects.check_delete(),
    }
}

impl Effects<'_> {
    fn writer(&self, row: usize) -> Writer {
        Writer { job: self.ended.job.job_id, row: row as u64 }
    }

    fn is_possible(&self, row: usize, action: usize) -> bool {
        self.ended.possible[row - 1] & bit(action) > 0
    }

    /// Returns true if one of the row's possible keys matches, with the writer of its record.
    fn any_key(&self, row: usize, matches: impl Fn(usize, Option<Writer>) -> bool) -> bool {
        let mut keys = (0..ACTIONS.len()).filter(|action| self.is_possible(row, *action));
        keys.any(|action| matches(action, self.holders.get(ACTIONS[action]).copied()))
    }

    /// Returns true if one of the row's possible keys has, or before an undo had, a writer that matches.
    fn any_writer(&self, row: usize, matches: impl Fn(Writer) -> bool) -> bool {
        let has_had = |action: usize| self.writers[ACTIONS[action]].iter().any(|writer| matches(*writer));
        self.any_key(row, |action, holder| holder.is_some_and(&matches) || has_had(action))
    }

    fn failed_with(&self, code: &str) -> impl Iterator<Item = usize> {
        self.ended.failed.iter().filter(move |(_, own)| *own == code).map(|(row, _)| *row)
    }

    fn check_succeeded(&self, rule: Rule) {
        for row in self.ended.succeeded {
            let own = self.writer(*row);
            let has_effect = match rule {
                Rule::Insert => self.any_writer(*row, |writer| writer == own),
                Rule::Upsert | Rule::Update => self.any_writer(*row, |writer| writer >= own),
                Rule::Delete => self.any_key(*row, |_, holder| holder.is_none()),
            };
            assert!(has_effect, "row {row} has succeeded without its effect: {:?}", self.holders);
        }
    }

    /// Checks the records of this job: each was written by one of its rows, which did not fail. A row that was refused
    /// because of another record is stored by a redelivery that still runs when an undo removes that record.
    fn check_own_records(&self) {
        let Ended { job, possible, failed, .. } = self.ended;
        for (key, holder) in self.holders.iter().filter(|(_, holder)| holder.job == job.job_id) {
            let row = holder.row as usize;
            let action = ACTIONS.iter().position(|name| name == key).expect("a key is an action");
            let is_own = (1..=possible.len()).contains(&row) && self.is_possible(row, action);
            assert!(is_own, "row {row} never had the key {key}");
            // A corrected row can have a record under its earlier key.
            let is_refused = failed.get(&row).is_some_and(|code| code == "duplicate_key" || code == "key_not_found");
            let was_refused = is_refused && possible[row - 1].count_ones() == 1;
            let was_undone = lineage::undone(&self.dataset, key).iter().any(|(_, removed)| *removed != job.job_id);
            assert!(!was_refused || was_undone, "the record {key} is of row {row}, which was refused");
        }
    }

    fn check_duplicates(&self) {
        for row in self.failed_with("duplicate_key") {
            let own = self.writer(row);
            assert!(
                self.any_writer(row, |writer| writer != own),
                "row {row} failed as a duplicate, but no other row has its key: {:?}",
                self.holders
            );
        }
    }

    /// An update creates and deletes no record, and exactly the rows whose key is missing fail.
    fn check_update(&self) {
        let keys: BTreeSet<_> = self.holders.keys().map(String::as_str).collect();
        let expected = (0..ACTIONS.len()).filter(|action| !MISSING.contains(action)).map(|action| ACTIONS[action]);
        assert_eq!(keys, expected.collect(), "an update has changed the set of keys");
        for row in self.failed_with("key_not_found") {
            assert!(self.any_key(row, |action, _| MISSING.contains(&action)), "the key of row {row} exists");
        }
        for row in self.ended.skipped {
            let is_later = |writer: Writer| writer.job > self.ended.job.job_id;
            assert!(self.any_writer(*row, is_later), "row {row} was skipped");
        }
        self.check_later_writer();
    }

    /// A delete creates no record, and skips exactly the rows whose record is of a later writer.
    fn check_delete(&self) {
        for (key, holder) in &self.holders {
            assert!(!MISSING.iter().any(|action| ACTIONS[*action] == key), "a delete has created {key}: {holder}");
        }
        for row in self.ended.skipped {
            assert!(self.any_key(*row, |action, _| action == LATER), "row {row} was skipped");
        }
        self.check_later_writer();
    }

    fn check_later_writer(&self) {
        let later = self.holders.get(ACTIONS[LATER]);
        assert!(
            later.is_some_and(|holder| *holder > self.writer(0)),
            "the record of a later writer is gone: {later:?}"
        );
    }
}
