//! Audits of the item files of a job over a dataset.

use futures::FutureExt;
use longshore_domain::job::{DatasetSource, ItemFile, Source};
use longshore_domain::ports::Files;

use super::audited::*;

/// A job over a dataset, with an item file for each of its groups.
fn over_dataset() -> Audited {
    let mut audited = Audited::sound();
    let source = DatasetSource { dataset: "p".into(), updated_since: None };
    audited.records.job.source = Some(Source::Dataset(source));
    for (group, ranges) in [(0, vec![(0, 8), (8, 16)]), (1, vec![(0, 12)])] {
        let (ledger, manifest) = &mut audited.records.groups[group];
        ledger.bytes = ranges.iter().map(|(start, end)| end - start).sum();
        for (chunk, (start, end)) in manifest.as_mut().unwrap().chunks.iter_mut().zip(ranges) {
            (chunk.start, chunk.end) = (start, end);
        }
    }
    put_keys(&mut audited, 0, "\"a\"\n\"b\"\n\"c\"\n\"d\"\n");
    put_keys(&mut audited, 1, "\"e\"\n\"f\"\n\"g\"\n");
    audited.write_documents();
    audited
}

/// Stores the item file of a group, as if its commit had named it.
fn put_keys(audited: &mut Audited, group: usize, lines: &str) {
    let (name, job) = (format!("k{group}"), &audited.records.job);
    let key = ItemFile::object_key(&job.tenant, job.job_id, &name);
    audited.files.put(&key, lines);
    let info = audited.files.info(&key).now_or_never().unwrap().unwrap().unwrap();
    let keys = Some(ItemFile { name, etag: info.etag });
    let manifest = audited.records.groups[group].1.as_mut().unwrap();
    manifest.chunks.iter_mut().for_each(|chunk| chunk.keys.clone_from(&keys));
}

#[test]
fn the_chunks_of_a_job_over_a_dataset_are_compared_with_its_item_files() {
    let mut audited = over_dataset();
    assert_eq!((audited.differences(), audited.audit().equal), (Vec::new(), Some(true)));
    put_keys(&mut audited, 1, "\"e\"\n\"f,,,g\"\n");
    assert_eq!(audited.differences(), ["planned_items of chunk 0 of group 1: 3 2"]);
}

#[test]
fn an_item_file_that_is_missing_or_replaced_cannot_be_checked() {
    let audited = over_dataset();
    let job = &audited.records.job;
    let key = ItemFile::object_key(&job.tenant, job.job_id, "k1");
    audited.files.put(&key, "\"e\"\n\"f\"\n\"h\"\n");
    assert_eq!(audited.audit().equal, None, "replaced");
    audited.files.remove(&key);
    assert_eq!(audited.audit().equal, None, "missing");
}
