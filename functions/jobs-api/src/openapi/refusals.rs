//! Problems that each call may return, in addition to those of every call.

use longshore::refusals;

refusals!(
    /// Refusals of `POST /api/jobs`. 404 if the job of the Idempotency-Key is deleted at the same moment.
    CreateRefusals: MalformedJson, InvalidIdempotencyKey, NotFound, JobDeleted, BodyTooLarge, UnsupportedMediaType,
    InvalidRequest, IdempotencyKeyReused, TooManyJobs, UploadQuotaExceeded, Busy
);
refusals!(
    /// Refusals of `GET /api/jobs`, `GET /api/events`, `GET /api/datasets` and `GET /api/job-types`.
    ListRefusals: MalformedQuery, InvalidRequest
);
refusals!(
    /// Refusals of `GET /api/costs`. 403 if a caller who is no operator names another tenant.
    CostsRefusals: MalformedQuery, NotAnOperator, InvalidRequest
);
refusals!(
    /// Refusals of `GET` and `DELETE /api/datasets/{dataset}/records`. 404 if the name cannot be decoded.
    RecordsRefusals: MalformedQuery, NotFound, InvalidRequest
);
refusals!(
    /// Refusals of `DELETE /api/datasets/{dataset}`.
    DeleteDatasetRefusals: InvalidIdempotencyKey, NotFound, JobDeleted, InvalidRequest, IdempotencyKeyReused, TooManyJobs,
    UploadQuotaExceeded, Busy
);
refusals!(
    /// Refusals of `GET /api/jobs/{jobId}`.
    JobRefusals: MalformedQuery, NotFound
);
refusals!(
    /// Refusals of `DELETE /api/jobs/{jobId}`.
    DeleteRefusals: NotFound, UndoActive, PreconditionFailed
);
refusals!(
    /// Refusals of `POST /api/jobs/{jobId}/cancel`.
    CancelRefusals: NotFound, JobEnded, PreconditionFailed
);
refusals!(
    /// Refusals of `POST /api/jobs/{jobId}/retry`.
    RetryRefusals: MalformedJson, NotFound, JobUndone, NotEnded, NothingToRetry, PreconditionFailed, BodyTooLarge, UnsupportedMediaType,
    InvalidRequest, TooManyJobs, UploadQuotaExceeded, Busy
);
refusals!(
    /// Refusals of `POST /api/jobs/{jobId}/start`.
    StartRefusals: NotFound, FileGone, JobDeleted, NotEnded, NothingToStart, NotValidated, PreconditionFailed, TooManyJobs,
    UploadQuotaExceeded, Busy
);
refusals!(
    /// Refusals of `POST /api/jobs/{jobId}/undo`.
    UndoRefusals: MalformedJson, NotFound, FileGone, NotEnded, NotUndoable, UndoActive, UndoTooEarly, PreconditionFailed,
    BodyTooLarge, UnsupportedMediaType, InvalidRequest, TooManyJobs, UploadQuotaExceeded, Busy
);
refusals!(
    /// Refusals of `GET /api/jobs/{jobId}/output`.
    OutputRefusals: NotFound, NotFinished
);
refusals!(
    /// Refusals of `GET /api/jobs/{jobId}/output/{file}`.
    OutputFileRefusals: NotFound, NotFinished, NoReport
);
refusals!(
    /// Refusals of `GET /api/jobs/{jobId}/images/{file}`.
    ImageRefusals: NotFound
);
refusals!(
    /// Refusals of `GET /api/jobs/{jobId}/results`.
    ResultsRefusals: MalformedQuery, NotFound, NotFinished, NoReport, InvalidRequest
);
refusals!(
    /// Refusals of `GET /api/jobs/{jobId}/audit`.
    AuditRefusals: NotFound, Unavailable
);
refusals!(
    /// Refusals of `GET /api/job-types/{name}`.
    JobTypeRefusals: NotFound
);
refusals!(
    /// Refusals of `GET /api/job-types/{name}/secret`.
    operator JobTypeSecretRefusals: NotFound, RateLimited
);
refusals!(
    /// Refusals of `PUT /api/job-types/{name}`. 404 if the name cannot be decoded.
    operator PutJobTypeRefusals: MalformedJson, NotFound, TooManyJobTypes, PreconditionFailed, BodyTooLarge,
    UnsupportedMediaType, InvalidRequest, RateLimited
);
refusals!(
    /// Refusals of `DELETE /api/job-types/{name}`.
    operator DeleteJobTypeRefusals: NotFound, PreconditionFailed, RateLimited
);
refusals!(
    /// Refusals of `POST /api/webhooks`.
    CreateWebhookRefusals: MalformedJson, TooManyWebhooks, BodyTooLarge, UnsupportedMediaType, InvalidRequest, Unavailable
);
refusals!(
    /// Refusals of `GET /api/webhooks`: none.
    WebhooksRefusals:
);
refusals!(
    /// Refusals of `GET /api/webhooks/{webhookId}`.
    WebhookRefusals: NotFound
);
refusals!(
    /// Refusals of `PUT /api/webhooks/{webhookId}`.
    PutWebhookRefusals: MalformedJson, NotFound, PreconditionFailed, BodyTooLarge, UnsupportedMediaType, InvalidRequest,
    Unavailable
);
refusals!(
    /// Refusals of `DELETE /api/webhooks/{webhookId}`.
    DeleteWebhookRefusals: NotFound, PreconditionFailed, Unavailable
);
refusals!(
    /// Refusals of `POST /api/webhooks/{webhookId}/test`.
    TestWebhookRefusals: NotFound, PreconditionFailed, Unavailable
);
refusals!(
    /// Refusals of `POST /api/webhooks/{webhookId}/secret`.
    RotateWebhookSecretRefusals: NotFound, PreconditionFailed, Unavailable
);
refusals!(
    /// Refusals of `GET /api/webhooks/{webhookId}/deliveries`.
    DeliveriesRefusals: MalformedQuery, NotFound, InvalidRequest
);
refusals!(
    /// Refusals of `POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/replay`.
    ReplayDeliveryRefusals: NotFound, WebhookDisabled, WebhookPending, Unavailable
);
refusals!(
    /// Refusals of `POST /api/webhooks/{webhookId}/replay`.
    ReplayDeliveriesRefusals: MalformedJson, NotFound, WebhookDisabled, WebhookPending, BodyTooLarge, UnsupportedMediaType,
    InvalidRequest
);
refusals!(
    /// Refusals of the public documents: none.
    public DocumentRefusals:
);
refusals!(
    /// Refusals of `GET /api/problems/{kind}`.
    public KindRefusals: NotFound
);
refusals!(
    /// Refusals of `GET /api/jobs/{jobId}/failures`.
    FailuresRefusals: MalformedQuery, NotFound, NotFinished, NoReport, InvalidRequest
);
refusals!(
    /// Refusals of `POST /api/schedules`.
    CreateScheduleRefusals: MalformedJson, TooManySchedules, BodyTooLarge, UnsupportedMediaType, InvalidRequest, Unavailable
);
refusals!(
    /// Refusals of `GET /api/schedules`: none.
    SchedulesRefusals:
);
refusals!(
    /// Refusals of `GET /api/schedules/{scheduleId}`.
    ScheduleRefusals: NotFound
);
refusals!(
    /// Refusals of `PUT /api/schedules/{scheduleId}`.
    PutScheduleRefusals: MalformedJson, NotFound, PreconditionFailed, BodyTooLarge, UnsupportedMediaType, InvalidRequest,
    Unavailable
);
refusals!(
    /// Refusals of `DELETE /api/schedules/{scheduleId}`.
    DeleteScheduleRefusals: NotFound, PreconditionFailed, Unavailable
);
refusals!(
    /// Refusals of `POST /api/schedules/{scheduleId}/trigger`.
    TriggerScheduleRefusals: NotFound, ScheduleNotRunnable, TooManyJobs, UploadQuotaExceeded, Busy, Unavailable
);
refusals!(
    /// Refusals of `GET /api/schedules/{scheduleId}/occurrences`.
    OccurrencesRefusals: MalformedQuery, NotFound, InvalidRequest
);
