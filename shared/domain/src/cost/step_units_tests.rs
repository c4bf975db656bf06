//! The units of single steps.

use super::*;
use crate::ids::JobId;
use crate::job::{Selection, SourceFile};
use crate::ports::FileInfo;
use crate::records::Format;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// A job over a file of this size, and the file.
fn job_over_a_file(size_bytes: u64) -> (Job, SourceFile) {
    let file = SourceFile::new("k", FileInfo { size_bytes, etag: "e".into() }, Format::Csv, "f.csv");
    let job = Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(0));
    (Job { source: Some(file.clone().into()), ..job }, file)
}

#[test]
fn a_job_without_a_file_reads_no_object_to_split_it() {
    let none = SourceSize { bytes: 0, preparation: None, has_item_files: false };
    assert_eq!(split(none, &Ledger::default()).object_reads, 0);
    let usage = ChunkUsage { deliveries: 2, reads: 104, ..ChunkUsage::default() };
    let walk = split(SourceSize { has_item_files: true, ..none }, &Ledger { groups: 1, usage, ..Ledger::default() });
    assert_eq!((walk.object_writes, walk.reads), (1, 3 + 2 + 1), "the ledger has the reads of the walk");
}

#[test]
fn a_preparation_counts_as_far_as_it_has_come_and_a_compressed_text_by_its_size_after_it() {
    let none = SourceSize { bytes: 0, preparation: None, has_item_files: false };
    let of = |read_bytes, prepared_bytes| {
        let preparation = Some(PreparationSize { read_bytes, prepared_bytes });
        split(SourceSize { preparation, ..none }, &Ledger::default()) - split(none, &Ledger::default())
    };
    assert_eq!((of(0, 0).requests, of(0, 0).queue), (2, 6), "it waits for its turn");
    let gb_s = |units: Units| units.gb_ms as f64 / 1_000.0;
    assert!((13.0..15.0).contains(&gb_s(of(100_000_000, 0))), "a workbook of 100 MB: {:?}", of(100_000_000, 0));
    assert!(gb_s(of(10_000_000, 1_000_000_000)) > 10.0 * gb_s(of(10_000_000, 0)));
    assert!(gb_s(of(100_000_000, 300_000_000)) < 1.01 * gb_s(of(100_000_000, 0)));
}

#[test]
fn a_preparation_counts_in_the_generation_that_has_made_it() {
    let (mut job, file) = job_over_a_file(1_000);
    let prepared = |job: &Job| SourceSize::new(job).preparation;
    assert_eq!(prepared(&job), None);
    job.preparation = Some(Preparation { read_bytes: 400, size_bytes: 1_000 });
    assert_eq!(
        prepared(&job),
        Some(PreparationSize { read_bytes: 400, prepared_bytes: 0 }),
        "also of a job that fails"
    );
    job.preparation = None;
    let original = serde_json::json!({ "key": "o", "sizeBytes": 1_000, "etag": "e", "form": "workbook" });
    let original = Some(serde_json::from_value(original).unwrap());
    let ready = SourceFile { original, size_bytes: 5_000, ..file.clone() };
    job.source = Some(ready.clone().into());
    let ended = Some(PreparationSize { read_bytes: 1_000, prepared_bytes: 5_000 });
    assert_eq!(prepared(&job), ended);
    job.generation = 1;
    job.retry.carried_over.groups = 3;
    assert_eq!(prepared(&job), None, "a retry uses the prepared file");
    job.retry.selection = Selection::Corrected(ready);
    assert_eq!(prepared(&job), ended, "and prepares a corrected one");
}

#[test]
fn a_long_report_takes_time() {
    let none = SourceSize { bytes: 0, preparation: None, has_item_files: false };
    let of = |failed, skipped| {
        end(none, &Ledger::default(), Counts { failed, skipped, ..Counts::default() }, End::Completed).gb_ms
    };
    assert_eq!(of(600_000, 400_000) - of(0, 0), 2_500, "five seconds for a million items");
}

/// The units of the split of a job over a file of 10 GB, whose groups have these bytes.
fn split_of(job: &Job, bytes: &[u64]) -> Units {
    let groups = bytes.iter().zip(job.retry.carried_over.groups..);
    let groups: Vec<_> = groups.map(|(bytes, number)| Group::new(number, 1, *bytes, Timestamp(1))).collect();
    split(SourceSize::to_split(job), &Ledger::new(job, &groups))
}

#[test]
fn a_split_counts_as_far_as_it_has_come_and_in_each_generation_what_that_one_has_split() {
    let (mut job, _) = job_over_a_file(10 << 30);
    let gb = |units: Units| (units.gb_ms, units.requests);
    assert_eq!(gb(split_of(&job, &[])), (50, 1), "its header is read");
    let (tenth, whole) = (split_of(&job, &[1 << 30]), split_of(&job, &[9 << 30, 1 << 30]));
    assert_eq!((tenth.requests, whole.requests), (2, 17));
    assert!(tenth.gb_ms * 9 < whole.gb_ms && tenth.gb_ms * 11 > whole.gb_ms, "{tenth:?} {whole:?}");
    (job.generation, job.retry.carried_over.groups) = (1, 1);
    assert_eq!(gb(split_of(&job, &[1 << 30])), gb(tenth), "a retry goes on where the split was stopped");
    job.retry.carried_over.split_ended = true;
    assert_eq!(gb(split_of(&job, &[1 << 30])), (50, 1), "and reads nothing of a file that was split");
}
