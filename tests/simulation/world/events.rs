//! Events of a run in random order (deliveries, steps, kills, losses, sweeps, waits, client requests), and the
//! lifecycle of running functions: begin, step, end, kill.

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use longshore_domain::ids::JobId;
use prepare::PrepareError;

use super::acts::Act;
use super::function::{self, FunctionEnd, PATIENCE_S, SWEEP_S, Task, Work};
use super::{DEDUPLICATION_MS, MAX_STEPS, RESERVE_S, World};
use crate::clock::{CLOCK, SKEW};
use crate::kinds::Kind;
use crate::unguarded::without;
use crate::{faults, pauses, trace};

/// First of the random numbers for which an operator replays.
const REPLAYS: u32 = 5_000;

/// First of the random numbers for which a client undoes its import.
const UNDOS: u32 = 7_000;

/// First of the random numbers for which a client previews an undo of its import.
const PREVIEWS: u32 = 8_000;

impl World {
    /// Runs this number of random events with the world's fault rates. Functions can still be running afterwards.
    pub(crate) fn run_events(&mut self, events: usize) {
        faults::set_rates(self.environment.rates);
        for _ in 0..events {
            self.event();
            self.check_responses();
            self.each(Self::read_events);
        }
        faults::clear();
        self.each(|world| {
            world.audit();
        });
    }

    fn event(&mut self) {
        self.collect();
        let millis = self.time_to_next_event();
        self.pass(millis);
        self.expire_some();
        self.send_operator_request();
        self.send_client_request();
        let task = (!self.tasks.is_empty()).then(|| self.rng.below(self.tasks.len().max(1)));
        match (self.rng.weighted(&[80, 20, 400, 20, 10, 10]), task) {
            (0, _) => self.deliver_one(Self::deliver),
            (1, _) => self.deliver_one(Self::deliver_duplicate),
            (2, Some(task)) => self.advance(task),
            (3, Some(task)) if !self.environment.no_kills => self.kill(task),
            (4, _) if self.losses < self.environment.losses => self.lose_one(),
            (5, _) => self.sweep_some(),
            _ => {}
        }
    }

    /// Time until the next event in milliseconds, which is mostly short.
    fn time_to_next_event(&mut self) -> i64 {
        let [short, long] = if self.environment.no_kills { [20, 20] } else { [1_500, 100_000] };
        match self.rng.weighted(&[700, 280, 20]) {
            0 => self.rng.between(0, 20),
            1 => self.rng.between(0, short),
            _ => self.rng.between(0, long),
        }
    }

    fn advance(&mut self, task: usize) {
        if self.tasks[task].slow && !self.rng.often(50) {
            return faults::count_fault("slow");
        }
        for _ in 0..=self.rng.below(self.environment.stride) {
            if self.step(task) {
                return;
            }
        }
    }

    fn deliver_one(&mut self, deliver: fn(&mut Self, u64)) {
        let visible = self.visible();
        if visible.is_empty() {
            return;
        }
        let at = self.rng.below(visible.len());
        if at > 0 {
            faults::count_fault("reordered");
        }
        let number = visible[at];
        let queued = &self.messages[&number];
        if queued.receives > 0 {
            let is_running = self.tasks.iter().any(|task| task.message == Some(number));
            faults::count_fault(if is_running { "zombie" } else { "redelivered" });
        }
        if CLOCK.get() - queued.visible_at > 30_000 {
            faults::count_fault("delayed");
        }
        deliver(self, number);
    }

    fn deliver_duplicate(&mut self, number: u64) {
        faults::count_fault("duplicate");
        self.deliver_and_keep_visible(number);
    }

    fn lose_one(&mut self) {
        let numbers: Vec<_> = self.messages.keys().copied().collect();
        if !numbers.is_empty() {
            let number = self.rng.pick(&numbers);
            self.lose(number);
        }
    }

    fn sweep_some(&mut self) {
        if self.environment.sweeps_at_once {
            faults::clear();
            self.sweep();
            faults::set_rates(self.environment.rates);
        } else if !without("sweeper") {
            self.begin(Work::Sweep, None);
        }
    }

    fn send_client_request(&mut self) {
        if !self.requests.is_empty() && self.rng.often(100) {
            let request = self.rng.below(self.requests.len());
            let (id, act) = self.requests.swap_remove(request);
            return self.begin(Work::Client(id, act), None);
        }
        self.at = self.rng.below(self.customers.len());
        self.choose_client_request();
        self.at = 0;
    }

    fn choose_client_request(&mut self) {
        if self.customer().kind == Kind::Copied
            && (self.rng.below(10_000) as u32) < self.customer().action_rates.source_deletes
        {
            self.delete_source();
        }
        let (action_rates, rng) = (self.customer().action_rates, self.rng.below(10_000) as u32);
        if (REPLAYS..REPLAYS + action_rates.replays).contains(&rng) && self.has_dead_letters() {
            return self.begin_request(Act::Replay);
        }
        if (UNDOS..UNDOS + action_rates.undos).contains(&rng) {
            return self.begin_request(Act::Undo);
        }
        if (PREVIEWS..PREVIEWS + action_rates.undos).contains(&rng) {
            return self.begin_request(Act::Preview);
        }
        let max = action_rates.cancels.max(action_rates.retries + action_rates.corrects);
        if (max..10_000 - action_rates.deletes).contains(&rng) {
            return;
        }
        let Some(job) = self.stored() else { return };
        let open = !job.status.is_final();
        if rng < action_rates.cancels && open {
            self.begin_request(Act::Cancel);
        } else if rng < action_rates.retries && !open {
            let selection = Box::new(self.random_selection());
            self.begin_request(Act::Retry { generation: job.generation, selection });
        } else if rng < action_rates.retries + action_rates.corrects && !open {
            self.correct();
        } else if rng >= 10_000 - action_rates.deletes {
            self.begin_request(Act::Delete);
        }
    }

    /// Begins a request of the current job's client.
    pub(super) fn begin_request(&mut self, act: Act) {
        self.begin(Work::Client(self.customer().id, act), None);
    }
}

impl World {
    /// Begins a function.
    pub(super) fn begin(&mut self, work: Work, message: Option<u64>) {
        let number = self.number();
        let skew_ms = self.environment.skew_ms;
        let skew_ms = if skew_ms > 0 { self.rng.between(-skew_ms, skew_ms) } else { 0 };
        if matches!(work, Work::Sweep) {
            // The messages that the previous sweep received are visible again.
            self.queues.make_all_visible();
        }
        if skew_ms != 0 {
            faults::count_fault("clock skew");
        }
        let slow = self.environment.has_slow_functions && self.rng.often(150);
        let limit_s = if matches!(work, Work::Sweep) { SWEEP_S } else { PATIENCE_S + RESERVE_S };
        trace::set_function(work.name(), number);
        if trace::is_on() {
            trace::append(format_args!("begins: {}", work.describe()));
        }
        let future = function::function(Rc::clone(&self.shared), work.clone());
        let killed_at = CLOCK.get() + limit_s * 1000;
        let hops = message.and_then(|message| self.messages.get(&message)).map_or([0; 4], |message| message.hops);
        self.tasks.push(Task { number, work, message, hops, skew_ms, slow, killed_at, errors: 0, steps: 0, future });
    }

    /// Runs one step of a function. Returns true if it has ended.
    pub(super) fn step(&mut self, task: usize) -> bool {
        let running = &mut self.tasks[task];
        SKEW.set(running.skew_ms);
        trace::set_function(running.work.name(), running.number);
        if running.steps == 0 {
            pauses::record_free();
        }
        let poll = running.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        running.errors += faults::take_errors();
        running.steps += 1;
        assert!(running.steps < MAX_STEPS, "{} never ends", running.work.name());
        SKEW.set(0);
        let hops = running.hops;
        if let Work::Client(import, Act::Preview) = running.work {
            self.adopt_previews(import);
        }
        self.take_sent(hops);
        let Poll::Ready(end) = poll else { return false };
        let task = self.tasks.swap_remove(task);
        self.end_task(task, end);
        true
    }

    fn end_task(&mut self, task: Task, end: FunctionEnd) {
        match &end {
            FunctionEnd::Done(end) => trace::append(format_args!("ends: {end}")),
            FunctionEnd::Failed(error) => trace::append(format_args!("fails: {error}")),
        }
        let failed = match end {
            FunctionEnd::Done(end) => {
                self.check_end(&task, &end);
                self.messages.remove(&task.message.unwrap_or(0));
                false
            }
            FunctionEnd::Failed(error) => {
                // A slow function fails when its time is over; a file is prepared in one delivery, or not at all.
                let is_late = error == PrepareError::TimeOver.to_string();
                assert!(task.errors > 0 || is_late, "{} failed without a failed call: {error}", task.work.name());
                self.deliver_later(task.message.unwrap_or(0));
                true
            }
        };
        match task.work {
            Work::Sweep => self.disturbances += u32::from(failed),
            Work::Client(id, act) if failed => self.repeat_later(id, act),
            Work::Client(..) | Work::Message(..) => {}
        }
    }

    /// Makes a client without a response repeat its request later, or give up, at random.
    fn repeat_later(&mut self, id: JobId, act: Act) {
        if self.rng.often(500) {
            self.requests.push((id, act));
        }
    }

    /// Kills a function. Its message is redelivered later.
    pub(super) fn kill(&mut self, task: usize) {
        let Task { number, work, .. } = self.tasks.swap_remove(task);
        trace::set_function(work.name(), number);
        trace::append(format_args!("is killed"));
        faults::count_fault("crash");
        match work {
            Work::Sweep => self.disturbances += 1,
            Work::Client(id, act) => self.repeat_later(id, act),
            Work::Message(..) => {}
        }
    }

    /// Advances the clock, and kills functions that have reached their timeout.
    pub(super) fn pass(&mut self, millis: i64) {
        CLOCK.set(CLOCK.get() + millis);
        if CLOCK.get() - self.forgot_at >= DEDUPLICATION_MS {
            self.forgot_at = CLOCK.get();
            self.queues.forget_deduplication();
        }
        if self.environment.has_timeouts {
            while let Some(task) = self.tasks.iter().position(|task| CLOCK.get() > task.killed_at) {
                self.kill(task);
            }
        }
    }

    /// Runs a sweep to its end, without other events.
    pub(super) fn sweep(&mut self) {
        if without("sweeper") {
            return;
        }
        self.begin(Work::Sweep, None);
        let task = self.tasks.len() - 1;
        while !self.step(task) {}
    }
}
