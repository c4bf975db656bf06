//! What happens next, as the dice have it: deliveries, steps, deaths, losses, sweeps, waits, and a client.

use super::acts::Act;
use super::{CLOCK, Work, World};
use crate::weather;

/// First of the random numbers for which an operator replays.
const REPLAYS: u32 = 5_000;

impl World {
    /// So many events, in the weather of this world. What is under way then goes on as it will.
    pub(crate) fn shake(&mut self, events: usize) {
        weather::return_to(self.manners.rates);
        for _ in 0..events {
            self.event();
            self.answer();
        }
        weather::clear();
        self.each(|world| {
            world.audit();
        });
    }

    fn event(&mut self) {
        self.collect();
        let millis = self.while_it_passes();
        self.pass(millis);
        self.expire_some();
        self.client_acts();
        let task = (!self.tasks.is_empty()).then(|| self.dice.below(self.tasks.len().max(1)));
        match (self.dice.weighted(&[80, 20, 400, 20, 10, 10]), task) {
            (0, _) => self.deliver_one(false),
            (1, _) => self.deliver_one(true),
            (2, Some(task)) => self.advance(task),
            (3, Some(task)) if !self.manners.nobody_dies => self.kill(task),
            (4, _) if self.losses < self.manners.losses => self.lose_one(),
            (5, _) => self.sweep_some(),
            _ => {}
        }
    }

    /// Milliseconds until the next event: mostly few.
    fn while_it_passes(&mut self) -> i64 {
        let [short, long] = if self.manners.nobody_dies { [20, 20] } else { [1_500, 100_000] };
        match self.dice.weighted(&[700, 280, 20]) {
            0 => self.dice.between(0, 20),
            1 => self.dice.between(0, short),
            _ => self.dice.between(0, long),
        }
    }

    fn advance(&mut self, task: usize) {
        if self.tasks[task].slow && !self.dice.often(50) {
            return weather::note("slow");
        }
        for _ in 0..=self.dice.below(self.manners.stride) {
            if self.step(task) {
                return;
            }
        }
    }

    fn deliver_one(&mut self, twice: bool) {
        let visible = self.visible();
        if visible.is_empty() {
            return;
        }
        let at = self.dice.below(visible.len());
        if at > 0 {
            weather::note("reordered");
        }
        let number = visible[at];
        let letter = &self.letters[&number];
        if letter.receives > 0 {
            let alive = self.tasks.iter().any(|task| task.letter == Some(number));
            weather::note(if alive { "zombie" } else { "delivered again" });
        }
        if CLOCK.get() - letter.visible_at > 30_000 {
            weather::note("delayed");
        }
        if twice {
            weather::note("duplicate");
        }
        self.deliver(number, twice);
    }

    fn lose_one(&mut self) {
        let numbers: Vec<_> = self.letters.keys().copied().collect();
        if !numbers.is_empty() {
            let number = self.dice.pick(&numbers);
            self.lose(number);
        }
    }

    fn sweep_some(&mut self) {
        if self.manners.sweeps_at_once {
            weather::clear();
            self.sweep();
            weather::return_to(self.manners.rates);
        } else if !crate::unguarded::without("sweeper") {
            self.begin(Work::Sweep, None);
        }
    }

    fn client_acts(&mut self) {
        if !self.wishes.is_empty() && self.dice.often(100) {
            let wish = self.dice.below(self.wishes.len());
            let (id, act) = self.wishes.swap_remove(wish);
            return self.begin(Work::Client(id, act), None);
        }
        self.at = self.dice.below(self.customers.len());
        self.client_asks();
        self.at = 0;
    }

    fn client_asks(&mut self) {
        let (habits, dice) = (self.customer().habits, self.dice.below(10_000) as u32);
        if (REPLAYS..REPLAYS + habits.replays).contains(&dice) && self.buried != (0, 0) {
            return self.ask(Act::Replay);
        }
        let most = habits.cancels.max(habits.retries + habits.corrects);
        if (most..10_000 - habits.deletes).contains(&dice) {
            return;
        }
        let Some(job) = self.stored() else { return };
        let open = !job.status.is_final();
        if dice < habits.cancels && open {
            self.ask(Act::Cancel);
        } else if dice < habits.retries && !open {
            self.ask(Act::Retry { generation: job.generation, corrected: None });
        } else if dice < habits.retries + habits.corrects && !open {
            self.correct();
        } else if dice >= 10_000 - habits.deletes {
            self.ask(Act::Delete);
        }
    }

    /// A client makes a call.
    pub(super) fn ask(&mut self, act: Act) {
        self.begin(Work::Client(self.customer().id, act), None);
    }
}
