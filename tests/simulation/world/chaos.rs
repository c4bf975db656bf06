//! Random events: deliveries, steps, kills, losses, sweeps, waits, and client requests.

use super::World;
use super::acts::Act;
use super::function::Work;
use crate::clock::CLOCK;
use crate::faults;

/// First of the random numbers for which an operator replays.
const REPLAYS: u32 = 5_000;

impl World {
    /// Runs this number of random events with the world's fault rates. Functions can still be running afterwards.
    pub(crate) fn run_events(&mut self, events: usize) {
        faults::set_rates(self.environment.rates);
        for _ in 0..events {
            self.event();
            self.check_responses();
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
        } else if !crate::unguarded::without("sweeper") {
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
        let (action_rates, rng) = (self.customer().action_rates, self.rng.below(10_000) as u32);
        if (REPLAYS..REPLAYS + action_rates.replays).contains(&rng) && self.has_dead_letters() {
            return self.begin_request(Act::Replay);
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
            self.begin_request(Act::Retry { generation: job.generation, corrected: None });
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
