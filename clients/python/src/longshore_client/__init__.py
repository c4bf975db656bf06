"""A typed client of Longshore's API: uploads, jobs with exact progress, results and failed rows."""

from .client import Client
from .documents import (
    Audit,
    Dataset,
    Datasets,
    Event,
    Events,
    Failure,
    Failures,
    FieldError,
    ImportOptions,
    Job,
    JobRequest,
    Jobs,
    JobSource,
    Output,
    OutputFile,
    Priority,
    Receipt,
    Record,
    Records,
    Results,
    Stage,
    Status,
)
from .errors import LongshoreError, NetworkError, OtherFileError, ProblemError, UploadError
from .http import Call, Response, Token
from .requests import Exported, Finished, RequestOptions
from .uploading import ResumeState, UploadOptions, upload
from .watching import VersionedJob, has_ended

__all__ = [
    "Audit", "Call", "Client", "Dataset", "Datasets", "Event", "Events", "Exported", "Failure", "Failures",
    "FieldError", "Finished", "ImportOptions", "Job", "JobRequest", "JobSource", "Jobs", "LongshoreError",
    "NetworkError", "OtherFileError", "Output", "OutputFile", "Priority", "ProblemError", "Receipt", "Record", "Records", "RequestOptions", "Response",
    "Results", "ResumeState", "Stage", "Status", "Token", "UploadError", "UploadOptions", "VersionedJob", "has_ended",
    "upload",
]
