//! Functions under way, messages in flight, and a clock that only the test moves.

mod client;
mod course;
mod function;
mod gate;

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use longshore::files::MemoryFiles;
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore::queues::MemoryQueues;
use longshore::store::memory::MemoryStore;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Priority, SourceFile, Tolerance};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{Definition, Files, JobStore, Queues};
use longshore_domain::records::Format;
use longshore_domain::time_stamp::Timestamp;
use proptest::sample::Index;
use sweep::Sweep;

use crate::handler::{Limited, Simulated};
use crate::stepwise::Stepwise;
use function::function;

const STALL_S: i64 = 60;
/// Seconds that a function may run.
const PATIENCE_S: i64 = 20;
/// Seconds after which it is killed if it has not ended by then.
const RESERVE_S: i64 = 4;
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
    /// When the machine kills it, if it has not ended: a while after it should have stopped by itself.
    dies_at: Timestamp,
    /// True once the message is done with; false if it is to come again.
    future: Pin<Box<dyn Future<Output = bool>>>,
}

/// Messages that may be lost: fewer than the sweeper's pushes.
const MOST_LOSSES: u32 = 2;

pub(crate) struct World {
    ports: Rc<Services>,
    registry: Rc<Registry>,
    queues: MemoryQueues,
    files: MemoryFiles,
    id: JobId,
    messages: Vec<Message>,
    tasks: Vec<Task>,
    seen: Option<(u32, u64, u8)>,
    /// Messages that were lost.
    losses: u32,
    /// Functions die at their time-out. Else they are slow for ever, which nothing but an exact limit minds.
    mortal: bool,
}

impl World {
    /// A job over this file, waiting, its create message sent.
    pub(crate) fn new(csv: &str, max_failed: Option<u64>) -> Self {
        Self::of("simulated", csv, max_failed)
    }

    /// The same with a type of which only so many chunks run at once.
    pub(crate) fn limited(csv: &str, max_failed: Option<u64>) -> Self {
        Self { mortal: true, ..Self::of("limited", csv, max_failed) }
    }

    fn of(job_type: &str, csv: &str, max_failed: Option<u64>) -> Self {
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
        let job = waiting(job_type, source, Tolerance { max_failed, max_failed_percent: None });
        let store = MemoryStore::default();
        let definition = Definition { options: serde_json::json!({ "max_failed": max_failed }), columns: None };
        now(store.create_job(&job, &definition, None)).unwrap();
        let create = CreateMessage { job_id: job.job_id, generation: 0, position: 0, resend: 0 };
        now(queues.send_create(&create)).unwrap();
        let ports = Ports { store: Stepwise(store), queues: Stepwise(queues.clone()), files: Stepwise(files.clone()) };
        let registry = Rc::new(Registry::default().with(Simulated).with(Limited));
        let (messages, tasks) = (Vec::new(), Vec::new());
        let (ports, id) = (Rc::new(ports), job.job_id);
        Self { ports, registry, queues, files, id, messages, tasks, seen: None, losses: 0, mortal: false }
    }

    pub(crate) fn job(&self) -> Job {
        now(self.ports.store.0.job(self.id)).unwrap().unwrap()
    }

    pub(crate) fn happen(&mut self, event: Event) {
        self.collect();
        // An audit reads everything: now and then is often enough.
        let passes = matches!(event, Event::Wait(_));
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
            // What three pushes in vain did not bring back is given up, as it should be: its row is failed then.
            Event::Lose(which) if !self.messages.is_empty() && self.losses < MOST_LOSSES => {
                self.losses += 1;
                self.messages.swap_remove(which.index(self.messages.len()));
            }
            Event::Cancel => self.begin(Message::Cancel),
            Event::Sweep => self.sweep(),
            Event::Wait(seconds) => self.wait(seconds),
            Event::Retry => self.retry(),
            Event::Step(..) | Event::Kill(_) | Event::Lose(_) => {}
        }
        self.answer();
        if passes {
            self.audit();
        }
    }

    fn steps(&mut self, task: usize, steps: usize) {
        for _ in 0..steps {
            if task >= self.tasks.len() || self.step(task) {
                return;
            }
            self.answer();
        }
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
        let dies_at = clock().plus_seconds(PATIENCE_S + RESERVE_S);
        self.tasks.push(Task { message, dies_at, future });
    }

    fn wait(&mut self, seconds: i64) {
        CLOCK.set(CLOCK.get() + seconds * 1000);
        if self.mortal {
            let (dead, alive) = std::mem::take(&mut self.tasks).into_iter().partition(|task| clock() > task.dies_at);
            self.tasks = alive;
            let dead: Vec<_> = dead;
            self.messages.extend(dead.into_iter().map(|task| task.message));
        }
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
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("in-memory services answer at once")
}

fn waiting(job_type: &str, source: SourceFile, tolerance: Tolerance) -> Job {
    let job_id = JobId::generate();
    // Of any priority, as chance has it: the sweeper must look at the job's own queue.
    let priority = Priority::ALL[job_id.0.as_u128() as usize % Priority::ALL.len()];
    Job {
        source: Some(source),
        tolerance,
        priority,
        deadline_at: clock().plus_seconds(10 * 24 * 3_600),
        ..Job::waiting(job_id, "default", job_type, clock())
    }
}
