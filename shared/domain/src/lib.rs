//! The rules of Longshore, without any I/O.
//!
//! Splitting, the ledger's decisions, the job's state machine, retries and progress are pure functions over plain
//! values: time and ids come in as arguments, nothing here knows AWS. The same functions run in production, in the
//! in-memory store, and in the protocol model that checks them exhaustively.
//!
//! | module | holds |
//! | --- | --- |
//! | [`ids`], [`chance`], [`time_stamp`] | job and upload ids, random bits, milliseconds since the epoch |
//! | [`job`] | a job's state and every transition it can make |
//! | [`group`], [`cursor`] | the ledger: groups, chunk cursors, the one conditional commit |
//! | [`gate`] | job types of which only so many chunks run at once: slots, and chunks that wait |
//! | [`deliveries`] | how recently sent the messages are that workers receive |
//! | [`dead_letter`] | messages that were received too often, and what a replay of one would do |
//! | [`split`], [`records`] | cutting a stream into records, records into chunks, chunks into groups |
//! | [`parts`] | cutting a large file into the parts of its upload |
//! | [`outcome`], [`work_file`] | what became of an item, and the files that say so |
//! | [`retry`], [`progress`] | when transient items go round again; percent, rate and ETA |
//! | [`text`] | names and texts of clients, cut for messages |
//! | [`message`], [`ports`] | what travels in queues; the traits that the adapters implement |

pub mod admission;
pub mod chance;
pub mod concurrency;
pub mod cursor;
pub mod dead_letter;
pub mod deliveries;
pub mod group;
pub mod ids;
pub mod job;
pub mod message;
pub mod outcome;
pub mod parts;
pub mod ports;
pub mod progress;
pub mod rate;
pub mod records;
pub mod retry;
pub mod split;
pub mod text;
pub mod time_stamp;
pub mod work_file;
