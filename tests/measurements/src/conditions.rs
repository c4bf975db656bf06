//! Conditions and layers of the protocol, and links of the game day, by the names under which
//! `cargo xtask prove --without` removes them.

/// The conditions that the proofs remove, one at a time, to show that each is necessary: name and description. Without
/// any one of them, a count or a report is wrong in some run, a limit is exceeded, or a job hangs.
pub const CONDITIONS: [(&str, &str); 42] = [
    ("cursor-condition", "a commit succeeds only if the chunk's cursor is the one that the worker read"),
    ("unique-cursors", "every cursor value names the attempt that wrote it"),
    ("open-group", "a commit succeeds only in an open group"),
    ("attempt-in-names", "a work file is named by the attempt that wrote it"),
    (
        "attempt-in-reports",
        "a report is named by its completion attempt, and the final status names the report that counts",
    ),
    ("closed-before-status", "the groups are closed before the final status is written"),
    ("final-count-first", "the final count is recorded with or before the last send"),
    ("split-cursor", "a group is committed only at the split cursor that the splitter read"),
    (
        "place-of-the-split",
        "a group is committed only at the split position, and its splitter continues only from its own write",
    ),
    ("final-status", "a final status is written once"),
    ("generation", "the ledger refuses writes of an earlier generation"),
    ("begin-once", "only a waiting job can be begun"),
    ("no-group-after-stop", "no group is committed to a stopping job"),
    ("end-of-split-only-while-splitting", "the end of the split is recorded only while the job is being split"),
    ("stop-only-while-alive", "only an active job can be stopped"),
    ("no-completion-of-a-stopping-job", "a stopping job is not completed"),
    ("reopen-only-what-has-ended", "only a job that has ended, in the generation that was read, is reopened"),
    ("no-roll-up-after-the-end", "a group is recorded as done only while its job has not ended"),
    ("permits-acquired-when-free", "a permit is acquired only if it has no holder"),
    ("one-undo-at-once", "an import is marked only if its last undo is the one that was read and has ended"),
    ("undo-of-the-generation-read", "an import is marked only in the generation that was read, after its end"),
    ("no-generation-after-an-undo", "an import that is or was undone is neither retried nor replayed"),
    ("no-delete-during-an-undo", "an import is deleted only as it was read, without an active undo"),
    ("undo-after-the-stall-time", "an undo begins only when no worker of the import can still write"),
    ("previews-write-nothing", "a preview of an undo makes the undo's decisions, and writes no record"),
    ("silence-is-no-success", "an item without a result in the answer of a remote handler has no outcome"),
    ("bad-answers-count-nothing", "of an answer with an unknown or a doubled key nothing is counted"),
    ("gaps-are-deferred", "an item without an outcome is in a work file before the position passes over it"),
    ("no-try-for-backpressure", "no item spends a try because of a remote handler's backpressure"),
    ("pings-after-the-fault", "only a ping that began after a fault decides about the fault"),
    ("items-wait-for-their-own-time", "a round defers the items again whose next try is later"),
    ("permits-released", "a worker that ends releases its permit"),
    (
        "rate-added-to-the-stored-time",
        "items under the rate limit are reserved behind the stored reserved time, not behind the one that the worker last read",
    ),
    ("event-with-status", "the event of an end is part of the write of the final status"),
    ("events-moved-as-read", "a job's events are moved only as they were read"),
    ("deliveries-with-events", "the transaction that lists an event stores its deliveries"),
    ("events-moved-in-time", "events enter the list soon after the time that orders them"),
    ("enqueue-once", "only a job that is still scheduled is put into its queue"),
    ("parked-chunks-are-not-stalled", "a parked chunk is not pushed and not given up"),
    ("no-item-during-a-pause", "a worker reads the pauses before each batch"),
    ("no-push-during-a-pause", "a sweep reads the pauses before its first push"),
    ("no-split-during-a-pause", "a splitter and a preparation read the pauses before they begin"),
];

/// Layers: redundant mechanisms that only save work or time. Without one of them, no result is wrong.
pub const LAYERS: [(&str, &str); 8] = [
    ("deduplication", "queues drop a message that was sent before"),
    ("sweeper", "a job without progress is pushed; without the sweeper, only jobs whose messages were lost wait"),
    ("pushes-counted-once", "of two concurrent sweeps, one counts a push"),
    ("groups-at-the-end-of-the-split", "the end of the split names the number of groups"),
    ("permits-released-by-their-holder", "only the holder of a permit releases it"),
    ("checkpoint-as-it-was-read", "of two completions that continue from one checkpoint, one moves it"),
    ("called-by-one", "of two functions that wake a chunk, one sends its message"),
    ("forgotten-as-it-was-read", "a chunk that was parked again stays parked"),
];

/// Links of the game day: what leads operators from a fault to its end. Without one of them, a fault that needs it is not
/// signaled, not found, or not fixed, and the game day fails.
pub const LINKS: [(&str, &str); 16] = [
    ("CircuitBreakerAlarm", "game day: the alarm of a handler that is unavailable"),
    ("ApiErrorsAlarm", "game day: the alarm of calls that fail"),
    ("SweepSilentAlarm", "game day: the alarm of a sweeper that does not run"),
    ("LostChunksAlarm", "game day: the alarm of chunks whose messages are lost again and again"),
    ("ProcessItemErrorsAlarm", "game day: the alarm of a worker that crashes"),
    ("CallHandlerErrorsAlarm", "game day: the alarm of a caller of handlers that crashes"),
    ("ChunkDeadLettersAlarm", "game day: the alarm of dead letters of chunks"),
    ("WebhookAttempts", "game day: the metric of attempts to deliver events"),
    ("handler_unavailable", "game day: the finding about a handler"),
    ("table_throttled", "game day: the finding about a throttled table"),
    ("webhook_failing", "game day: the finding about a webhook that accepts no events"),
    ("schedule_disabled", "game day: the finding about the sweeper's schedule"),
    ("jobs_not_started", "game day: the finding about jobs that wait for their split"),
    ("queue_shared", "game day: the finding about a function of others that reads a queue"),
    ("mapping_disabled", "game day: the finding about a queue that is not read"),
    ("action", "game day: what is done about a fault"),
];
