//! The members of the shapes. A new member makes one of these patterns incomplete, so that the tests do not compile.
//!
//! Then add the member to the pattern, and to the first value of the golden file, as `docs/design/versions.md` says.
//! The check of the golden file alone would not find a member that is absent from its values.
//!
//! Structs with private fields have such a pattern in the tests of their modules: `Breaker`, `LastPing`, `Open`,
//! `Lowered`, `Bisection`, `StoredSelection`, and `JobError`, which is non-exhaustive.

use longshore_domain::cost::CostEstimate;
use longshore_domain::cursor::Cursor;
use longshore_domain::dead_letter::{DeadLetterRecord, Resolution};
use longshore_domain::event::{EndpointDisabled, Event, JobChange, PendingEvent};
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::history::PreviousVersion;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{
    CarriedOver, Checkpoint, CompletionState, DatasetSource, FailureFilter, ItemFile, Job, JobTimes, Original,
    PartSource, Preparation, RetryState, SourceFile, SplitState, Stop, Tolerance, UndoState, UndoneImport, Validation,
};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, PingMessage};
use longshore_domain::operator_log::{ActionResult, ActionScope, LogEntry};
use longshore_domain::outcome::{Counts, Rejection};
use longshore_domain::parts::Multipart;
use longshore_domain::ports::{Definition, Upload};
use longshore_domain::preset::Preset;
use longshore_domain::records::{Dialect, GivenReading, Reading};
use longshore_domain::registration::{Activation, BatchSize, Registration, VersionedRegistration};
use longshore_domain::remote::{ChunkOfJob, HandlerState};
use longshore_domain::results::{ResultColumn, ResultsForm};
use longshore_domain::schedule::{JobTemplate, Occurrence, OptionsCheck, Schedule};
use longshore_domain::webhook::{Attempt, Check, Delivery, DeliveryKey, Endpoint, Health, SecretVersions};
use longshore_domain::work_file::{Entry, OutputSlice, WorkFileHeader};

use crate::fingerprint::Fingerprint;
use crate::receipt::{CodeVersion, FileReceipt, InputReceipt, PartReceipt, Receipt, ResultsReceipt};
use crate::result::{IndexedSlice, ReportFile, ReportFiles, ResultCounts, ResultDocument, Timings};

/// Names all members of each struct.
macro_rules! members {
    ($($name:ident { $($member:ident),+ $(,)? })+) => {
        $(const _: fn($name) = |$name { $($member: _),+ }| {};)+
    };
}

members! {
    CreateMessage { job_id, tenant, generation, position, resend, failures, is_prepared, changed_at }
    ChunkMessage {
        job_id, tenant, priority, is_registered, group, chunk, plan, inline, failures, bisection, parked_until,
    }
    ChunkPlan { first, items, start, end, oversize, keys }
    ItemFile { name, etag }
    ChunkId { group, chunk }
    Reading { encoding, dialect, header_row, comment }
    Dialect { delimiter, quote }
    CompleteMessage { job_id, generation, resend, step, tenant, failures }
    PingMessage { name, version }
    DeliveryKey { tenant, endpoint_id, id }
}

members! {
    Job {
        job_id, tenant, trace, job_type, priority, is_registered, is_scheduled, metadata, callback, generation, status,
        stage, source, tolerance, cost_estimate, stop, error, issues, resends, retry, split, preparation, completion,
        times, recorded_outage, pending_events, unknown_events, validation, undo,
    }
    RetryState { carried_over, replanned, selection, used_corrections }
    CarriedOver { counts, groups, split_ended, replanned, retried_groups, cost }
    SplitState { offset, place, item_count, groups, sent_groups, ended, done_groups }
    CompletionState { totals, checkpoint, report, cost }
    Checkpoint { attempt, token, step }
    Validation { checks_only, started_as, started_from }
    UndoState { undoable, undone_by, undoes }
    UndoneImport { job_id, groups, preview }
    JobTimes {
        created_at, start_at, reopened_at, started_at, finished_at, updated_at, timeout_s, deadline_at, expires_at,
        deleted_at,
    }
    Tolerance { max_failed, max_failed_percent, max_cost }
    CostEstimate { cost, items, assumed_item_bytes, assumed_write_micros }
    Stop { status, error, at }
    Preparation { read_bytes, size_bytes }
    SourceFile { key, size_bytes, etag, format, name, reading, original }
    Original { key, size_bytes, etag, form, file, sheet, first_row, has_row_gaps, hidden_rows, merged_ranges }
    DatasetSource { dataset, updated_since }
    PartSource { job_id, part, generation, format, name }
    Definition { options, columns, given_reading, sheet, reading, detected, results, registration }
    GivenReading { encoding, delimiter, quote, header_row, comment }
    FailureFilter { code, field }
    Counts { succeeded, failed, skipped }
    Manifest { group, chunks }
    Group { number, items, bytes, counts, usage, open, cursors, progressed_at, resends, sent_at }
    Cursor { round, position, token, file, deferred, due, finished, by_sweeper }
    Multipart { id, part_bytes }
    Preset { key, columns, values }
    Upload {
        file_guid, tenant, key, file_name, content_type, size_bytes, sha256, multipart, promised_at, expires_at,
    }
}

members! {
    PendingEvent { generation, event_type, at, counts }
    Event { id, subject }
    JobChange { job_id, job_type, metadata, change }
    EndpointDisabled { endpoint_id, description, reason, at }
    DeadLetterRecord {
        id, queue, message, sent_at, seen_at, receives, size_bytes, source, group_id, resolution, expires_at,
    }
    Resolution { kind, by, at }
    Endpoint {
        endpoint_id, tenant, url, description, event_types, jobs, state, secret, health, created_at, revision, place,
        check, replayed_at,
    }
    SecretVersions { current, previous_until }
    Health { failures, paused_until, failing_since }
    Check { challenge, requested_at, begins_at, result }
    Delivery { tenant, endpoint_id, event, state, attempts, revision, log, created_at, expires_at }
    Attempt { at, ms, result }
    Schedule {
        schedule_id, tenant, place, name, timing, overlap, paused, job, next_at, last_at, last_job, created_at,
        revision,
    }
    JobTemplate {
        job_type, is_registered, source, priority, metadata, callback, request, results, tolerance, timeout_s,
        checks_only, options_check,
    }
    OptionsCheck { version, refusal }
    ResultsForm { row, format, gzip, formulas, bom, delimiter, columns, columns_from }
    ResultColumn { name, heading }
    Occurrence { scheduled_at, revision, at, result }
    VersionedRegistration { version, registration, activation }
    Registration {
        name, target, description, input, options_schema, item_schema, output_schema, batch, concurrency,
        items_per_second, tries, max_outage_seconds,
    }
    BatchSize { items, bytes, timeout_seconds }
    Activation { modes, at }
    HandlerState { breaker, concurrency }
    LogEntry { id, at, operator, operator_name, action, scope, reason }
    ActionScope { letter_id, job_type, code, job_ids, tenant, pause_id }
    ActionResult { at, status, detail, started }
    ChunkOfJob { job, chunk }
}

members! {
    WorkFileHeader { round, prev, before, outputs, due }
    OutputSlice { rows, bytes, sha256, crc64 }
    Entry { n, end, raw, damaged }
    Rejection { code, field, message }
    PreviousVersion { key, data, writer, created_by, previous }
    ResultDocument {
        job_id, job_type, status, item_count, counts, failures_by_code, timings, error, issues, files,
    }
    ResultCounts { succeeded, failed, skipped, unprocessed }
    Timings { created_at, started_at, finished_at, queued_ms, run_ms }
    ReportFiles { failed, skipped, unprocessed, results, results_index }
    ReportFile { key, rows }
    IndexedSlice { group, chunk, token, outputs }
    Receipt {
        job_id, job_type, generation, item_count, counts, input, part, corrected, files, results, code,
    }
    PartReceipt { job_id, generation, part }
    InputReceipt { name, size, sha256, basis }
    FileReceipt { name, rows, fingerprint }
    Fingerprint { size, sha256 }
    ResultsReceipt { name, rows, size, sha256, crc64nvme, index }
    CodeVersion { version, commit }
}
