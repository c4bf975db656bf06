//! The AWS operations that the functions call, compared with the source code, and the kinds of faults of a call, as
//! rules of the proxy.
//!
//! Only the library's stores, queues and files use the SDK. Every method that they call on a client is a call that can
//! fail.

use serde_json::{Value, json};

/// A service and one of its operations.
#[derive(Copy, Clone, Eq, Ord, PartialEq, PartialOrd, Debug)]
pub(crate) struct Operation {
    pub(crate) service: &'static str,
    pub(crate) name: &'static str,
}

const fn operation(service: &'static str, name: &'static str) -> Operation {
    Operation { service, name }
}

/// All operations. Those of large reports and large uploads are last.
pub(crate) const OPERATIONS: [Operation; 28] = [
    operation("dynamodb", "BatchExecuteStatement"),
    operation("dynamodb", "BatchGetItem"),
    operation("dynamodb", "BatchWriteItem"),
    operation("dynamodb", "DeleteItem"),
    operation("dynamodb", "GetItem"),
    operation("dynamodb", "PutItem"),
    operation("dynamodb", "Query"),
    operation("dynamodb", "TransactWriteItems"),
    operation("dynamodb", "UpdateItem"),
    operation("sqs", "ChangeMessageVisibility"),
    operation("sqs", "ChangeMessageVisibilityBatch"),
    operation("sqs", "DeleteMessage"),
    operation("sqs", "GetQueueAttributes"),
    operation("sqs", "ReceiveMessage"),
    operation("sqs", "SendMessage"),
    operation("sqs", "SendMessageBatch"),
    operation("s3", "DeleteObject"),
    operation("s3", "DeleteObjects"),
    operation("s3", "GetObject"),
    operation("s3", "HeadObject"),
    operation("s3", "ListObjectsV2"),
    operation("s3", "PutObject"),
    operation("s3", "CreateMultipartUpload"),
    operation("s3", "UploadPart"),
    operation("s3", "UploadPartCopy"),
    operation("s3", "ListParts"),
    operation("s3", "CompleteMultipartUpload"),
    operation("s3", "AbortMultipartUpload"),
];

impl Operation {
    /// Returns true if only dead letters use the operation.
    pub(crate) fn is_of_dead_letters(self) -> bool {
        matches!(self.name, "ChangeMessageVisibilityBatch" | "DeleteMessage")
    }

    /// Returns true if only failed deliveries use the operation.
    pub(crate) fn is_of_failed_deliveries(self) -> bool {
        self.name == "ChangeMessageVisibility"
    }

    /// Returns true if only a report or an upload of many parts uses the operation.
    pub(crate) fn is_of_parts(self) -> bool {
        self.name.contains("Multipart") || matches!(self.name, "ListParts" | "UploadPart")
    }

    /// Returns true if only large results use the operation.
    pub(crate) fn is_of_results(self) -> bool {
        self.name == "UploadPartCopy"
    }
}

/// A kind of fault.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Kind {
    /// The call is executed, and its reply is lost.
    Lost,
    /// The call is refused because of throttling.
    Throttled,
    /// The call is refused with the service's own status 500.
    Failed,
    /// The connection of the call is reset.
    Reset,
    /// The response arrives after the worker's timeout.
    Late,
}

/// All kinds.
pub(crate) const KINDS: [Kind; 5] = [Kind::Lost, Kind::Throttled, Kind::Failed, Kind::Reset, Kind::Late];

/// Delay of a late response: more than the worker's timeout of fifteen seconds on the stacks of these tests.
const LATE_MS: u64 = 16_000;

/// Maximum number of faults in a wave. Every third call has a fault; the SDK makes up to six attempts.
const TIMES: u64 = 12;

/// Maximum number of faults in a wave for parts of a report. A part takes some seconds on a slow machine.
const PART_TIMES: u64 = 3;

impl Kind {
    /// Name of the kind in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lost => "executed, reply lost",
            Self::Throttled => "throttled",
            Self::Failed => "500",
            Self::Reset => "reset",
            Self::Late => "timeout",
        }
    }

    /// The rule that injects the fault into calls of this operation.
    pub(crate) fn rule(self, on: Operation) -> Value {
        let (effect, value) = match self {
            Self::Lost => ("response", json!({ "abort_bytes": 0 })),
            Self::Throttled => ("error", throttling(on.service)),
            Self::Failed => ("error", json!({ "code": internal(on.service), "status": 500 })),
            Self::Reset => ("reset", json!(true)),
            Self::Late => ("timeout_ms", json!(LATE_MS)),
        };
        let times = match self {
            Self::Late => 1,
            _ if on.is_of_parts() || on.is_of_results() => PART_TIMES,
            _ => TIMES,
        };
        let mut rule = json!({ "service": on.service, "operation": on.name, "times": times });
        rule[effect] = value;
        if self != Self::Late {
            rule["sequence"] = json!({ "fail": 1, "pass": 2 });
        }
        rule
    }
}

fn throttling(service: &str) -> Value {
    match service {
        "dynamodb" => json!({ "code": "ProvisionedThroughputExceededException", "status": 400 }),
        "sqs" => json!({ "code": "RequestThrottled", "status": 403 }),
        _ => json!({ "code": "SlowDown", "status": 503 }),
    }
}

fn internal(service: &str) -> &'static str {
    if service == "dynamodb" { "InternalServerError" } else { "InternalError" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    const SERVICES: [(&str, &str); 3] = [("dynamodb", "store"), ("sqs", "queues"), ("s3", "files")];

    /// The text of all source files under a folder of the project, without white space.
    fn source(folder: &str) -> String {
        fn read(folder: &Path, text: &mut String) {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    read(&entry, text);
                } else if entry.extension().is_some_and(|extension| extension == "rs") {
                    text.extend(fs::read_to_string(&entry).unwrap().split_whitespace());
                }
            }
        }
        let mut text = String::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), &mut text);
        text
    }

    /// The operations called in the source: `client.put_item()` is a call of `PutItem`. `config()` only returns the
    /// configuration of a client.
    fn calls(source: &str) -> BTreeSet<String> {
        let calls = source.split("client.").skip(1);
        let names = calls.filter_map(|call| call.split_once("()")).map(|(name, _)| name);
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        names.filter(is_name).filter(|name| *name != "config").map(camel_case).collect()
    }

    fn camel_case(name: &str) -> String {
        name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
    }

    #[test]
    fn the_list_of_operations_equals_the_calls_in_the_source() {
        for (service, folder) in SERVICES {
            let called = calls(&source(&format!("shared/src/{folder}")));
            let listed = OPERATIONS.iter().filter(|operation| operation.service == service);
            assert_eq!(called, listed.map(|operation| operation.name.to_owned()).collect(), "{service}");
        }
    }

    /// A call outside the scanned folders would be missing from the list above.
    #[test]
    fn no_other_folder_calls_the_sdk() {
        let elsewhere =
            ["functions", "shared/src/chunk", "shared/src/handler", "shared/src/http", "shared/src/job_types"];
        for folder in elsewhere {
            assert_eq!(calls(&source(folder)), BTreeSet::new(), "{folder}");
        }
        for (_, folder) in SERVICES {
            let text = source(&format!("shared/src/{folder}"));
            let clients = text.matches("aws_sdk_").count();
            assert!(clients > 0, "{folder} does not use the SDK any more; find the folder that does");
        }
    }
}
