//! Every kind of problem, with its status, its title, and the texts of its page.
//!
//! Clients compare the names, so a name never changes its meaning. To add a kind, add a row.

/// Description of a kind of problem.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct About {
    /// Stable name in kebab case: the end of the problem's `type`.
    pub name: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Title, the same for every problem of the kind.
    pub title: &'static str,
    /// Conditions under which a call returns the problem, as plain text. Not about a single request.
    pub meaning: &'static str,
    /// Advice for the client.
    pub advice: &'static str,
}

/// Path of the pages about problems; each kind's page is below it, by its name.
pub const PAGES: &str = "/api/problems";

macro_rules! kinds {
    ($($kind:ident = $status:literal $name:literal $title:literal $meaning:literal $advice:literal;)*) => {
        /// A kind of problem, in the order of the names.
        #[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
        pub enum Kind {
            $(#[doc = $meaning] $kind,)*
        }

        impl Kind {
            /// Every kind, by name.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the kind's description.
            pub fn about(self) -> About {
                match self {
                    $(Self::$kind => About {
                        name: $name, status: $status, title: $title, meaning: $meaning, advice: $advice,
                    },)*
                }
            }
        }
    };
}

kinds! {
    AlreadyUploaded = 409 "already-uploaded" "Already uploaded"
        "The file of the upload already exists, so no further URL is available. A file is uploaded once and never \
         changes."
        "Create a job with the upload's fileGuid, or create another upload.";
    BodyTooLarge = 413 "body-too-large" "Request body too large"
        "The body is longer than this call allows: 4 KiB for a retry, an undo or a replay, 8 KiB for a webhook, 32 KiB for a schedule, 64 KiB for an upload or \
         the URLs of its parts, 128 KiB for a job type, 2 MiB of items and 256 KiB of other fields for a job, and the sum of both for any \
         other call, including those that read no body."
        "Send a smaller body. Upload rows as a file. A schema may have up to 64 KiB, and 16 KiB in a job type.";
    Busy = 503 "busy" "Busy"
        "More chunks of the job's priority are waiting than the deployment allows. Nothing was done; reads still \
         work."
        "Retry after the number of seconds in Retry-After, with the same Idempotency-Key if the call takes one.";
    FileGone = 409 "file-gone" "File gone"
        "The file of the job was removed or replaced, so no import can be started from the job, and it cannot be \
         undone."
        "Upload the file again and create another job.";
    HeadersTooLarge = 431 "headers-too-large" "Request header fields too large"
        "The headers without cookies have more than 10 KiB in total, If-Match or If-None-Match has more than 4 KiB of \
         entity tags, or traceparent has more than 256 bytes."
        "Omit headers that the call does not need.";
    IdempotencyKeyReused = 422 "idempotency-key-reused" "Idempotency key reused"
        "The Idempotency-Key was used for another request within the last 24 hours."
        "Use a new key for a new request, and the same key only for the same request.";
    Internal = 500 "internal" "Internal error"
        "An unexpected error occurred on the server. The logs contain the cause under the requestId."
        "Retry the call. A retry is safe for every call except a create without an Idempotency-Key, which may create \
         a second job or upload, and except those that take no key: before you create a webhook or a schedule again, or trigger \
         one, look whether the first call did it.";
    InvalidIdempotencyKey = 400 "invalid-idempotency-key" "Invalid idempotency key"
        "The header Idempotency-Key is empty, longer than 255 characters, or contains characters that are not ASCII."
        "Send 1 to 255 ASCII characters, for example a UUID.";
    InvalidRequest = 422 "invalid-request" "Invalid fields"
        "Fields of the body, or parameters, are missing, unknown or invalid. The list errors contains all of them, up \
         to a hundred: a JSON pointer to each, a stable code, and a description of a valid value."
        "Fix the fields in errors, and send the request again.";
    JobDeleted = 409 "job-deleted" "Job deleted"
        "The job that was created with this Idempotency-Key, or started from this validation job, has been deleted. A \
         repeated call does not restore it."
        "Create another job with a new key.";
    JobEnded = 409 "job-ended" "Job ended"
        "The job cannot be canceled: it already has a final status."
        "Read the job's result, or retry the job.";
    JobUndone = 409 "job-undone" "Job undone"
        "The job is an undo, or an import that is being undone or was undone. Neither runs again."
        "To undo more rows, request another undo of the import. To import the rows again, create another job.";
    LetterSettled = 409 "letter-settled" "Dead letter already resolved"
        "The dead letter was already replayed or discarded. Its resolution does not change."
        "No action is needed. Read the dead letter for its resolution: what was done, by whom, and when.";
    MalformedJson = 400 "malformed-json" "Malformed JSON"
        "The body is not valid JSON. The detail contains line and column."
        "Send one JSON object in UTF-8.";
    MalformedQuery = 400 "malformed-query" "Malformed query string"
        "The query string cannot be read."
        "Percent-encode names and values.";
    MethodNotAllowed = 405 "method-not-allowed" "Method not allowed"
        "The path exists, but does not support this method."
        "Use one of the methods that the header Allow lists.";
    NoReport = 404 "no-report" "No report"
        "The job has ended, and the files of its report do not exist: they could not be written, or they have \
         expired."
        "Read the counts from the job's output. To get the rows, import the file again.";
    NoTenant = 403 "no-tenant" "No tenant"
        "The token is valid, but lacks the claim that identifies tenants in this deployment, or the claim is not a \
         valid tenant name."
        "Ask an administrator to set the claim for your user. Sign in again, and send the kind of token (access \
         token or ID token) that contains the claim.";
    NotAnOperator = 403 "not-an-operator" "Not an operator"
        "The token is valid, but its user is not an operator. Only operators can see dead letters, because they \
         contain rows of all tenants, and register job types, because all tenants use them. In a deployment that is open to everyone, no user is an operator."
        "Ask an administrator to make you an operator (OperatorClaim and OperatorGroup in the template), and sign \
         in again.";
    NotEnded = 409 "not-ended" "Job not ended"
        "The job has not ended. Only a job that has ended can be retried, started, undone, or reopened for a \
         dead letter."
        "Cancel the job, or wait until it ends.";
    NotFinished = 404 "not-finished" "Job not finished"
        "The job has no final status yet, so it has no result."
        "Poll the job at the interval in its Retry-After, until the response has none.";
    NotFound = 404 "not-found" "Not found"
        "Nothing exists at this path: the id is unknown, has expired, was deleted, or belongs to another tenant."
        "Use ids and links exactly as in earlier responses.";
    NotUndoable = 409 "not-undoable" "Cannot be undone"
        "The job cannot be undone: it is not an import, it only validates or deletes records, its items are a part of \
         another job, it was created with undo set to false, it ended before its first row, or it or its file expires \
         within an hour. The detail gives the reason."
        "No action is needed. To change records, import a file with their new contents.";
    NotValidated = 409 "not-validated" "Not validated"
        "Only a job that has validated its whole file can be started. This job failed or was canceled, or it was \
         deleted or reopened at the same moment."
        "Retry the job until it is completed, or create an import in another mode than validate.";
    NothingToReplay = 409 "nothing-to-replay" "Nothing to replay"
        "A replay of the dead letter would have no effect: its job was deleted, has expired or was canceled, or its \
         items were retried by a later attempt or have already ended."
        "Discard the dead letter.";
    NothingToRetry = 409 "nothing-to-retry" "Nothing to retry"
        "Every item of the job succeeded or was skipped."
        "No action is needed. To import changed rows, create another job.";
    NothingToStart = 409 "nothing-to-start" "Nothing to start"
        "The job is not a validation job, so no import can be started from it."
        "No action is needed. To process failed items again, retry the job.";
    PreconditionFailed = 412 "precondition-failed" "Precondition failed"
        "The job, the job type, the webhook or the schedule has changed since the response whose ETag is in If-Match. Nothing was done."
        "Read it again. If the change still applies, repeat it with the new ETag.";
    RateLimited = 429 "rate-limited" "Too many calls"
        "The tenant, or the operator, has exceeded its rate limit: of all calls together, or of calls that create work (creates, \
         uploads, retries, starts, undos, cancels, deletes, changes, checks and replays of webhooks, and changes and triggers of schedules). Nothing was done."
        "Retry after the number of seconds in Retry-After, with the same Idempotency-Key if the call takes one.";
    ScheduleNotRunnable = 409 "schedule-not-runnable" "Schedule not runnable"
        "The schedule can make no job now: the job of an earlier occurrence is active, or its job type was deleted, is \
         not active, takes another kind of input, or refuses the options since it was changed. Nothing was done."
        "Wait until that job ends, cancel it, or change the schedule. An operator can accept the former options again.";
    TooManyJobTypes = 409 "too-many-job-types" "Too many job types"
        "The deployment has its maximum of 200 registered job types. Nothing was done."
        "Delete a job type that is not needed.";
    TooManyJobs = 429 "too-many-jobs" "Too many active jobs"
        "The tenant has reached its maximum number of active jobs, including deleted ones that have not been \
         removed. Nothing was done."
        "Wait until a job ends, or cancel one. Retry after the number of seconds in Retry-After, with the same \
         Idempotency-Key.";
    TooManyPauses = 409 "too-many-pauses" "Too many pauses"
        "The deployment has its maximum of 100 pauses of job types and tenants in force. Nothing was done."
        "End a pause that is not needed, or wait until one ends.";
    TooManySchedules = 409 "too-many-schedules" "Too many schedules"
        "The tenant has its maximum of 100 schedules. Nothing was done."
        "Delete a schedule that is not needed.";
    TooManyWebhooks = 409 "too-many-webhooks" "Too many webhooks"
        "The tenant has its maximum of 10 webhooks. Nothing was done."
        "Delete a webhook that is not needed.";
    Unavailable = 503 "unavailable" "Temporarily unavailable"
        "The call could not read or write its data in time: a service failed or was slow, or concurrent calls wrote \
         the same data."
        "Retry after the number of seconds in Retry-After, with the same Idempotency-Key if the call takes one.";
    UndoActive = 409 "undo-active" "Undo active"
        "The import is being undone. Until the undo has ended, it needs the import, which therefore cannot be deleted."
        "Wait until the undo ends, or cancel the undo.";
    UndoTooEarly = 409 "undo-too-early" "Undo too early"
        "The import ended moments ago, so one of its workers may still write a record. Nothing was done."
        "Retry after the number of seconds in Retry-After.";
    UnsupportedMediaType = 415 "unsupported-media-type" "Unsupported media type"
        "The header Content-Type does not declare the body as JSON."
        "Send JSON, with the header Content-Type: application/json.";
    UploadAbandoned = 409 "upload-abandoned" "Upload abandoned"
        "The upload in parts was not completed within a day. Its parts have been removed."
        "Request another upload.";
    UploadIncomplete = 409 "upload-incomplete" "Upload incomplete"
        "The file of the upload is not complete: nothing was uploaded, parts are missing or have the wrong size, or \
         another call is assembling the file. The detail gives the reason, and names the parts."
        "Upload what is missing, and complete the upload again; if the response has a Retry-After, wait that number \
         of seconds first.";
    UploadQuotaExceeded = 429 "upload-quota-exceeded" "Upload quota exceeded"
        "The file would exceed one of the tenant's daily quotas (UTC): the quota of uploads, which counts every \
         upload whether or not it is used, or the quota of the files of jobs, which counts a file for each create, \
         start and retry. Nothing was done."
        "Use a smaller file, or retry after the number of seconds in Retry-After, when the next day begins.";
    UriTooLong = 414 "uri-too-long" "URI too long"
        "Path and query string together have more than 7 KiB."
        "Use links and cursors exactly as in earlier responses.";
    WebhookDisabled = 409 "webhook-disabled" "Webhook disabled"
        "The webhook is disabled, so nothing is delivered to it. Nothing was done."
        "Enable the webhook, and repeat the call once it is active.";
    WebhookPending = 409 "webhook-pending" "Webhook pending"
        "The webhook has passed no check since its URL was set or it was enabled, so nothing is delivered to it yet. \
         Nothing was done."
        "Repeat the call once the webhook is active. If its check has failed, repair the endpoint, and request another \
         check.";
}

impl Kind {
    /// Returns the kind's name.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// Returns the `type` of its problems: a URI reference with full path (RFC 9457, 3.1.1), the same at every
    /// deployment. Each deployment serves its page.
    pub fn uri(self) -> String {
        format!("{PAGES}/{}", self.name())
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_are_sorted_by_name_and_names_are_unique() {
        let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        for kind in Kind::ALL {
            let kebab = format!("{kind:?}").chars().fold(String::new(), |mut text, c| {
                let hyphen = c.is_ascii_uppercase() && !text.is_empty();
                text.extend(hyphen.then_some('-').into_iter().chain([c.to_ascii_lowercase()]));
                text
            });
            assert_eq!((kind.name(), Kind::named(kind.name())), (&*kebab, Some(*kind)));
        }
    }

    #[test]
    fn every_kind_has_a_meaning_and_advice() {
        for about in Kind::ALL.iter().map(|kind| kind.about()) {
            assert!((400..=599).contains(&about.status), "{about:?}");
            assert!(about.meaning.ends_with('.') && about.advice.ends_with('.'), "{about:?}");
            assert!(!about.title.ends_with('.'), "{about:?}");
        }
    }
}
