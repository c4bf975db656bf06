//! Every problem that a check can find: its status, why it matters, and how to fix it.

use super::report::Status;

/// A problem. Its id in JSON never changes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Problem {
    PingFailed,
    SignatureRefused,
    Redirect,
    BadPingAnswer,
    WrongChallenge,
    UnknownSchemas,
    NoRunMode,
    NeverReady,
    SlowPing,
    ContentType,
    UnknownPingAccepted,
    UnknownPingUnanswered,
    UnsignedAccepted,
    WrongSignatureAccepted,
    OldTimestampAccepted,
    CallFailed,
    BadAnswer,
    AnswerTooLarge,
    WrongKeys,
    BadCode,
    ManyCodes,
    Fatal,
    FatalForItem,
    Busy,
    DifferentOutcomes,
    UnknownMembersRefused,
    BatchBroken,
    NeighboursAffected,
    SlowBatch,
    LateAnswer,
    MixedAnswers,
    ConcurrentCallFailed,
}

/// The fixed parts of a problem.
pub(super) struct Entry {
    pub(super) id: &'static str,
    pub(super) status: Status,
    pub(super) why: &'static str,
    pub(super) fix: &'static str,
}

const fn failed(id: &'static str, why: &'static str, fix: &'static str) -> Entry {
    Entry { id, status: Status::Failed, why, fix }
}

const fn warning(id: &'static str, why: &'static str, fix: &'static str) -> Entry {
    Entry { id, status: Status::Warning, why, fix }
}

impl Problem {
    /// Returns the fixed parts.
    pub(super) fn entry(self) -> Entry {
        self.of_ping().or_else(|| self.of_security()).or_else(|| self.of_answer()).unwrap_or_else(|| self.of_batch())
    }

    fn of_ping(self) -> Option<Entry> {
        const FIRST: &str =
            "A handler is registered only after a good ping, and after a fault nothing is sent before one.";
        Some(match self {
            Self::PingFailed => failed(
                "ping_failed",
                FIRST,
                "Answer requests whose `schema` is \"longshore.ping/1\" before anything else.",
            ),
            Self::SignatureRefused => failed(
                "signature_refused",
                FIRST,
                "Set LONGSHORE_HANDLER_SECRET to the secret that the endpoint verifies, and compare the clocks of both machines.",
            ),
            Self::Redirect => failed("redirect", "Redirects are not followed.", "Use the URL that answers."),
            Self::BadPingAnswer => failed(
                "bad_ping_answer",
                FIRST,
                "Answer a ping with a JSON object with `schemas`, `challenge` and `modes`.",
            ),
            Self::WrongChallenge => failed(
                "wrong_challenge",
                "The challenge proves that the answer is that of this handler, and not of a cache or another service.",
                "Copy `challenge` from the request.",
            ),
            Self::UnknownSchemas => failed(
                "unknown_schemas",
                "Batches have the schema \"longshore.items/1\", and the handler does not say that it knows it.",
                "List \"longshore.items/1\" in `schemas`.",
            ),
            Self::NoRunMode => {
                failed("no_run_mode", "Jobs process items in the mode `run`.", "List \"run\" in `modes`.")
            }
            Self::NeverReady => failed(
                "never_ready",
                "A ping decides nothing while the handler is busy, so that it cannot be registered.",
                "Answer pings even under load: they need no other service.",
            ),
            Self::SlowPing => warning(
                "slow_ping",
                "After a fault, jobs wait for a good ping.",
                "Answer pings without a call of another service.",
            ),
            Self::ContentType => warning(
                "content_type",
                "Longshore reads any type as JSON, but proxies and tools on the way can change or block others.",
                "Send `Content-Type: application/json`.",
            ),
            Self::UnknownPingAccepted => warning(
                "unknown_ping_accepted",
                "The handler would say that it knows a later version of the contract.",
                "Compare the whole `schema` with \"longshore.ping/1\", and refuse any other.",
            ),
            Self::UnknownPingUnanswered => warning(
                "unknown_ping_unanswered",
                "A message that the handler does not know ends a connection or keeps a worker busy.",
                "Refuse an unknown `schema` at once: status 400, or an exception.",
            ),
            _ => return None,
        })
    }

    fn of_security(self) -> Option<Entry> {
        const ANYONE: &str = "Anyone who knows the URL can send items to the handler.";
        const VERIFY: &str = "Verify `webhook-signature` over the bytes of the body as they arrived (Standard Webhooks), and answer 401.";
        Some(match self {
            Self::UnsignedAccepted => warning("unsigned_accepted", ANYONE, VERIFY),
            Self::WrongSignatureAccepted => warning("wrong_signature_accepted", ANYONE, VERIFY),
            Self::OldTimestampAccepted => warning(
                "old_timestamp_accepted",
                "A request that someone recorded can be sent again at any time.",
                "Refuse a `webhook-timestamp` that differs from the clock by more than five minutes.",
            ),
            _ => return None,
        })
    }

    fn of_answer(self) -> Option<Entry> {
        Some(match self {
            Self::CallFailed => failed(
                "call_failed",
                "Nothing of the batch counts. It is sent again in smaller parts, and an item alone fails with `handler_failed`.",
                "Answer 200 with a result for each item; an item that cannot succeed is a `reject`, not an error.",
            ),
            Self::BadAnswer => failed(
                "bad_answer",
                "An answer is accepted as a whole or not at all: nothing of this one counts.",
                "Compare the answer with docs/contract/items-answer.json.",
            ),
            Self::AnswerTooLarge => failed(
                "answer_too_large",
                "An answer has at most 4 MiB: nothing of this one counts.",
                "Answer fewer items if outputs are large, the others are sent again at once; or register smaller batches.",
            ),
            Self::WrongKeys => failed(
                "wrong_keys",
                "An answer with another key, or with a key twice, counts for no item of its batch.",
                "Copy `key` from the item, unchanged, to exactly one result.",
            ),
            Self::BadCode => failed(
                "bad_code",
                "Failures are counted and retried by code. One bad code makes the whole answer a bad one.",
                "Use identifiers such as \"bad_email\": a to z first, then a to z, 0 to 9 and _, at most 100 characters.",
            ),
            Self::ManyCodes => warning(
                "many_codes",
                "Failures are counted by code: codes that contain data are as many as items.",
                "Put data in `message`, and use one code for each cause.",
            ),
            Self::Fatal => warning(
                "fatal",
                "A job would stop here, and the other checks need results.",
                "Pass valid items with --items and the options of a job with --options.",
            ),
            Self::Busy => warning(
                "busy",
                "A job waits while the handler is busy. The rest of the checks was not made.",
                "Run the check again at another time.",
            ),
            _ => return None,
        })
    }

    fn of_batch(self) -> Entry {
        match self {
            Self::DifferentOutcomes => warning(
                "different_outcomes",
                "An item can arrive more than once, after a crash or a time-out. If its effect happened, the second answer counts: \
                 a rejection as a duplicate would report an item as failed that is done.",
                "Store the outcome under the item's `key`, in one transaction with the effect, and return it if the key arrives again.",
            ),
            Self::UnknownMembersRefused => failed(
                "unknown_members_refused",
                "Later versions of Longshore can add members, and the handler would fail with them.",
                "Ignore members that the handler does not know.",
            ),
            Self::BatchBroken => failed(
                "batch_broken",
                "One invalid item makes its whole batch fail. Longshore searches for it with many calls, and the report has \
                 `handler_failed` without a reason.",
                "Catch errors for each item, and answer a `reject` with a code for this item.",
            ),
            Self::FatalForItem => failed(
                "fatal_for_item",
                "`fatal` stops the job: one invalid item would end all others.",
                "Answer a `reject` for this item.",
            ),
            Self::NeighboursAffected => warning(
                "neighbours_affected",
                "Valid items beside invalid ones had another outcome than before.",
                "Decide the outcome of each item alone.",
            ),
            Self::SlowBatch => warning(
                "slow_batch",
                "A batch of 1,000 items took more than half of the time-out: under load, batches will be repeated.",
                "Register smaller batches or a longer time-out, or answer the first items before the deadline.",
            ),
            Self::LateAnswer => warning(
                "late_answer",
                "An answer after `deadline` is ignored, and the items are sent again: their work is done twice.",
                "Stop before `batch.deadline` and answer the items that are done; the others are sent again at once.",
            ),
            Self::MixedAnswers => failed(
                "mixed_answers",
                "Concurrent calls got each other's results: the handler shares state between requests.",
                "Keep the state of a batch in variables of its request.",
            ),
            _ => failed(
                "concurrent_call_failed",
                "Several batches are sent at the same time.",
                "Answer 429 or `retryBatch` to calls above what the handler can take: they are sent again later.",
            ),
        }
    }
}
