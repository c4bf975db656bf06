//! The times of a schedule.
//!
//! A schedule is a cron pattern in a time zone, a period, or a single time. The same functions say when it runs and
//! when the page says that it will run.
//!
//! | module | contents |
//! | --- | --- |
//! | `cron` | cron patterns, and the times that the clock of their zone shows |
//! | `fire` | the firing of a schedule that is due |
//! | `options` | the check of the options of a registered job type |
//! | `recurrence` | the kinds of schedules, and their next times |
//! | `timing` | the times of a stored schedule |
//! | `zone` | time zones, and what a clock change does to a time |

mod cron;
mod fire;
mod options;
mod recurrence;
mod timing;
mod zone;

pub use cron::{Cron, CronError, MIN_INTERVAL_MINUTES, PATTERN_BYTES};
pub use fire::{FireEnd, Firer, JobRefusal, next_after};
pub use options::{CheckOptions, Checked};
pub use recurrence::{Period, PeriodError, Recurrence};
pub use timing::TimingError;
pub use zone::{ClockChange, ClockTimeError, Occurrence, Zone, ZoneError};
