//! The outcomes of the rows of an undo.

use std::sync::Arc;

use futures::executor::block_on;
use longshore_domain::history::VersionPlace;
use longshore_domain::ids::JobId;
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_testing::{MemoryFiles, MemoryRecords};
use serde_json::json;

use super::{ItemKey, JobContext, JobType, Outcome, Undo, UndoRow};
use crate::handler::{Outputs, RawItem, Registry, Shape};
use crate::job_types::spied::{dataset, line, overwrite};
use crate::ports::JobFolder;

fn context() -> JobContext {
    JobContext { job_id: JobId::generate(), tenant: TenantId::from_static("t"), dataset: None, round: 0 }
}

/// Nothing is restored by guess: each record stays as the import has left it.
#[test]
fn a_record_without_a_previous_version_of_its_own_stays() {
    let [earlier, other, import] = [(); 3].map(|()| JobId::generate());
    let (records, files, tenant) = (MemoryRecords::default(), MemoryFiles::default(), TenantId::from_static("t"));
    let bytes = line(earlier, "restored", json!(1));
    let folder = |id| JobFolder { tenant: &tenant, id };
    for id in [import, other] {
        files.put(&folder(id).versions_key("f"), bytes.clone());
    }
    let place = |job, file: &str, end: usize| VersionPlace { job, file: file.into(), start: 0, end: end as u64 };
    for (key, place) in [
        ("restored", place(import, "f", bytes.len())),
        ("file-gone", place(import, "g", bytes.len())),
        ("of-another-key", place(import, "f", bytes.len())),
        ("cut", place(import, "f", bytes.len() - 1)),
        ("beyond-the-end", place(import, "f", bytes.len() + 1)),
        ("foreign-folder", place(other, "f", bytes.len())),
    ] {
        overwrite(&records, [earlier, import], key, &place);
    }
    let before = records.versions(&dataset());
    let options = json!({ "jobId": import, "import": { "dataset": "d", "key": "id" } });
    let options = serde_json::from_value(options).unwrap();
    let undo = Undo::new(Arc::new(records.clone()), files);
    let items = before
        .keys()
        .zip(1..)
        .map(|(key, number)| (ItemKey { job_id: JobId::generate(), number }, UndoRow(Some(key.clone()))));
    let outcomes = block_on(undo.process_batch(&context(), &options, items.collect()));
    for (key, outcome) in before.keys().zip(&outcomes) {
        match outcome {
            Outcome::Ok(()) => assert_eq!(key, "restored"),
            Outcome::Reject(rejection) => assert_eq!(rejection.code, "no_previous_version", "{key}"),
            outcome => panic!("{key}: {outcome:?}"),
        }
    }
    assert_eq!(outcomes.len(), 6);
    let after = records.versions(&dataset());
    assert_eq!(after["restored"].data["v"], json!(1));
    assert!(before.keys().filter(|key| *key != "restored").all(|key| after[key] == before[key]));
}

/// The import has rejected them, too.
#[test]
fn a_row_that_cannot_be_read_was_not_written() {
    let registry = Registry::default().with(Undo::new(Arc::new(MemoryRecords::default()), MemoryFiles::default()));
    let options = json!({ "jobId": JobId::generate(), "import": { "dataset": "d", "key": "id" } });
    let prepared = registry.find("undo").unwrap().prepare(&options).unwrap();
    let columns = ["id".to_owned(), "name".to_owned()];
    let csv = |bytes, unterminated| Shape::Record { format: Format::Csv, columns: &columns, bytes, unterminated };
    let rows = [
        csv(b"1,a", false),
        csv(b"2,\"b", true),
        csv(b"3,\xff", false),
        csv(b"4,d,e", false),
        Shape::Record { format: Format::JsonLines, columns: &[], bytes: b"{", unterminated: false },
    ];
    let items: Vec<_> = rows.into_iter().zip(1..).map(|(shape, number)| RawItem { number, shape }).collect();
    let processed = block_on(prepared.run(&context(), &items, Outputs::Dropped));
    let skipped = Outcome::Skip { reason: "not_written".into() };
    assert_eq!(processed.outcomes[0], Outcome::Ok(()), "the key has no record");
    assert_eq!(processed.outcomes[1..], [skipped.clone(), skipped.clone(), skipped.clone(), skipped.clone()]);
    let too_long = crate::handler::Rejection::new("row_too_long", None, "too long");
    assert_eq!(prepared.unreadable(too_long), skipped);
}
