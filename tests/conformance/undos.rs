//! The creation of an undo: stored together with the mark on its import, or not at all.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, MarkUndone, Reopen, Selection, Status, UndoState, UndoneImport};
use longshore_domain::ports::{Reopened, Store, UndoCreated};

use crate::fixtures::{accepted, at, definition, finish, job_after, waiting_job};

on_both_stores! {
    an_undo_and_the_mark_on_its_import_are_stored_together,
    only_an_ended_import_as_it_was_read_is_marked,
    a_marked_import_is_not_reopened,
}

fn undo_of(import: &Job) -> Job {
    let undoes = UndoneImport { job_id: import.job_id, groups: 3, preview: false };
    let undo = UndoState { undoes: Some(undoes), ..UndoState::default() };
    Job { job_type: "undo".into(), undo, ..waiting_job() }
}

fn mark(import: &Job, undo: &Job, before: Option<JobId>) -> MarkUndone {
    MarkUndone { import: import.job_id, generation: import.generation, before, by: undo.job_id, at: at(9_000) }
}

async fn ended(store: &impl Store) -> Job {
    let job = accepted(store).await;
    store.begin(job.job_id, 0, at(1)).await.unwrap();
    job_after(store.finish(job.job_id, &finish(Status::Failed, 2)).await.unwrap())
}

async fn create(store: &impl Store, undo: &Job, mark: &MarkUndone) -> UndoCreated {
    store.create_undo(undo, &definition(), mark).await.unwrap()
}

async fn an_undo_and_the_mark_on_its_import_are_stored_together(store: impl Store) {
    let import = ended(&store).await;
    let (first, second) = (undo_of(&import), undo_of(&import));
    assert_eq!(create(&store, &first, &mark(&import, &first, None)).await, UndoCreated::New);
    assert_eq!(store.job(first.job_id).await.unwrap(), Some(first.clone()));
    assert_eq!(store.definition(first.job_id).await.unwrap(), Some(definition()));
    let marked = store.job(import.job_id).await.unwrap().unwrap();
    assert_eq!((marked.undo.undone_by, marked.times.updated_at), (Some(first.job_id), at(9_000)));
    assert_eq!(create(&store, &first, &mark(&import, &first, None)).await, UndoCreated::New, "our own earlier write");
    assert_eq!(create(&store, &second, &mark(&import, &second, None)).await, UndoCreated::Refused);
    assert_eq!(store.job(second.job_id).await.unwrap(), None);
    assert_eq!(create(&store, &second, &mark(&import, &second, Some(first.job_id))).await, UndoCreated::New);
    assert_eq!(store.job(import.job_id).await.unwrap().unwrap().undo.undone_by, Some(second.job_id));
}

async fn only_an_ended_import_as_it_was_read_is_marked(store: impl Store) {
    let running = accepted(&store).await;
    let undo = undo_of(&running);
    assert_eq!(create(&store, &undo, &mark(&running, &undo, None)).await, UndoCreated::Refused);
    let import = ended(&store).await;
    for mark in [
        MarkUndone { generation: 1, ..mark(&import, &undo, None) },
        mark(&import, &undo, Some(JobId::generate())),
        MarkUndone { import: JobId::generate(), ..mark(&import, &undo, None) },
    ] {
        assert_eq!(create(&store, &undo, &mark).await, UndoCreated::Refused, "{mark:?}");
    }
    store.delete(import.job_id, at(5)).await.unwrap();
    assert_eq!(create(&store, &undo, &mark(&import, &undo, None)).await, UndoCreated::Refused, "deleted");
    assert_eq!(store.job(undo.job_id).await.unwrap(), None);
}

async fn a_marked_import_is_not_reopened(store: impl Store) {
    let import = ended(&store).await;
    let undo = undo_of(&import);
    assert_eq!(create(&store, &undo, &mark(&import, &undo, None)).await, UndoCreated::New);
    let reopen = Reopen {
        generation: 0,
        at: at(10_000),
        deadline_at: at(90_000),
        selection: Selection::All,
        registration: None,
    };
    // As it was read before the mark.
    assert_eq!(store.reopen(&import, &reopen).await.unwrap(), Reopened::Refused);
    let stored = store.job(import.job_id).await.unwrap().unwrap();
    assert_eq!((stored.generation, stored.status), (0, Status::Failed));
}
