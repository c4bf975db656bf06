"""A typed client of Longshore's API: uploads, jobs with exact progress, results and failed rows."""

from .client import Client
from .documents import (
    Audit,
    CreatedWebhook,
    Dataset,
    Datasets,
    Deliveries,
    Delivery,
    Event,
    Events,
    Failure,
    Failures,
    FieldError,
    ImportOptions,
    InspectRequest,
    Inspection,
    Job,
    JobRequest,
    Jobs,
    JobSource,
    Occurrence,
    Occurrences,
    Output,
    OutputFile,
    Priority,
    Receipt,
    Record,
    Records,
    Results,
    Schedule,
    ScheduleRequest,
    Schedules,
    Stage,
    Status,
    Webhook,
    WebhookRequest,
    Webhooks,
    WebhookSecret,
)
from .errors import LongshoreError, NetworkError, OtherFileError, ProblemError, UploadError
from .http import Call, Response, Token
from .requests import Exported, Finished, RequestOptions
from .schedules import VersionedSchedule
from .uploading import ResumeState, UploadOptions, upload
from .watching import VersionedJob, has_ended
from .webhooks import VersionedWebhook

__all__ = [
    "Audit", "Call", "Client", "CreatedWebhook", "Dataset", "Datasets", "Deliveries", "Delivery", "Event", "Events", "Exported", "Failure", "Failures",
    "FieldError", "Finished", "ImportOptions", "InspectRequest", "Inspection", "Job", "JobRequest", "JobSource", "Jobs", "LongshoreError",
    "NetworkError", "Occurrence", "Occurrences", "OtherFileError", "Output", "OutputFile", "Priority", "ProblemError", "Receipt", "Record", "Records", "RequestOptions", "Response",
    "Results", "ResumeState", "Schedule", "ScheduleRequest", "Schedules", "Stage", "Status", "Token", "UploadError", "UploadOptions", "VersionedJob", "VersionedSchedule", "VersionedWebhook",
    "Webhook", "WebhookRequest", "WebhookSecret", "Webhooks", "has_ended", "upload",
]
