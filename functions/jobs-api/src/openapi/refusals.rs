//! Which problems each call may answer, beside those of every call.

use longshore::refusals;

refusals!(
    /// Of `POST /api/jobs`. 404 if the job of the Idempotency-Key is deleted in the same moment.
    CreateRefusals: MalformedJson, InvalidIdempotencyKey, NotFound, JobDeleted, BodyTooLarge, UnsupportedMediaType,
    InvalidRequest, IdempotencyKeyReused, TooManyJobs, UploadQuotaExceeded, Busy
);
refusals!(
    /// Of `GET /api/jobs` and `GET /api/datasets`.
    ListRefusals: MalformedQuery, InvalidRequest
);
refusals!(
    /// Of `GET /api/datasets/{dataset}/records`. 404 if the name cannot be decoded.
    RecordsRefusals: MalformedQuery, NotFound, InvalidRequest
);
refusals!(
    /// Of `GET /api/jobs/{jobId}`.
    JobRefusals: MalformedQuery, NotFound
);
refusals!(
    /// Of `DELETE /api/jobs/{jobId}`.
    DeleteRefusals: NotFound, PreconditionFailed
);
refusals!(
    /// Of `POST /api/jobs/{jobId}/cancel`.
    CancelRefusals: NotFound, JobEnded, PreconditionFailed
);
refusals!(
    /// Of `POST /api/jobs/{jobId}/retry`.
    RetryRefusals: MalformedJson, NotFound, NotEnded, NothingToRetry, PreconditionFailed, BodyTooLarge, UnsupportedMediaType,
    InvalidRequest, TooManyJobs, UploadQuotaExceeded, Busy
);
refusals!(
    /// Of `POST /api/jobs/{jobId}/start`.
    StartRefusals: NotFound, FileGone, JobDeleted, NotEnded, NothingToStart, NotValidated, PreconditionFailed, TooManyJobs,
    UploadQuotaExceeded, Busy
);
refusals!(
    /// Of `GET /api/jobs/{jobId}/output`.
    OutputRefusals: NotFound, NotFinished
);
refusals!(
    /// Of `GET /api/jobs/{jobId}/audit`.
    AuditRefusals: NotFound, Unavailable
);
refusals!(
    /// Of the public documents.
    public DocumentRefusals:
);
refusals!(
    /// Of `GET /api/problems/{kind}`.
    public KindRefusals: NotFound
);
refusals!(
    /// Of `GET /api/jobs/{jobId}/failures`.
    FailuresRefusals: MalformedQuery, NotFound, NotFinished, NoReport, InvalidRequest
);
