//! A job whose split fails at every delivery, and the other jobs of its tenant in the same lane: their wait is bounded,
//! and none of them is stopped.
//!
//! The test runs the real splitter over in-memory services, its own clock, and a FIFO queue. A message is not delivered
//! while an earlier one of its group is neither deleted nor dead-lettered
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>).

use std::cell::Cell;
use std::collections::BTreeSet;

use create_job::Splitter;
use futures::FutureExt;
use longshore::batch::Delivery;
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, Files, JobStore, JobTransitions, Queues};
use longshore_domain::records::Format;
use longshore_domain::retry::redelivery_s;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
use sweep::decide::{Action, PUSHES, decide, decide_dead_split};
use sweep::overdue::{Circumstances, QueueState};

use crate::kinds::{Kind, Kinds};
use crate::rows::{Dialect, OK, file_of};

/// Values of the template: visibility timeout, stall time, and deliveries before a message is dead-lettered.
const VISIBILITY_S: i64 = 150;
const STALL_S: i64 = 165;
const MAX_RECEIVES: u32 = 10;
/// Maximum wait of the other jobs for the failing one: a visibility timeout, and less than a stall time.
const BOUND_S: i64 = 160;
/// Number of other jobs.
const OTHERS: u128 = 6;
/// Rows of a file whose split takes many turns.
const ROWS: usize = 1_500;
/// Length of a run, in seconds.
const RUN_S: i64 = 4 * 3_600;

thread_local!(static NOW: Cell<i64> = const { Cell::new(0) });

/// Returns the time, and advances it by 200 milliseconds.
fn clock() -> Timestamp {
    Timestamp(NOW.replace(NOW.get() + 200))
}

/// How the first job's split fails.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Failure {
    /// The split does not fail.
    None,
    /// The function returns an error.
    Error,
    /// The function is killed, and the message waits for its visibility timeout.
    Killed,
    /// The split does not fail, but each of its continuations is lost, so that every turn needs a push.
    Lost,
}

/// What happens to a message after a failed delivery.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Rule {
    /// A copy in the lane for copies replaces it.
    Replace,
    /// The message stays in its lane.
    Stay,
}

struct Sent {
    create: CreateMessage,
    receives: u32,
    visible_at: Timestamp,
}

struct Lane {
    ports: Ports<MemoryStore, MemoryQueues, MemoryFiles>,
    registry: Registry,
    failure: Failure,
    rule: Rule,
    sent: Vec<Sent>,
    dead: Vec<CreateMessage>,
    /// Number of create messages that the sweeper has sent for the first job.
    pushes: u32,
    /// The healthy jobs that are split, and the time of the last split.
    split_jobs: BTreeSet<JobId>,
    last_split: Timestamp,
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("calls of in-memory services never wait")
}

/// Ids of jobs in one lane.
fn id(n: u128) -> JobId {
    JobId::parse(&format!("{:032x}", (1_u128 << 100) + 4 * n)).expect("a valid id")
}

impl Lane {
    fn new(failure: Failure, rule: Rule) -> Self {
        NOW.set(0);
        let ports =
            Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
        let lane = Self {
            ports,
            registry: Kinds::default().registry(&MemoryFiles::default()),
            failure,
            rule,
            sent: Vec::new(),
            dead: Vec::new(),
            pushes: 0,
            split_jobs: BTreeSet::new(),
            last_split: Timestamp(0),
        };
        (0..=OTHERS).for_each(|n| lane.create(n));
        lane
    }

    /// Creates job `n`. If the first job is to fail, its type is unknown to the function, so its split always fails.
    fn create(&self, n: u128) {
        let fails = n == 0 && matches!(self.failure, Failure::Error | Failure::Killed);
        let (kind, key) = (if fails { "unknown" } else { Kind::Fine.name() }, format!("uploads/{n}"));
        let rows = if n == 0 && self.failure == Failure::Lost { ROWS } else { 200 };
        self.ports.files.put(&key, file_of(&vec![OK; rows], Dialect::default()));
        let info = now(self.ports.files.info(&key)).unwrap().unwrap();
        let source = SourceFile::new(key, info, Format::Csv, "file.csv");
        let job =
            Job { source: Some(source.into()), ..Job::waiting(id(n), TenantId::from_static("tenant"), kind, clock()) };
        let definition = Definition::new(Kind::Fine.options(None));
        now(self.ports.store.create_job(&job, &definition, None)).unwrap();
        now(self.ports.queues.send_create(&CreateMessage::new(&job))).unwrap();
    }

    fn job(&self, id: JobId) -> Job {
        now(self.ports.store.job(id)).unwrap().unwrap()
    }

    fn run(mut self) -> Self {
        let mut swept_at = 0;
        while NOW.get() < RUN_S * 1_000 {
            if !self.deliver() {
                NOW.set(NOW.get() + 1_000);
            }
            if NOW.get() - swept_at >= 60_000 {
                swept_at = NOW.get();
                self.sweep();
            }
        }
        self
    }

    /// Delivers the first deliverable message. Returns false if there is none.
    fn deliver(&mut self) -> bool {
        let is_lost = |create: &CreateMessage| {
            self.failure == Failure::Lost && create.job_id == id(0) && create.position > 0 && create.resend == 0
        };
        let created = self.ports.queues.take_creates().into_iter().filter(|create| !is_lost(create));
        self.sent.extend(created.map(|create| Sent { create, receives: 0, visible_at: clock() }));
        let mut blocked = BTreeSet::new();
        let time = clock();
        let next = self.sent.iter().position(|sent| blocked.insert(sent.create.group_id()) && sent.visible_at <= time);
        let Some(next) = next else { return false };
        if self.sent[next].receives == MAX_RECEIVES {
            self.dead.push(self.sent.remove(next).create);
            return true;
        }
        self.sent[next].receives += 1;
        let Sent { create, receives, .. } = &self.sent[next];
        let splitter = Splitter { ports: &self.ports, registry: &self.registry, clock };
        let failures = if self.rule == Rule::Replace { receives - 1 } else { 0 };
        let delivery = Delivery { deadline: Timestamp(i64::MAX), failures, sent_at: None };
        let (id, receives) = (create.job_id, *receives);
        if now(splitter.deliver(create, delivery)).is_ok() {
            self.sent.remove(next);
        } else {
            let hidden_s = match self.failure {
                Failure::Killed => VISIBILITY_S,
                Failure::Error | Failure::Lost | Failure::None => i64::from(redelivery_s(receives, 30, 1.0)),
            };
            self.sent[next].visible_at = clock().plus_seconds(hidden_s);
        }
        if self.job(id).split.ended && self.split_jobs.insert(id) {
            self.last_split = clock();
        }
        true
    }

    fn sweep(&mut self) {
        self.ports.queues.forget_deduplication();
        self.ports.queues.take_chunks();
        let (time, none) = (clock(), BTreeSet::new());
        let at = Circumstances {
            now: time,
            stall_s: STALL_S,
            queue: QueueState::Idle,
            parked: &none,
            outage: None,
            is_paused: false,
        };
        for n in 0..=OTHERS {
            let job = self.job(id(n));
            let dead_letters = self.dead.iter().filter(|dead_letter| dead_letter.job_id == job.job_id);
            let dead = dead_letters.filter_map(|dead_letter| decide_dead_split(&job, dead_letter, time, STALL_S));
            let actions: Vec<_> = decide(&job, &[], |_| 1, &at).into_iter().chain(dead).collect();
            for action in actions {
                self.pushes += u32::from(n == 0 && action == Action::SendCreate);
                self.act(&job, action);
            }
        }
    }

    fn act(&self, job: &Job, action: Action) {
        match action {
            Action::SendCreate => {
                now(self.ports.queues.send_create(&CreateMessage::resend(job))).unwrap();
                now(self.ports.store.count_resend(job, clock())).unwrap();
            }
            Action::Stop(stop) => {
                now(self.ports.store.stop(job.job_id, job.generation, &stop)).unwrap();
            }
            // Completion is not part of this test.
            _ => {}
        }
    }

    /// Seconds until all other jobs were split. `None` if one of them was not split, or was stopped.
    fn others_split_s(&self) -> Option<i64> {
        let all_split = (1..=OTHERS).all(|n| self.split_jobs.contains(&id(n)) && self.job(id(n)).stop.is_none());
        all_split.then_some(self.last_split.0 / 1_000)
    }
}

#[test]
fn a_job_whose_split_always_fails_delays_other_jobs_by_at_most_one_visibility_timeout() {
    let alone_s = Lane::new(Failure::None, Rule::Replace).run().others_split_s().unwrap();
    for failure in [Failure::Error, Failure::Killed] {
        let lane = Lane::new(failure, Rule::Replace).run();
        let delayed_s = lane.others_split_s().expect("every other job is split");
        println!("{failure:?}: the others are split after {delayed_s} s instead of {alone_s} s");
        assert!(delayed_s - alone_s <= BOUND_S, "{failure:?}: {delayed_s} s, {alone_s} s");
        let stop = lane.job(id(0)).stop.expect("the failing job is stopped");
        assert_eq!(stop.error.map(|error| error.code).as_deref(), Some("split_failed"));
    }
}

#[test]
fn a_failed_message_that_is_not_replaced_by_a_copy_delays_other_jobs_longer() {
    let alone_s = Lane::new(Failure::None, Rule::Stay).run().others_split_s().unwrap();
    for failure in [Failure::Error, Failure::Killed] {
        let delayed_s = Lane::new(failure, Rule::Stay).run().others_split_s();
        println!("{failure:?}: {delayed_s:?} instead of {alone_s} s");
        assert!(delayed_s.is_none_or(|delayed_s| delayed_s - alone_s > 2 * BOUND_S), "{failure:?}: {delayed_s:?}");
    }
}

/// Each push advances the split by a turn, so every push has an effect.
#[test]
fn a_split_that_needs_a_push_for_every_turn_is_never_stopped() {
    let lane = Lane::new(Failure::Lost, Rule::Replace).run();
    let job = lane.job(id(0));
    assert!(lane.pushes > 2 * PUSHES, "{} pushes", lane.pushes);
    assert_eq!((job.split.ended, job.stop, job.split.item_count), (true, None, ROWS as u64));
}
