//! Versions are restored in rounds of bounded size, and nothing is begun late.

use std::collections::BTreeSet;

use futures::executor::block_on;
use longshore_domain::history::VersionPlace;
use longshore_domain::ids::JobId;
use longshore_domain::ports::Unavailable;
use longshore_domain::tenant::TenantId;
use longshore_domain::writer::{Writer, Written};
use serde_json::json;

use super::{BYTES, Reverted, Reverter, UndoneKey};
use crate::job_types::spied::{Calls, SpiedFiles, SpiedRecords, clock, dataset, line, overwrite};
use crate::ports::JobFolder;

/// An import that has overwritten records, and its undo.
struct Undone {
    calls: Calls,
    records: SpiedRecords,
    files: SpiedFiles,
    import: JobId,
    undo: JobId,
}

impl Undone {
    /// The import of records whose previous versions have this number of bytes, each in a file of its own.
    fn of(keys: &[&str], bytes: usize) -> Self {
        let [earlier, import, undo] = [(); 3].map(|()| JobId::generate());
        let calls = Calls::default();
        let records = SpiedRecords { calls: calls.clone(), ..SpiedRecords::default() };
        let files = SpiedFiles { calls: calls.clone(), ..SpiedFiles::default() };
        for key in keys {
            let line = line(earlier, key, json!("x".repeat(bytes)));
            let place = VersionPlace { job: import, file: (*key).into(), start: 0, end: line.len() as u64 };
            overwrite(&records.records, [earlier, import], key, &place);
            files.files.put(&JobFolder { tenant: &tenant(), id: import }.versions_key(key), line);
        }
        Self { calls, records, files, import, undo }
    }

    /// Reverts the records while the calls of this name are slow.
    fn revert(&self, keys: &[&str], slow: &'static str) -> Vec<Reverted> {
        self.calls.restart(slow);
        let tenant = tenant();
        let reverter = Reverter {
            records: &self.records,
            files: &self.files,
            undone: JobFolder { tenant: &tenant, id: self.import },
            dataset: &dataset(),
            preview: false,
            clock,
        };
        let key = |(key, row): (&&str, u64)| UndoneKey { key: (*key).into(), row: Writer { job: self.undo, row } };
        block_on(reverter.revert(&keys.iter().zip(1..).map(key).collect::<Vec<_>>()))
    }

    /// The keys of the records that have their previous versions again.
    fn restored(&self) -> BTreeSet<String> {
        let versions = self.records.records.versions(&dataset());
        versions.into_iter().filter(|(_, version)| version.restored_by.is_some()).map(|(key, _)| key).collect()
    }
}

fn tenant() -> TenantId {
    TenantId::from_static("t")
}

const UNTRIED: Reverted = Reverted::Unwritten(Written::Untried);

#[test]
fn a_batch_restores_as_many_versions_as_may_be_held() {
    let names: Vec<_> = (0..30).map(|n| format!("k{n:02}")).collect();
    let keys: Vec<_> = names.iter().map(String::as_str).collect();
    let undone = Undone::of(&keys, 350_000);
    let (mut at, mut batches) = (0, 0);
    while at < keys.len() {
        let reverted = undone.revert(&keys[at..], "");
        let done = reverted.iter().take_while(|reverted| **reverted == Reverted::Done).count();
        assert!(done > 0 && done as u64 * 350_000 <= BYTES, "{done}");
        assert!(reverted[done..].iter().all(|reverted| *reverted == UNTRIED));
        at += done;
        batches += 1;
        assert_eq!(undone.restored().len(), at);
    }
    assert_eq!(batches, 2);
}

/// A job can be stopped and end while a call of its worker waits. What comes after the call begins nothing.
#[test]
fn nothing_is_begun_after_a_call_that_took_too_long() {
    let [read, read_file, revert] = ["read", "read file", "revert"];
    for (slow, calls) in [
        (read, vec![read]),
        (read_file, vec![read, read_file, read_file]),
        (revert, vec![read, read_file, read_file, revert]),
    ] {
        let undone = Undone::of(&["a", "b"], 9);
        let reverted = undone.revert(&["a", "b"], slow);
        assert_eq!(undone.calls.made(), calls);
        if slow == revert {
            assert_eq!(reverted, [Reverted::Done, Reverted::Done]);
            continue;
        }
        assert!(matches!(reverted[0], Reverted::Unwritten(Written::Throttled(_))), "{slow}: {reverted:?}");
        assert_eq!((&reverted[1], undone.restored().len()), (&UNTRIED, 0), "{slow}");
        assert_eq!(undone.revert(&["a", "b"], ""), [Reverted::Done, Reverted::Done], "{slow}");
    }
}

#[test]
fn records_that_stay_have_their_results_also_when_it_is_late() {
    let undone = Undone::of(&["a"], 9);
    let reverted = undone.revert(&["missing", "a"], "read");
    assert_eq!(reverted, [Reverted::Done, UNTRIED]);
}

#[test]
fn a_file_that_cannot_be_read_for_a_moment_costs_no_attempt() {
    let undone = Undone::of(&["a"], 9);
    *undone.files.failure.lock().unwrap() = Some(Unavailable("no connection".into()).into());
    let reverted = undone.revert(&["a"], "");
    assert!(matches!(reverted[..], [Reverted::Unwritten(Written::Throttled(_))]), "{reverted:?}");
    *undone.files.failure.lock().unwrap() = Some("access denied".into());
    let reverted = undone.revert(&["a"], "");
    assert!(matches!(reverted[..], [Reverted::Unwritten(Written::Unknown(_))]), "{reverted:?}");
    assert_eq!(undone.revert(&["a"], ""), [Reverted::Done]);
}
