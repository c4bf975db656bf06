//! Every kind of problem: the one place for its status, its title, and the page that its `type` leads to.
//!
//! A kind is a promise: clients compare its name, so a name never changes its meaning. To add a kind, add a row.

/// Description of a kind of problem.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct About {
    /// Stable name in kebab case: the end of the problem's `type`.
    pub name: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Title, the same for every problem of the kind.
    pub title: &'static str,
    /// Conditions under which it is answered. Plain text for people; it says nothing of a single request.
    pub meaning: &'static str,
    /// Advice for the client.
    pub way_out: &'static str,
}

/// Path of the pages about problems; each kind's page is below it, by its name.
pub const PAGES: &str = "/api/problems";

macro_rules! kinds {
    ($($kind:ident = $status:literal $name:literal $title:literal $meaning:literal $way_out:literal;)*) => {
        /// The kinds of problems of a call, in the order of their names, which is also the order of the page that
        /// lists them.
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
                        name: $name, status: $status, title: $title, meaning: $meaning, way_out: $way_out,
                    },)*
                }
            }
        }
    };
}

kinds! {
    AlreadyUploaded = 409 "already-uploaded" "Already uploaded"
        "Another URL was requested for an upload whose file already exists. A file is uploaded once and never \
         changes."
        "Create a job with the upload's fileGuid, or request another upload.";
    BodyTooLarge = 413 "body-too-large" "Request body too large"
        "The body is longer than this call allows: 4 KiB for a retry, 64 KiB for an upload or the URLs of its \
         parts, 256 KiB for any other call, including those that read no body."
        "Send less data. Data belongs in an uploaded file, and a schema may have up to 64 KiB.";
    Busy = 503 "busy" "Busy"
        "More chunks of the job's priority are waiting than the deployment allows. Nothing was done; reads still \
         work."
        "Retry after the number of seconds in Retry-After, with the same Idempotency-Key.";
    FileGone = 409 "file-gone" "The file is gone"
        "The file that a job has validated no longer exists unchanged, so no job can be started from it."
        "Upload the file again and create another job.";
    HeadersTooLarge = 431 "headers-too-large" "Request header fields too large"
        "All headers but cookies have more than 10 KiB together, the entity tags of If-Match or If-None-Match more than \
         4 KiB, or traceparent more than 256 bytes."
        "Omit headers that the call does not need.";
    IdempotencyKeyReused = 422 "idempotency-key-reused" "Idempotency key reused"
        "The Idempotency-Key was used for another request within the last 24 hours."
        "Use a new key for a new request, and the same key only for the same request.";
    Internal = 500 "internal" "Internal error"
        "Something failed on our side. The logs hold the cause, under the requestId."
        "Retry the call. That is safe for every call except a create without an Idempotency-Key, which may create a \
         second one.";
    InvalidIdempotencyKey = 400 "invalid-idempotency-key" "Invalid idempotency key"
        "The header Idempotency-Key is empty, longer than 255 characters, or holds characters that are not ASCII."
        "Send 1 to 255 ASCII characters, for example a UUID.";
    InvalidRequest = 422 "invalid-request" "The request has invalid fields"
        "Fields of the body, or parameters, are missing, unknown or invalid. The list errors has all of them, up to \
         a hundred: a JSON pointer to each, a stable code, and a description of a valid value."
        "Fix the fields that errors names, and send the request again.";
    JobDeleted = 409 "job-deleted" "The job was deleted"
        "The job that was created with the Idempotency-Key, or started from this one, has been deleted since. A key \
         creates one job, and so does a start; neither restores it."
        "Create another job, under a new key.";
    JobEnded = 409 "job-ended" "The job has ended"
        "The job cannot be canceled: it already has a final status."
        "Read the job's result, or reopen the job with a retry.";
    LetterSettled = 409 "letter-settled" "Dead letter already resolved"
        "The dead letter was already replayed or discarded; its resolution does not change."
        "There is nothing to do. Read the dead letter to see who did what, and when.";
    MalformedJson = 400 "malformed-json" "Malformed JSON"
        "The body is not JSON. The detail gives line and column."
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
        "The job's output still has its counts. To get the rows again, import the file again.";
    NoTenant = 403 "no-tenant" "No tenant"
        "The token is valid, but lacks the claim that identifies tenants in this deployment, or the claim is not a \
         valid tenant name."
        "Ask an administrator to set the claim for your user, sign in again, and send the kind of token that \
         carries it.";
    NotAnOperator = 403 "not-an-operator" "Not an operator"
        "The token is valid, but its user is not an operator. Only operators see dead letters, which hold rows of \
         all tenants. In a deployment that is open to everyone, no user is an operator."
        "Ask an administrator to make you an operator (OperatorClaim and OperatorGroup in the template), and sign \
         in again.";
    NotEnded = 409 "not-ended" "Job not ended"
        "Only a job that has ended can be retried, started, or reopened for a dead letter."
        "Cancel the job, or wait until it ends.";
    NotFinished = 404 "not-finished" "Job not finished"
        "The job has no final status yet, so it has no result."
        "Poll the job at the interval in its Retry-After, until the response has none.";
    NotFound = 404 "not-found" "Not found"
        "Nothing was found at this path: the id does not exist, has expired, was deleted, or belongs to another \
         tenant."
        "Use ids and links as earlier responses gave them.";
    NotValidated = 409 "not-validated" "Not validated"
        "Only a job that has validated its whole file can be started: this one failed or was canceled before, or \
         was deleted or reopened at the same moment."
        "Retry it until it has completed, or create a job that does more than validate.";
    NothingToReplay = 409 "nothing-to-replay" "Nothing to replay"
        "A replay of the dead letter would have no effect: its job was deleted, has expired or was canceled, a \
         later attempt has processed its items again, or they were completed anyway."
        "Discard the dead letter.";
    NothingToRetry = 409 "nothing-to-retry" "Nothing to retry"
        "Every item of the job succeeded or was skipped."
        "There is nothing to do. To import changed rows, create another job.";
    NothingToStart = 409 "nothing-to-start" "Nothing to start"
        "The job did more than validate its file, so nothing is left to start."
        "There is nothing to do. Items that failed can be retried.";
    PreconditionFailed = 412 "precondition-failed" "Precondition failed"
        "The job has changed since the response whose ETag is in If-Match. Nothing was done."
        "Read the job again and decide again.";
    RateLimited = 429 "rate-limited" "Too many calls"
        "The tenant has exceeded its rate limit: of all calls together, or of calls that create work (creates, \
         uploads, retries, starts, cancels, deletes). Nothing was done."
        "Retry after the number of seconds in Retry-After, with the same Idempotency-Key.";
    TooManyJobs = 429 "too-many-jobs" "Too many active jobs"
        "The tenant has reached its maximum number of active jobs, including deleted ones that have not been \
         removed. Nothing was done."
        "Wait until a job ends, or cancel one. Retry after the number of seconds in Retry-After, with the same \
         Idempotency-Key.";
    Unavailable = 503 "unavailable" "Temporarily unavailable"
        "The call could not read or write its data in time: a service failed or was slow, or other calls wrote the \
         same data at that moment."
        "Retry after the number of seconds in Retry-After, with the same Idempotency-Key.";
    UnsupportedMediaType = 415 "unsupported-media-type" "Unsupported media type"
        "The body is not declared as JSON."
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
        "The tenant's daily quota (UTC) leaves no room for a file of this size: the quota for promised uploads, \
         used or not, or the quota for the files of jobs, counted again for each create, start and retry. Nothing \
         was done."
        "Use a smaller file, or retry after the number of seconds in Retry-After, when the next day begins.";
    UriTooLong = 414 "uri-too-long" "URI too long"
        "Path and query string together have more than 4 KiB."
        "Use links and cursors as earlier responses gave them.";
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

    /// Returns the kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_are_listed_by_name_and_each_name_is_its_own() {
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
    fn every_kind_says_what_it_means_and_what_to_do() {
        for about in Kind::ALL.iter().map(|kind| kind.about()) {
            assert!((400..=599).contains(&about.status), "{about:?}");
            assert!(about.meaning.ends_with('.') && about.way_out.ends_with('.'), "{about:?}");
            assert!(!about.title.ends_with('.'), "{about:?}");
        }
    }
}
