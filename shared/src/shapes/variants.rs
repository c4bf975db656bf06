//! The variants of the enumerations in the shapes. A new variant makes one of these matches incomplete, so that the
//! tests do not compile.
//!
//! Then add it to the match, and a value with it to the list `read` of the golden file: only the next release writes
//! it, as `docs/design/versions.md` says. `Search` of a chunk's bisection has its match in the tests of its module.

use longshore_domain::dead_letter::{DeadLetterMessage, Queue, ResolutionKind};
use longshore_domain::event::{EventType, Subject};
use longshore_domain::job::{Part, Priority, Selection, Source, Stage, Status};
use longshore_domain::message::WebhookMessage;
use longshore_domain::operator_log::OperatorAction;
use longshore_domain::records::{Delimiter, Form, Format, GivenSheet, Quote};
use longshore_domain::registration::{RegisteredInput, Target};
use longshore_domain::remote::{Mode, OpenReason, PingResult};
use longshore_domain::results::{ColumnsFrom, Formulas, ResultFormat, ResultRow};
use longshore_domain::schedule::{OccurrenceResult, Overlap, SkipReason, Timing};
use longshore_domain::webhook::{AttemptResult, CheckResult, DeliveryState, DisabledReason, EndpointState, JobScope};
use longshore_domain::work_file::End;

use crate::receipt::Basis;

/// Names all variants of each enumeration, with their members.
macro_rules! variants {
    ($($name:ident { $($variant:ident $({ $($member:ident),+ })? $(($content:tt))?),+ $(,)? })+) => {
        $(const _: fn(&$name) = |value| match value {
            $($name::$variant $({ $($member: _),+ })? $(($content))? => {})+
        };)+
    };
}

variants! {
    WebhookMessage {
        Deliver { delivery },
        Check { tenant, endpoint_id, challenge },
        Replay { tenant, endpoint_id, after, requested_at, only_waiting },
    }
    DeadLetterMessage { Create(_), Chunk(_), Complete(_), Unreadable { reason } }
    Queue { Create, Chunk, Complete }
    ResolutionKind { Replayed, Discarded }
    OperatorAction {
        ReplayDeadLetter, ReplayDeadLettersOfJob, DiscardDeadLetter, RetryFailures, Pause, Resume, ReadDeadLetter, Other,
    }
}

variants! {
    Source { File(_), Dataset(_), Job(_) }
    Selection { All, Corrected(_), Chunks(_), Failure(_) }
    Part { Results, Failed, Skipped, Unprocessed }
    Priority { High, Normal, Low }
    Status { Waiting, Running, Completed, Failed, Canceled }
    Stage { Queued, Splitting, Processing, Stopping, Finishing, Done }
    Format { Csv, JsonLines }
    Form { Gzip, Zstd, Zip, Workbook, Utf16 }
    Delimiter { Comma, Semicolon, Tab, Pipe }
    Quote { Double, Single, None }
    GivenSheet { Number(_), Name(_) }
    ResultRow { Numbered, Plain }
    ResultFormat { Jsonl, Csv, Xlsx }
    Formulas { Escaped, Raw }
    ColumnsFrom { Type, Request, Records }
}

variants! {
    EventType { Started, Waiting, Completed, Failed, Canceled, EndpointDisabled }
    Subject { Job(_), Endpoint(_) }
    JobScope { All, Named }
    EndpointState { Pending, Active, Disabled { reason, at } }
    DisabledReason { Client, Gone, Failing }
    CheckResult { Passed, WrongAnswer, Refused, NoAnswer }
    DeliveryState { Pending { next_at, is_reserved, unchecked_since }, Delivered { at }, Failed { at } }
    AttemptResult { Answered { status }, Unanswered { code, error } }
    Timing { Cron { pattern, time_zone }, Every { minutes, from }, At(_) }
    Overlap { Skip, Allow }
    OccurrenceResult { Started { job_id }, Skipped { reason }, Failed { code, detail } }
    SkipReason { Overlap, TooLate }
    RegisteredInput { File, Dataset }
    Target { Function(_), Url(_) }
    Mode { Run, Validate }
    OpenReason { Unreachable, BatchesFail }
    PingResult { Good, Bad, Undecided }
}

variants! {
    End { Failed(_), Skipped { reason }, Transient { attempts, reason, due } }
    Basis { Upload, Read, Gone, TooLong }
}
