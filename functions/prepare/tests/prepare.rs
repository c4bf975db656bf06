//! The preparation of a job's file over in-memory services, from the split that finds its form to the split of the
//! result.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step fails the test")]

use std::cell::Cell;
use std::io::Write;

use create_job::{SplitEnd, Splitter};
use flate2::Compression;
use flate2::write::GzEncoder;
use longshore::batch::Delivery;
use longshore::handler::Registry;
use longshore::job_types::builtin;
use longshore::ports::Ports;
use longshore_domain::ids::PauseId;
use longshore_domain::job::{Job, Original, Reopen, Selection, SourceFile, Stage, Status, Stop};
use longshore_domain::message::CreateMessage;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, PauseRecords, Queues, Reopened};
use longshore_domain::records::{Form, Format, GivenSheet};
use longshore_domain::sheet_rows::SheetRows;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore};
use prepare::{PrepareEnd, PrepareError, Preparer, Waits};
use rust_xlsxwriter::Workbook;
use serde_json::json;

const KEY: &str = "uploads/default/0b3d3f5e-7d0c-4e34-9c6c-0f3c5d1f9a10";

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(1_000) });

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

const NO_DEADLINE: Timestamp = Timestamp(i64::MAX);

struct World {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    registry: Registry,
    job: Job,
}

impl World {
    /// A job over this file, whose create message is sent.
    async fn new(file: &[u8], sheet: Option<GivenSheet>) -> Self {
        let (store, queues, files) = (MemoryStore::default(), MemoryQueues::default(), MemoryFiles::default());
        files.put(KEY, file);
        let info = files.info(KEY).await.unwrap().unwrap();
        let source = SourceFile::new(KEY, info, Format::Csv, "people.csv.gz");
        let id = longshore_domain::ids::JobId::generate();
        let job = Job::waiting(id, TenantId::from_static("default"), "import", clock());
        let job = Job { source: Some(source.into()), ..job };
        let options = json!({"dataset": "people", "key": "id", "mode": "validate"});
        store.create_job(&job, &Definition { sheet, ..Definition::new(options) }, None).await.unwrap();
        queues.send_create(&CreateMessage::new(&job)).await.unwrap();
        let registry = builtin(MemoryRecords::default(), files.clone());
        Self { ports: Ports { store, queues, files }, registry, job }
    }

    fn preparer(&self) -> Preparer<'_, MemoryStore, MemoryQueues, MemoryFiles> {
        Preparer { ports: &self.ports, waits: Waits::Asynchronously, max_file_bytes: 1 << 30, clock }
    }

    /// Splits the job with the message that waits.
    async fn split(&self) -> SplitEnd {
        let splitter = Splitter { ports: &self.ports, registry: &self.registry, clock };
        let message = self.ports.queues.take_creates().pop().expect("a create message");
        splitter.split(&message, NO_DEADLINE).await.unwrap()
    }

    /// Prepares the file with the message that waits.
    async fn prepare(&self) -> Result<PrepareEnd, PrepareError> {
        let message = self.ports.queues.take_prepares().pop().expect("a message to prepare");
        self.preparer().deliver(&message, delivery(0)).await
    }

    async fn job(&self) -> Job {
        self.ports.store.job(self.job.job_id).await.unwrap().unwrap()
    }

    fn prepared_files(&self) -> Vec<String> {
        self.ports.files.keys().into_iter().filter(|key| key.contains("/prepared/")).collect()
    }
}

const fn delivery(failures: u32) -> Delivery {
    Delivery { deadline: NO_DEADLINE, failures, sent_at: None }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
}

const CSV: &[u8] = b"id,name\n1,Ann\n2,Bob\n";

/// Two sheets, of which the second begins in row 3 and has a blank row.
fn workbook() -> Vec<u8> {
    let mut workbook = Workbook::new();
    workbook.add_worksheet().set_name("Notes").unwrap().write(0, 0, "nothing").unwrap();
    let people = workbook.add_worksheet().set_name("People").unwrap();
    for (row, cells) in [(2, ["id", "name"]), (3, ["1", "Ann"]), (5, ["2", "Bob"])] {
        people.write(row, 0, cells[0]).unwrap().write(row, 1, cells[1]).unwrap();
    }
    workbook.save_to_buffer().unwrap()
}

#[tokio::test]
async fn a_compressed_file_is_prepared_and_then_split() {
    let world = World::new(&gzip(CSV), None).await;
    assert_eq!(world.split().await, SplitEnd::Preparing);
    assert_eq!(world.job().await.split.groups, 0);
    assert_eq!(world.prepare().await.unwrap(), PrepareEnd::Ended);
    let job = world.job().await;
    let file = job.file().unwrap();
    assert_eq!(world.ports.files.get(&file.key).as_deref(), Some(CSV));
    assert_eq!((file.upload(), file.size_bytes), (world.job.file().unwrap().upload(), CSV.len() as u64));
    assert_eq!((job.stage, job.preparation), (Stage::Splitting, None));
    assert_eq!(world.split().await, SplitEnd::Ended);
    assert_eq!(world.job().await.split.item_count, 2);
}

#[tokio::test]
async fn the_rows_of_a_sheet_keep_their_numbers() {
    for sheet in [GivenSheet::Number(2), GivenSheet::Name("people".into())] {
        let world = World::new(&workbook(), Some(sheet)).await;
        assert_eq!(world.split().await, SplitEnd::Preparing);
        assert_eq!(world.prepare().await.unwrap(), PrepareEnd::Ended);
        let job = world.job().await;
        let file = job.file().unwrap();
        let Original { form, sheet, first_row, has_row_gaps, .. } = file.original.as_deref().unwrap().clone();
        assert_eq!((form, sheet.as_deref(), first_row, has_row_gaps), (Form::Workbook, Some("People"), Some(3), true));
        let rows = SheetRows::from_steps(&world.ports.files.get(&file.row_steps_key()).unwrap());
        assert_eq!([1, 2].map(|item| rows.row_of(item, 1)), [Some(4), Some(6)]);
        assert_eq!(world.split().await, SplitEnd::Ended);
        assert_eq!(world.job().await.split.item_count, 2);
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_converted_fails_the_job() {
    let mut damaged = gzip(CSV);
    damaged.truncate(20);
    for (file, sheet, code) in [
        (damaged, None, "archive_damaged"),
        (gzip(&gzip(CSV)), None, "archive_not_text"),
        (workbook(), Some(GivenSheet::Number(3)), "sheet_not_found"),
    ] {
        let world = World::new(&file, sheet).await;
        assert_eq!(world.split().await, SplitEnd::Preparing);
        assert_eq!(world.prepare().await.unwrap(), PrepareEnd::Failed);
        let job = world.job().await;
        assert_eq!((job.stage, job.stop.unwrap().error.unwrap().code.as_str()), (Stage::Stopping, code));
        assert_eq!((world.prepared_files(), world.ports.queues.take_completes().len()), (Vec::new(), 1));
    }
}

#[tokio::test]
async fn a_corrected_file_is_prepared_up_to_the_size_that_the_splitter_reads() {
    let large = [b"row,id,name\n".as_slice(), &b"1,1,x\n".repeat(6 << 20)].concat();
    for (corrected, end) in [(b"row,id,name\n1,1,Ann\n".to_vec(), PrepareEnd::Ended), (large, PrepareEnd::Failed)] {
        let world = World::new(b"id,name\n1,Ann\n", None).await;
        world.ports.queues.take_creates();
        let id = world.job.job_id;
        world.ports.store.amend(id, |job, _| {
            (job.status, job.stage, job.split.groups) = (Status::Failed, Stage::Done, 0);
            job.completion.totals = Some(longshore_domain::outcome::Counts::default());
        });
        let bytes = gzip(&corrected);
        let key = "uploads/default/0b3d3f5e-7d0c-4e34-9c6c-0f3c5d1f9a11";
        world.ports.files.put(key, bytes);
        let info = world.ports.files.info(key).await.unwrap().unwrap();
        let (size_bytes, etag) = (info.size_bytes, info.etag);
        let file = SourceFile { key: key.into(), size_bytes, etag, ..world.job.file().unwrap().clone() };
        let selection = Selection::Corrected(file);
        let reopen = Reopen { generation: 0, at: clock(), deadline_at: NO_DEADLINE, selection, registration: None };
        let Reopened::Made(job) = world.ports.store.reopen(&world.job().await, &reopen).await.unwrap() else {
            panic!("the job is not reopened")
        };
        world.ports.store.begin(id, 1, clock()).await.unwrap();
        let ended = world.preparer().deliver(&CreateMessage::new(&job), delivery(0)).await.unwrap();
        assert_eq!(ended, end, "{} bytes", corrected.len());
    }
}

#[tokio::test]
async fn a_sheet_of_a_file_that_is_no_workbook_fails_the_job() {
    for file in [CSV.to_vec(), gzip(CSV)] {
        let world = World::new(&file, Some(GivenSheet::Number(1))).await;
        if world.split().await == SplitEnd::Preparing {
            assert_eq!(world.prepare().await.unwrap(), PrepareEnd::Ended);
            assert_eq!(world.split().await, SplitEnd::Failed);
        }
        assert_eq!(world.job().await.stop.unwrap().error.unwrap().code, "not_a_workbook");
    }
}

#[tokio::test]
async fn a_repeated_message_prepares_nothing_again() {
    let world = World::new(&gzip(CSV), None).await;
    world.split().await;
    let message = world.ports.queues.take_prepares().pop().unwrap();
    assert_eq!(world.preparer().deliver(&message, delivery(0)).await.unwrap(), PrepareEnd::Ended);
    let prepared = world.job().await;
    // The first delivery may have died before it continued the split.
    world.ports.queues.take_creates();
    world.ports.queues.forget_deduplication();
    assert_eq!(world.preparer().deliver(&message, delivery(0)).await.unwrap(), PrepareEnd::Unneeded);
    assert_eq!((world.job().await, world.prepared_files().len()), (prepared, 1));
    assert_eq!(world.split().await, SplitEnd::Ended);
    assert_eq!(world.preparer().deliver(&message, delivery(0)).await.unwrap(), PrepareEnd::NothingToDo);
}

#[tokio::test]
async fn the_message_after_the_preparation_is_not_dropped_as_a_duplicate() {
    let world = World::new(&gzip(CSV), None).await;
    // The queue drops a message with the id of the first one for five minutes.
    world.split().await;
    world.prepare().await.unwrap();
    assert_eq!(world.ports.queues.take_creates().len(), 1);
}

#[tokio::test]
async fn a_canceled_job_is_not_prepared() {
    let world = World::new(&gzip(CSV), None).await;
    world.split().await;
    world.ports.store.stop(world.job.job_id, 0, &Stop::canceled(clock())).await.unwrap();
    assert_eq!(world.prepare().await.unwrap(), PrepareEnd::NothingToDo);
    assert_eq!((world.prepared_files(), world.job().await.status), (Vec::new(), Status::Running));
}

#[tokio::test]
async fn a_message_that_a_pause_holds_resets_the_count_of_resends_and_changes_nothing_else() {
    let world = World::new(&gzip(CSV), None).await;
    let create = CreateMessage::new(&world.job);
    world.split().await;
    let prepare = world.ports.queues.take_prepares().pop().unwrap();
    let scope = PauseScope::JobType(world.job.job_type.clone());
    let pause = Pause { id: PauseId::generate(), scope, since: clock(), until: NO_DEADLINE, by: "olga".to_owned() };
    world.ports.store.put_pause(&pause).await.unwrap();
    let splitter = Splitter { ports: &world.ports, registry: &world.registry, clock };
    // The messages are equal, and come from different queues.
    for (message, prepares) in [(&create, false), (&prepare, true)] {
        let before = world.job().await;
        world.ports.store.count_resend(&before, clock()).await.unwrap();
        if prepares {
            assert_eq!(world.preparer().deliver(message, delivery(0)).await.unwrap(), PrepareEnd::Paused);
        } else {
            assert_eq!(splitter.split(message, NO_DEADLINE).await.unwrap(), SplitEnd::Paused);
        }
        assert_eq!(world.job().await, before);
    }
}

#[tokio::test]
async fn a_failed_delivery_is_replaced_by_a_copy() {
    let world = World::new(&gzip(CSV), None).await;
    world.split().await;
    let message = world.ports.queues.take_prepares().pop().unwrap();
    assert_eq!(world.preparer().deliver(&message, delivery(1)).await.unwrap(), PrepareEnd::Replaced);
    let copy = world.ports.queues.take_prepares().pop().unwrap();
    assert_eq!((copy.failures, copy.preparation_group_id() == message.preparation_group_id()), (1, false));
    assert_eq!(world.preparer().deliver(&copy, delivery(0)).await.unwrap(), PrepareEnd::Ended);
}

#[tokio::test]
async fn a_delivery_without_time_fails_and_shows_its_progress() {
    let world = World::new(&gzip(CSV), None).await;
    world.split().await;
    let message = world.ports.queues.take_prepares().pop().unwrap();
    let late = Delivery { deadline: Timestamp(0), ..delivery(0) };
    let end = world.preparer().deliver(&message, late).await;
    assert!(matches!(end, Err(PrepareError::TimeOver)), "{end:?}");
    let job = world.job().await;
    assert!(job.is_preparing() && world.prepared_files().is_empty());
    assert_eq!(world.preparer().deliver(&message, delivery(0)).await.unwrap(), PrepareEnd::Ended);
}

#[tokio::test]
async fn a_file_that_is_gone_is_left_to_the_split() {
    let world = World::new(&gzip(CSV), None).await;
    world.split().await;
    world.ports.files.remove(KEY);
    assert_eq!(world.prepare().await.unwrap(), PrepareEnd::Unneeded);
    assert_eq!(world.split().await, SplitEnd::Failed);
    assert_eq!(world.job().await.stop.unwrap().error.unwrap().code, "source_missing");
}
