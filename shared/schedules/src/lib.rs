//! The times of a schedule.
//!
//! A schedule is a cron pattern in a time zone, a period, or a single time. The same functions say when it runs and when
//! the page says that it will run.
//!
//! | module | contents |
//! | --- | --- |
//! | `cron` | cron patterns, and the times that the clock of their zone shows |
//! | `recurrence` | the kinds of schedules, and their next times |
//! | `zone` | time zones, and what a clock change does to a time |

mod cron;
mod recurrence;
mod zone;

pub use cron::{Cron, CronError, MIN_INTERVAL_MINUTES, PATTERN_BYTES};
pub use recurrence::{Period, PeriodError, Recurrence};
pub use zone::{ClockChange, Occurrence, Zone, ZoneError};
