//! Real workers of registered job types, on a clock on which every call takes time: rate limit, concurrency limit, and
//! the share of one type; and pauses.
//!
//! | file | contents |
//! | --- | --- |
//! | `timed` | waits on the simulated clock |
//! | `endpoint` | a handler that records its calls |
//! | `deployment` | instances of the function, their queue, and instances that are killed |
//! | `queue` | the fair queue of the chunks |
//! | `jobs` | job types and jobs, split by the real splitter |
//! | `windows` | numbers of items in all windows of a length |
//! | `items_per_second`, `concurrency`, `slow_type`, `pauses` | the tests |

mod concurrency;
mod deployment;
mod endpoint;
mod items_per_second;
mod jobs;
mod pauses;
mod queue;
mod slow_type;
mod timed;
mod windows;

pub(crate) use items_per_second::four_instances_keep_the_limit;
