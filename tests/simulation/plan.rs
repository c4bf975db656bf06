//! What a seed says of its run: the file, the job's options, what the client does, and how bad the weather is.

use longshore_domain::job::Priority;

use crate::dice::Dice;
use crate::handler::ACTIONS;
use crate::weather::Rates;

/// How the world of a run behaves.
#[derive(Clone, Debug)]
pub(crate) struct Manners {
    /// Functions die at their time-out. Else they are slow for ever, which nothing but an exact limit and a removal mind.
    pub(crate) mortal: bool,
    /// Messages of a FIFO queue's group come in their order, one at a time.
    pub(crate) fifo: bool,
    /// Seconds until a message that was delivered comes again.
    pub(crate) visibility_s: i64,
    /// Base of the retry schedule, in seconds.
    pub(crate) retry_base_s: i64,
    /// How far the clock of a function may be off, in milliseconds.
    pub(crate) skew_ms: i64,
    /// Messages that may be lost: fewer than the sweeper's pushes.
    pub(crate) losses: u32,
    /// The most steps that a function gets on at once, before another may.
    pub(crate) stride: usize,
    /// A sweep runs to its end at once, in good weather.
    pub(crate) sweeps_at_once: bool,
    /// Nobody dies.
    pub(crate) nobody_dies: bool,
    /// How often calls go wrong.
    pub(crate) rates: Rates,
}

impl Manners {
    /// Functions die, messages come twice, late, in any order or not at all; every call of a service is well.
    pub(crate) const PLAIN: Self = Self {
        mortal: false,
        fifo: false,
        visibility_s: 45,
        retry_base_s: 0,
        skew_ms: 0,
        losses: 2,
        stride: 30,
        sweeps_at_once: true,
        nobody_dies: false,
        rates: Rates { throttled: 0, reply_dropped: 0, sent_twice: 0, behind: 0 },
    };
}

/// How often the client does something, in ten thousand events.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Habits {
    pub(crate) cancels: u32,
    pub(crate) retries: u32,
    pub(crate) corrects: u32,
    pub(crate) deletes: u32,
}

/// A run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// What each row asks for, an index of [`ACTIONS`].
    pub(crate) rows: Vec<usize>,
    pub(crate) dialect: Dialect,
    pub(crate) tolerated: Option<u64>,
    /// Of a type of which only so many chunks run at once.
    pub(crate) limited: bool,
    pub(crate) priority: Priority,
    pub(crate) manners: Manners,
    pub(crate) habits: Habits,
    /// Events of each stretch of bad weather; after each everything is well until the job has ended.
    pub(crate) stretches: Vec<usize>,
}

/// How a file is written.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct Dialect {
    pub(crate) bom: bool,
    pub(crate) crlf: bool,
    pub(crate) quoted: bool,
    /// The last line has no end.
    pub(crate) open_end: bool,
    /// Bytes of a third column: with many of them a chunk does not travel in its message.
    pub(crate) padding: usize,
}

impl Plan {
    /// What the dice say.
    pub(crate) fn of(dice: &mut Dice) -> Self {
        let heavy = dice.often(20);
        let rows = rows(dice, if heavy { 10 } else { 40 });
        let limited = dice.often(250);
        let deletes = if dice.often(100) { 40 } else { 0 };
        let stretches = 1 + dice.weighted(&[6, 3, 1]);
        Self {
            rows,
            dialect: Dialect {
                bom: dice.often(200),
                crlf: dice.often(200),
                quoted: dice.often(200),
                open_end: dice.often(200),
                padding: if heavy { 19_000 } else { 0 },
            },
            tolerated: if dice.often(300) { Some(dice.number() % 4) } else { None },
            limited,
            priority: dice.pick(&Priority::ALL),
            manners: manners(dice, limited || deletes > 0),
            habits: Habits {
                cancels: dice.pick(&[0, 0, 30, 150]),
                retries: dice.pick(&[0, 200]),
                corrects: dice.pick(&[0, 0, 100]),
                deletes,
            },
            stretches: (0..stretches).map(|_| dice.below(400)).collect(),
        }
    }

    /// The same file and job in good weather, where nobody dies, nothing is lost and nothing is asked for: what ends
    /// without a sweeper.
    pub(crate) fn healthy(self) -> Self {
        let manners =
            Manners { nobody_dies: true, losses: 0, rates: Rates::default(), retry_base_s: 0, ..self.manners };
        // A client's stop that races the end is asked for again by the sweeper alone.
        Self { manners, habits: Habits::default(), ..self }
    }
}

fn rows(dice: &mut Dice, most: usize) -> Vec<usize> {
    let fatal = dice.often(150);
    let last = ACTIONS.len() - usize::from(!fatal);
    let count = dice.below(most);
    (0..count).map(|_| if dice.often(570) { 0 } else { dice.below(last) }).collect()
}

fn manners(dice: &mut Dice, exact: bool) -> Manners {
    let bad = |dice: &mut Dice, most: usize| if dice.often(600) { dice.below(most) as u32 } else { 0 };
    let mortal = exact || dice.often(500);
    Manners {
        mortal,
        fifo: dice.often(300),
        // Of functions that outlive it there are two at one message.
        visibility_s: if mortal { 45 } else { dice.pick(&[5, 15, 45]) },
        retry_base_s: dice.pick(&[0, 0, 10, 600]),
        skew_ms: dice.pick(&[0, 500, 3_000]),
        losses: dice.pick(&[0, 2, 2]),
        stride: dice.pick(&[4, 10, 30]),
        sweeps_at_once: dice.often(300),
        nobody_dies: false,
        rates: Rates {
            throttled: bad(dice, 60),
            reply_dropped: bad(dice, 60),
            sent_twice: bad(dice, 80),
            behind: bad(dice, 200),
        },
    }
}
