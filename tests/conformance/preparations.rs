//! The preparation of a job's file: progress that only grows, and one prepared file.

use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Job, Original, Preparation, Reopen, Selection, SourceFile, Status, Transition};
use longshore_domain::ports::{Reopened, Store};
use longshore_domain::records::Form;

use crate::fixtures::{accepted, at, finish, job_after, plan, split, stop};

on_both_stores! {
    the_progress_of_a_preparation_only_grows,
    one_prepared_file_replaces_the_uploaded_one,
    a_file_is_not_prepared_after_a_stop_or_a_group,
    only_the_original_is_replaced,
    the_corrected_file_of_a_retry_is_replaced,
    a_retry_begins_without_progress,
}

async fn splitting(store: &impl Store) -> Job {
    let job = accepted(store).await;
    job_after(store.begin(job.job_id, 0, at(1)).await.unwrap())
}

/// Returns a file that was prepared from this one.
fn prepared(from: &SourceFile, name: &str) -> SourceFile {
    let original = Original {
        key: from.key.clone(),
        size_bytes: from.size_bytes,
        etag: from.etag.clone(),
        form: Form::Workbook,
        file: None,
        sheet: Some("People".into()),
        first_row: Some(3),
        has_row_gaps: true,
        hidden_rows: 2,
        merged_ranges: 1,
    };
    SourceFile {
        key: format!("jobs/default/x/prepared/{name}"),
        size_bytes: 99,
        etag: "\"p\"".into(),
        original: Some(Box::new(original)),
        ..from.clone()
    }
}

const fn read(read_bytes: u64) -> Preparation {
    Preparation { read_bytes, size_bytes: 100 }
}

async fn the_progress_of_a_preparation_only_grows(store: impl Store) {
    let mut job = splitting(&store).await;
    let file = job.file().unwrap().clone();
    for (bytes, time, is_made) in
        [(0, 2, true), (0, 3, false), (7, 4, true), (7, 4, true), (7, 5, false), (6, 6, false)]
    {
        let recorded = store.record_preparation(&job, &file, read(bytes), at(time)).await.unwrap();
        assert_eq!(matches!(recorded, Transition::Made(_)), is_made, "{bytes} at {time}");
        if let Transition::Made(recorded) = recorded {
            assert_eq!((recorded.preparation, recorded.times.updated_at), (Some(read(bytes)), at(time)));
            job = *recorded;
        }
    }
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(job));
}

async fn one_prepared_file_replaces_the_uploaded_one(store: impl Store) {
    let job = splitting(&store).await;
    let job = job_after(store.count_resend(&job, at(2)).await.unwrap());
    job_after(store.record_preparation(&job, job.file().unwrap(), read(5), at(3)).await.unwrap());
    let (file, other) = (prepared(job.file().unwrap(), "a"), prepared(job.file().unwrap(), "b"));
    let ended = job_after(store.end_preparation(&job, &file, at(4)).await.unwrap());
    let mut expected = job.clone();
    expected.end_preparation(0, &file, at(4));
    assert_eq!(ended, expected);
    assert_eq!((ended.preparation, ended.resends, ended.file()), (None, 0, Some(&file)));
    assert_eq!(job_after(store.end_preparation(&job, &file, at(4)).await.unwrap()), ended, "a repeated call");
    assert_eq!(store.end_preparation(&job, &other, at(5)).await.unwrap(), Transition::Refused);
    let late = store.record_preparation(&job, job.file().unwrap(), read(9), at(5)).await.unwrap();
    assert_eq!(late, Transition::Refused, "the percent would decrease");
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(ended));
}

async fn a_file_is_not_prepared_after_a_stop_or_a_group(store: impl Store) {
    for has_group in [false, true] {
        let job = splitting(&store).await;
        let file = prepared(job.file().unwrap(), "a");
        let stored = match has_group {
            true => store.commit_group(&job, &plan(0), at(2)).await.unwrap(),
            false => store.stop(job.job_id, 0, &stop(2)).await.unwrap(),
        };
        let stored = job_after(stored);
        assert_eq!(
            store.record_preparation(&job, job.file().unwrap(), read(1), at(3)).await.unwrap(),
            Transition::Refused
        );
        assert_eq!(store.end_preparation(&job, &file, at(3)).await.unwrap(), Transition::Refused);
        let later = Job { generation: 1, ..job };
        assert_eq!(
            store.record_preparation(&later, later.file().unwrap(), read(1), at(3)).await.unwrap(),
            Transition::Refused
        );
        assert_eq!(store.end_preparation(&later, &file, at(3)).await.unwrap(), Transition::Refused);
        assert_eq!(store.job(stored.job_id).await.unwrap(), Some(stored));
    }
}

async fn only_the_original_is_replaced(store: impl Store) {
    let job = splitting(&store).await;
    let source = job.file().unwrap();
    for from in [
        SourceFile { etag: "\"new\"".into(), ..source.clone() },
        SourceFile { key: format!("{}2", source.key), ..source.clone() },
    ] {
        let file = prepared(&from, "a");
        assert_eq!(store.end_preparation(&job, &file, at(3)).await.unwrap(), Transition::Refused);
        // The file is not the corrected one of the generation either, although the caller takes it for that.
        let mut misread = job.clone();
        misread.retry.selection = Selection::Corrected(from.clone());
        assert_eq!(store.end_preparation(&misread, &file, at(3)).await.unwrap(), Transition::Refused);
        let recorded = store.record_preparation(&misread, &from, read(1), at(3)).await.unwrap();
        assert_eq!(recorded, Transition::Refused);
    }
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(job));
}

async fn the_corrected_file_of_a_retry_is_replaced(store: impl Store) {
    let job = split(&store, 2).await;
    let job = job_after(store.finish(job.job_id, &finish(Status::Failed, 9)).await.unwrap());
    let corrected =
        SourceFile { key: format!("uploads/default/{}", FileGuid::generate()), ..job.file().unwrap().clone() };
    let selection = Selection::Corrected(corrected.clone());
    let reopen = Reopen { generation: 0, at: at(20), deadline_at: at(90), selection, registration: None };
    let Reopened::Made(job) = store.reopen(&job, &reopen).await.unwrap() else { panic!("the job is not reopened") };
    let job = job_after(store.begin(job.job_id, 1, at(21)).await.unwrap());
    job_after(store.record_preparation(&job, &corrected, read(3), at(22)).await.unwrap());
    let file = prepared(&corrected, "c");
    let ended = job_after(store.end_preparation(&job, &file, at(23)).await.unwrap());
    assert_eq!((ended.file(), ended.retry.selection.corrected()), (job.file(), Some(&file)));
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(ended));
}

async fn a_retry_begins_without_progress(store: impl Store) {
    let job = splitting(&store).await;
    job_after(store.record_preparation(&job, job.file().unwrap(), read(5), at(2)).await.unwrap());
    job_after(store.stop(job.job_id, 0, &stop(3)).await.unwrap());
    let job = job_after(store.finish(job.job_id, &finish(Status::Failed, 9)).await.unwrap());
    assert_eq!(job.preparation, Some(read(5)));
    let selection = Selection::All;
    let reopen = Reopen { generation: 0, at: at(20), deadline_at: at(90), selection, registration: None };
    let Reopened::Made(reopened) = store.reopen(&job, &reopen).await.unwrap() else { panic!("it is not reopened") };
    assert_eq!(*reopened, job.reopened(&reopen));
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(*reopened));
    let job = job_after(store.begin(job.job_id, 1, at(21)).await.unwrap());
    assert_eq!(
        job_after(store.record_preparation(&job, job.file().unwrap(), read(1), at(22)).await.unwrap()).preparation,
        Some(read(1))
    );
}
