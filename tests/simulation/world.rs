//! Functions under way, messages in flight, and a clock that only the test moves.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use complete_job::Completer;
use create_job::Splitter;
use futures::FutureExt;
use longshore::chunk::{KnownJobs, Mode, Worker, stop_job};
use longshore::files::MemoryFiles;
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore::queues::MemoryQueues;
use longshore::store::memory::MemoryStore;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Reopen, SourceFile, Status, Stop, Tolerance, Transition};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Ledger, Queues};
use longshore_domain::progress::Progress;
use longshore_domain::records::Format;
use longshore_domain::time_stamp::Timestamp;
use proptest::sample::Index;
use sweep::Sweep;

use crate::handler::{ACTIONS, Simulated};
use crate::report;
use crate::stepwise::Stepwise;

const STALL_S: i64 = 60;
/// Seconds that a function may run.
const PATIENCE_S: i64 = 20;
const SOURCE: &str = "uploads/default/0b3d3f5e-7d0c-4e34-9c6c-0f3c5d1f9a10";

type Services = Ports<Stepwise<MemoryStore>, Stepwise<MemoryQueues>, Stepwise<MemoryFiles>>;

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// What can happen next.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A message is delivered.
    Deliver(Index),
    /// A message is delivered and stays: it will come again.
    DeliverAndKeep(Index),
    /// A function gets on by some steps.
    Step(Index, u8),
    /// A function dies; its message comes again.
    Kill(Index),
    /// A message is lost.
    Lose(Index),
    /// The client cancels the job.
    Cancel,
    /// The sweeper runs to its end.
    Sweep,
    /// Seconds pass.
    Wait(i64),
    /// What an ended job left is run again.
    Retry,
}

#[derive(Clone)]
enum Message {
    Create(CreateMessage),
    Chunk(ChunkMessage),
    Complete(CompleteMessage),
    /// The client's call. One that dies is made again.
    Cancel,
}

struct Task {
    message: Message,
    /// True once the message is done with; false if it is to come again.
    future: Pin<Box<dyn Future<Output = bool>>>,
}

pub(crate) struct World {
    ports: Rc<Services>,
    registry: Rc<Registry>,
    queues: MemoryQueues,
    files: MemoryFiles,
    id: JobId,
    messages: Vec<Message>,
    tasks: Vec<Task>,
    seen: Option<(u32, u64, u8)>,
}

impl World {
    /// A job over this file, waiting, its create message sent.
    pub(crate) fn new(csv: &str, max_failed: Option<u64>) -> Self {
        CLOCK.set(1_000_000);
        let (queues, files) = (MemoryQueues::default(), MemoryFiles::default());
        files.put(SOURCE, csv);
        let info = now(files.info(SOURCE)).unwrap().unwrap();
        let source = SourceFile {
            key: SOURCE.into(),
            size_bytes: info.size_bytes,
            etag: info.etag,
            format: Format::Csv,
            name: "file.csv".into(),
        };
        let job = waiting(source, Tolerance { max_failed, max_failed_percent: None });
        let store = MemoryStore::default();
        let definition = Definition { options: serde_json::json!({ "max_failed": max_failed }), columns: None };
        now(store.create_job(&job, &definition, None)).unwrap();
        let create = CreateMessage { job_id: job.job_id, generation: 0, position: 0, resend: 0 };
        now(queues.send_create(&create)).unwrap();
        let ports = Ports { store: Stepwise(store), queues: Stepwise(queues.clone()), files: Stepwise(files.clone()) };
        let registry = Rc::new(Registry::default().with(Simulated));
        let (messages, tasks) = (Vec::new(), Vec::new());
        Self { ports: Rc::new(ports), registry, queues, files, id: job.job_id, messages, tasks, seen: None }
    }

    pub(crate) fn job(&self) -> Job {
        now(self.ports.store.0.job(self.id)).unwrap().unwrap()
    }

    pub(crate) fn happen(&mut self, event: Event) {
        self.collect();
        match event {
            Event::Deliver(which) => self.deliver(which, false),
            Event::DeliverAndKeep(which) => self.deliver(which, true),
            Event::Step(which, steps) if !self.tasks.is_empty() => {
                let task = which.index(self.tasks.len());
                for _ in 0..steps {
                    if self.step(task) {
                        break;
                    }
                }
            }
            Event::Kill(which) if !self.tasks.is_empty() => {
                let task = self.tasks.swap_remove(which.index(self.tasks.len()));
                self.messages.push(task.message);
            }
            Event::Lose(which) if !self.messages.is_empty() => {
                self.messages.swap_remove(which.index(self.messages.len()));
            }
            Event::Cancel => self.begin(Message::Cancel),
            Event::Sweep => self.sweep(),
            Event::Wait(seconds) => CLOCK.set(CLOCK.get() + seconds * 1000),
            Event::Retry => self.retry(),
            Event::Step(..) | Event::Kill(_) | Event::Lose(_) => {}
        }
        self.answer();
    }

    /// As the API does it; the message may be lost like any other.
    fn retry(&mut self) {
        let (job, at) = (self.job(), clock());
        let deadline_at = at.plus_seconds(10 * 24 * 3_600);
        let reopen = Reopen { generation: job.generation, at, deadline_at };
        if let Transition::Made(job) = now(self.ports.store.0.reopen(&job, &reopen)).unwrap() {
            let (job_id, generation) = (job.job_id, job.generation);
            let create = CreateMessage { job_id, generation, position: job.groups, resend: 0 };
            now(self.queues.send_create(&create)).unwrap();
        }
    }

    /// Everything healthy from now on: every message delivered, every function run, a sweep whenever all is still.
    pub(crate) fn run_to_the_end(&mut self) {
        for _ in 0..64 {
            self.run_until_still();
            if self.job().status.is_final() {
                return self.assert_nothing_changes();
            }
            self.queues.forget_deduplication();
            CLOCK.set(CLOCK.get() + STALL_S * 1000);
            self.sweep();
        }
        panic!("the job did not end: {:?}", self.job());
    }

    /// Every message of a chunk is lost, whoever sends it.
    pub(crate) fn run_without_chunks(&mut self) {
        for _ in 0..64 {
            self.collect();
            let messages = std::mem::take(&mut self.messages);
            messages.into_iter().filter(|m| !matches!(m, Message::Chunk(_))).for_each(|m| self.begin(m));
            while !self.tasks.is_empty() {
                self.step(0);
                self.answer();
            }
            if self.job().status.is_final() {
                return;
            }
            CLOCK.set(CLOCK.get() + STALL_S * 1000);
            self.sweep();
        }
        panic!("the job did not end: {:?}", self.job());
    }

    /// The job may not go on any more, and the sweeper sees it.
    pub(crate) fn pass_the_deadline(&mut self) {
        CLOCK.set(self.job().deadline_at.0);
        self.sweep();
    }

    /// Delivers everything but what asks for completion, until only that is left.
    pub(crate) fn run_until_completion(&mut self) {
        loop {
            self.collect();
            let (last, messages) =
                std::mem::take(&mut self.messages).into_iter().partition(|m| matches!(m, Message::Complete(_)));
            self.messages = last;
            let messages: Vec<_> = messages;
            if messages.is_empty() {
                return;
            }
            messages.into_iter().for_each(|message| self.begin(message));
            while !self.tasks.is_empty() {
                self.step(0);
                self.answer();
            }
        }
    }

    /// Delivers completion, takes `steps` steps of it, has the client cancel in `turns` steps, and lets the rest happen.
    pub(crate) fn cancel_within_completion(&mut self, steps: usize, turns: usize) {
        self.run_until_completion();
        std::mem::take(&mut self.messages).into_iter().for_each(|message| self.begin(message));
        self.steps(0, steps);
        self.begin(Message::Cancel);
        let cancel = self.tasks.len() - 1;
        self.steps(cancel, turns);
    }

    fn steps(&mut self, task: usize, steps: usize) {
        for _ in 0..steps {
            if task >= self.tasks.len() || self.step(task) {
                return;
            }
            self.answer();
        }
    }

    /// The client deletes the job; if `stopped`, the call lives to tell it to stop.
    pub(crate) fn delete(&mut self, stopped: bool) {
        let store = &self.ports.store.0;
        now(store.delete(self.id, clock())).unwrap();
        if stopped && self.job().is_live() {
            now(store.stop(self.id, self.job().generation, &Stop::deleted(clock()))).unwrap();
        }
    }

    /// Functions run and sweeps sweep until the job is gone; the first sweep that would remove it dies after so many
    /// steps. What is left then: files, and records.
    pub(crate) fn run_until_removed(&mut self, steps: usize) -> Vec<String> {
        let mut dies = true;
        for _ in 0..64 {
            self.run_until_still();
            CLOCK.set(CLOCK.get() + STALL_S * 1000);
            self.queues.forget_deduplication();
            if dies && self.job().is_removable() {
                dies = false;
                self.sweep_for(steps);
            } else {
                self.sweep();
            }
            if now(self.ports.store.0.job(self.id)).unwrap().is_none() {
                self.run_until_still();
                return self.files.keys();
            }
        }
        panic!("the job is not removed: {:?}", self.job());
    }

    /// A sweep that dies after so many steps.
    fn sweep_for(&self, steps: usize) {
        let ports = Services {
            store: self.ports.store.clone(),
            queues: self.ports.queues.clone(),
            files: self.ports.files.clone(),
        };
        let sweep = Sweep { ports, dead_letters: self.queues.clone(), stall_s: STALL_S, clock };
        let mut run = Box::pin(sweep.run(Timestamp(i64::MAX)));
        for _ in 0..steps {
            if run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                return;
            }
        }
    }

    fn run_until_still(&mut self) {
        loop {
            self.collect();
            for message in std::mem::take(&mut self.messages) {
                self.begin(message);
            }
            if self.tasks.is_empty() {
                return;
            }
            while !self.tasks.is_empty() {
                self.step(0);
                self.answer();
            }
        }
    }

    fn assert_nothing_changes(&mut self) {
        let before = self.job();
        let again = CompleteMessage { job_id: self.id, generation: before.generation, resend: 9 };
        self.messages.push(Message::Complete(again));
        self.run_until_still();
        self.sweep();
        assert_eq!(self.job(), before, "after a final status nothing changes");
    }

    /// Messages that functions have sent since.
    fn collect(&mut self) {
        self.messages.extend(self.queues.take_creates().into_iter().map(Message::Create));
        self.messages.extend(self.queues.take_chunks().into_iter().map(|sent| Message::Chunk(sent.message)));
        self.messages.extend(self.queues.take_completes().into_iter().map(Message::Complete));
    }

    fn deliver(&mut self, which: Index, keep: bool) {
        if !self.messages.is_empty() {
            let which = which.index(self.messages.len());
            let message = if keep { self.messages[which].clone() } else { self.messages.swap_remove(which) };
            self.begin(message);
        }
    }

    fn begin(&mut self, message: Message) {
        let future = function(Rc::clone(&self.ports), Rc::clone(&self.registry), message.clone(), self.id);
        self.tasks.push(Task { message, future });
    }

    /// One step of a function; true if it has ended.
    fn step(&mut self, task: usize) -> bool {
        match self.tasks[task].future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => false,
            Poll::Ready(done) => {
                let task = self.tasks.swap_remove(task);
                self.messages.extend((!done).then_some(task.message));
                true
            }
        }
    }

    fn sweep(&mut self) {
        let sweep = Sweep {
            ports: Ports { store: self.ports.store.0.clone(), queues: self.queues.clone(), files: self.files.clone() },
            dead_letters: self.queues.clone(),
            stall_s: STALL_S,
            clock,
        };
        let swept = now(sweep.run(Timestamp(i64::MAX)));
        assert_eq!(swept.failures, 0);
    }

    /// What a client sees: it adds up, and never goes back.
    fn answer(&mut self) {
        let (groups, job) = now(self.ports.store.0.progress(self.id)).unwrap().unwrap();
        let progress = Progress::of(&job, &groups, clock());
        assert!(progress.item_progress() <= progress.item_count, "{progress:?}");
        let now = (job.generation, progress.item_progress(), progress.percent);
        if let Some(before) = self.seen.replace(now).filter(|before| before.0 == job.generation) {
            assert!(now.1 >= before.1 && now.2 >= before.2, "progress went back from {before:?} to {now:?}");
        }
        if job.status == Status::Completed {
            assert_eq!((progress.item_progress(), progress.percent), (progress.item_count, 100));
        }
    }

    /// Codes of the rows that failed, in the report's order.
    pub(crate) fn failed_codes(&self) -> Vec<String> {
        report::codes(&self.files, &self.job())
    }

    /// Succeeded rows and the rows of the files are the input's rows, each exactly once, with the right outcome.
    pub(crate) fn check_report(&self, rows: &[usize]) {
        let (job, result) = (self.job(), report::result(&self.files, &self.job()));
        let [failed, skipped, unprocessed] =
            ["failed.csv", "skipped.csv", "unprocessed.csv"].map(|name| report::rows(&self.files, &job, name));
        let named: BTreeSet<_> = failed.keys().chain(skipped.keys()).chain(unprocessed.keys()).collect();
        assert_eq!(named.len(), failed.len() + skipped.len() + unprocessed.len(), "no row is in two files");
        assert!(named.iter().all(|n| (1..=rows.len()).contains(*n)), "no row is invented");
        let totals = job.totals.expect("a finished job has totals");
        let succeeded: Vec<_> = (1..=rows.len()).filter(|n| !named.contains(n)).collect();
        assert_eq!(totals.succeeded as usize, succeeded.len());
        assert_eq!((totals.failed as usize, totals.skipped as usize), (failed.len(), skipped.len()));
        assert_eq!((result.status, result.counts.total() as usize), (job.status, rows.len()));
        assert!(
            succeeded.iter().all(|n| ["ok", "retry"].contains(&ACTIONS[rows[n - 1]])),
            "a row that failed counts as done"
        );
        assert!(skipped.values().all(|action| action == "skip"));
        assert!(failed.values().all(|action| ["reject", "never", "fatal"].contains(&action.as_str())), "{failed:?}");
    }
}

fn function(
    ports: Rc<Services>,
    registry: Rc<Registry>,
    message: Message,
    id: JobId,
) -> Pin<Box<dyn Future<Output = bool>>> {
    Box::pin(async move {
        // Waiting makes a function's time run out: it commits and sends a continuation.
        let late = clock().plus_seconds(PATIENCE_S);
        match message {
            Message::Create(message) => {
                let splitter = Splitter { ports: &ports, registry: &registry, clock };
                told(splitter.split(&message, late).await)
            }
            Message::Chunk(message) => {
                let known = KnownJobs::default();
                let worker = Worker { ports: &ports, registry: &registry, known: &known, retry_base_s: 0, clock };
                told(worker.work(&message, Mode::Work, late).await)
            }
            Message::Complete(message) => {
                let completer = Completer { ports: &ports, stop_grace_ms: 0, clock };
                told(completer.complete(&message).await)
            }
            Message::Cancel => {
                let job = ports.store.job(id).await.unwrap().unwrap();
                told(stop_job(&ports, &job, &Stop::canceled(clock())).await)
            }
        }
    })
}

/// In-memory services never fail, so an error is the code's.
fn told<T, E: std::error::Error>(result: Result<T, E>) -> bool {
    if let Err(error) = &result {
        panic!("a function failed over healthy services: {}", longshore::telemetry::chain(error));
    }
    result.is_ok()
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("in-memory services answer at once")
}

fn waiting(source: SourceFile, tolerance: Tolerance) -> Job {
    Job {
        source: Some(source),
        tolerance,
        deadline_at: clock().plus_seconds(10 * 24 * 3_600),
        ..Job::waiting(JobId::generate(), "default", "simulated", clock())
    }
}
