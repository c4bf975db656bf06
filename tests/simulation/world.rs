//! Functions under way, messages in flight, and a clock that only the run moves.

mod acts;
mod chains;
mod chaos;
mod client;
mod course;
mod customer;
mod function;
mod gate;
mod letters;
mod oracle;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use longshore::chunk::KnownJobs;
use longshore::files::MemoryFiles;
use longshore::ports::Ports;
use longshore::queues::MemoryQueues;
use longshore::store::memory::MemoryStore;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::JobStore;
use longshore_domain::time_stamp::Timestamp;

use crate::dice::Dice;
use crate::kinds::{Kind, Kinds};
use crate::plan::{JobPlan, Manners, Plan};
use crate::stepwise::Stepwise;
use crate::unguarded::{Unguarded, without};
use crate::{trace, weather};
use acts::Act;
use customer::Customer;
use function::{Shared, Told, Work};
use letters::{Hops, Letter};

pub(crate) use letters::depth;

const STALL_S: i64 = 60;
/// Seconds that a function may run.
const PATIENCE_S: i64 = 20;
/// Bytes of a part of a report's file: few, so that most reports have parts.
const PART_BYTES: usize = 64;
/// Seconds after which it is killed if it has not ended by then.
const RESERVE_S: i64 = 4;
/// Seconds after which a sweep is killed: less than a minute, so that sweeps seldom overlap.
const SWEEP_S: i64 = 55;
/// More steps than any function takes over so small a file.
const MOST_STEPS: u32 = 20_000;
/// Deliveries of a message, at most.
const MAX_RECEIVES: u32 = 5;
/// Milliseconds that a queue remembers what was sent.
const DEDUPLICATION_MS: i64 = 300_000;
/// Invocations of one function in a chain of messages, of which each was sent by the function that had the one before,
/// that Lambda allows unless `RecursiveLoop` says otherwise.
/// <https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>
const MOST_HOPS: u32 = 16;

type Services =
    Ports<Stepwise<Unguarded<MemoryStore>>, Stepwise<Unguarded<MemoryQueues>>, Stepwise<Unguarded<MemoryFiles>>>;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(0) };
    static SKEW: Cell<i64> = const { Cell::new(0) };
}

/// The time as the function that is just running sees it.
fn clock() -> Timestamp {
    Timestamp(CLOCK.get() + SKEW.get())
}

/// The time as it is.
pub(crate) fn true_time() -> Timestamp {
    Timestamp(CLOCK.get())
}

struct Task {
    number: u64,
    work: Work,
    /// The message that it works, if it is still there.
    letter: Option<u64>,
    /// How often each function was invoked in the chain of messages that led here.
    hops: Hops,
    /// How far its clock is off.
    skew_ms: i64,
    /// It seldom gets on: others do much between two steps of it.
    slow: bool,
    /// When the machine kills it, if it has not ended: a while after it should have stopped by itself.
    dies_at: i64,
    /// Calls of it that have failed.
    errors: u32,
    steps: u32,
    future: Pin<Box<dyn Future<Output = Told>>>,
}

pub(crate) struct World {
    shared: Rc<Shared>,
    store: MemoryStore,
    queues: MemoryQueues,
    files: MemoryFiles,
    kinds: Kinds,
    /// The jobs and their clients; stories have one.
    customers: Vec<Customer>,
    /// Which of them is looked at.
    at: usize,
    manners: Manners,
    dice: Dice,
    letters: BTreeMap<u64, Letter>,
    tasks: Vec<Task>,
    /// What clients will ask for again, for they had no answer.
    wishes: Vec<(JobId, Act)>,
    /// Numbers that were given to letters, functions and uploads.
    numbers: u64,
    forgot_at: i64,
    losses: u32,
    /// What explains that a push was in vain.
    troubles: u32,
    /// Letters of chunks, and others, that came to the dead-letter queue.
    buried: (u32, u32),
    /// The most invocations of each function in a chain.
    most_hops: Hops,
    /// Lambda refuses a message behind so many.
    refuses_loops: bool,
}

impl World {
    /// A job over rows that ask for these actions, waiting, its create message sent.
    pub(crate) fn new(rows: &[usize], tolerated: Option<u64>) -> Self {
        Self::alone(JobPlan { tolerated, ..JobPlan::plain(rows, Kind::Simulated) })
    }

    /// The same with a type of which only so many chunks run at once.
    pub(crate) fn limited(rows: &[usize]) -> Self {
        Self::alone(JobPlan::plain(rows, Kind::Limited))
    }

    /// The world of one job, in good weather.
    pub(crate) fn alone(job: JobPlan) -> Self {
        let manners = Manners { mortal: job.kind == Kind::Limited, ..Manners::PLAIN };
        Self::of(&Plan { jobs: vec![job], manners, stretches: Vec::new() }, Dice::of(0))
    }

    /// The world of a plan. Its dice decide what happens.
    pub(crate) fn of(plan: &Plan, mut dice: Dice) -> Self {
        CLOCK.set(1_000_000);
        SKEW.set(0);
        crate::handler::begin();
        let (store, queues, files) = <(MemoryStore, MemoryQueues, MemoryFiles)>::default();
        // Of several jobs not all are on the first page of the index.
        let store = if plan.jobs.len() > 1 { store.with_pages_of(1 + dice.below(2)) } else { store };
        let kinds = Kinds;
        let ports = Ports {
            store: Stepwise(Unguarded(store.clone())),
            queues: Stepwise(Unguarded(queues.clone())),
            files: Stepwise(Unguarded(files.clone())),
        };
        let shared = Shared {
            ports,
            dead_letters: Stepwise(queues.clone()),
            registry: kinds.registry(),
            known: KnownJobs::default(),
            retry_base_s: plan.manners.retry_base_s,
            canceled: Default::default(),
        };
        let mut world = Self {
            shared: Rc::new(shared),
            store,
            queues,
            files,
            kinds,
            customers: Vec::new(),
            at: 0,
            manners: plan.manners.clone(),
            dice,
            letters: BTreeMap::new(),
            tasks: Vec::new(),
            wishes: Vec::new(),
            numbers: 0,
            forgot_at: CLOCK.get(),
            losses: 0,
            troubles: 0,
            buried: (0, 0),
            most_hops: [0; 3],
            refuses_loops: false,
        };
        plan.jobs.iter().for_each(|job| world.accept(job));
        world
    }

    /// The same world, with other dice and manners from here on.
    pub(crate) fn thrown_by(self, dice: Dice, manners: Manners) -> Self {
        Self { dice, manners, ..self }
    }

    /// The job; none once it is removed.
    pub(crate) fn stored(&self) -> Option<Job> {
        now(self.store.job(self.customer().id)).unwrap()
    }

    pub(crate) fn job(&self) -> Job {
        self.stored().unwrap()
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// A function begins.
    fn begin(&mut self, work: Work, letter: Option<u64>) {
        let number = self.number();
        let skew_ms = self.manners.skew_ms;
        let skew_ms = if skew_ms > 0 { self.dice.between(-skew_ms, skew_ms) } else { 0 };
        if skew_ms != 0 {
            weather::note("clock skew");
        }
        let slow = self.manners.slow_ones && self.dice.often(150);
        let limit_s = if matches!(work, Work::Sweep) { SWEEP_S } else { PATIENCE_S + RESERVE_S };
        trace::speaker(work.name(), number);
        if trace::is_heard() {
            trace::say(format_args!("begins: {}", work.told()));
        }
        let future = function::function(Rc::clone(&self.shared), work.clone());
        let dies_at = CLOCK.get() + limit_s * 1000;
        let hops = letter.and_then(|letter| self.letters.get(&letter)).map_or([0; 3], |letter| letter.hops);
        self.tasks.push(Task { number, work, letter, hops, skew_ms, slow, dies_at, errors: 0, steps: 0, future });
    }

    /// One step of a function; true if it has ended.
    fn step(&mut self, task: usize) -> bool {
        let running = &mut self.tasks[task];
        SKEW.set(running.skew_ms);
        trace::speaker(running.work.name(), running.number);
        let polled = running.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        running.errors += weather::take_errors();
        running.steps += 1;
        assert!(running.steps < MOST_STEPS, "{} goes on for ever", running.work.name());
        SKEW.set(0);
        let hops = running.hops;
        self.take_sent(hops);
        let Poll::Ready(told) = polled else { return false };
        let task = self.tasks.swap_remove(task);
        self.ended(task, told);
        true
    }

    fn ended(&mut self, task: Task, told: Told) {
        match &told {
            Told::Done(end) => trace::say(format_args!("ends: {end}")),
            Told::Failed(error) => trace::say(format_args!("fails: {error}")),
        }
        let failed = match told {
            Told::Done(end) => {
                self.check_end(&task, &end);
                self.letters.remove(&task.letter.unwrap_or(0));
                false
            }
            Told::Failed(error) => {
                assert!(task.errors > 0, "{} failed over healthy services: {error}", task.work.name());
                true
            }
        };
        match task.work {
            Work::Sweep => self.troubles += u32::from(failed),
            Work::Client(id, act) if failed => self.wish(id, act),
            Work::Client(..) | Work::Message(_) => {}
        }
    }

    /// A function dies; its message comes again.
    fn kill(&mut self, task: usize) {
        let Task { number, work, .. } = self.tasks.swap_remove(task);
        trace::speaker(work.name(), number);
        trace::say(format_args!("dies"));
        weather::note("crash");
        match work {
            Work::Sweep => self.troubles += 1,
            Work::Client(id, act) => self.wish(id, act),
            Work::Message(_) => {}
        }
    }

    /// Time passes; what has run for too long dies.
    fn pass(&mut self, millis: i64) {
        CLOCK.set(CLOCK.get() + millis);
        if CLOCK.get() - self.forgot_at >= DEDUPLICATION_MS {
            self.forgot_at = CLOCK.get();
            self.queues.forget_deduplication();
        }
        if self.manners.mortal {
            while let Some(task) = self.tasks.iter().position(|task| CLOCK.get() > task.dies_at) {
                self.kill(task);
            }
        }
    }

    /// A sweep, to its end; nothing else happens meanwhile.
    fn sweep(&mut self) {
        if without("sweeper") {
            return;
        }
        self.begin(Work::Sweep, None);
        let task = self.tasks.len() - 1;
        while !self.step(task) {}
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("in-memory services answer at once")
}
