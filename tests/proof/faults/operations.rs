//! The AWS operations that the functions call, compared with the source code and with a role of the template.
//!
//! Only the library's stores, queues and files, and the packages for functions and for the root secret use the SDK.
//! Every method that they call on a client is a call that can fail.

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

/// The operations of registered job types only: calls of functions, and reads of the secret of endpoints.
pub(crate) const OF_HANDLERS: [Operation; 2] =
    [operation("lambda", "Invoke"), operation("secretsmanager", "GetSecretValue")];

/// The operations that `call-handler` calls: those that its role permits, without those of its queue's mapping.
pub(crate) const OF_CALL_HANDLER: [Operation; 12] = [
    operation("dynamodb", "BatchGetItem"),
    operation("dynamodb", "DeleteItem"),
    operation("dynamodb", "GetItem"),
    operation("dynamodb", "Query"),
    operation("dynamodb", "UpdateItem"),
    operation("s3", "GetObject"),
    operation("s3", "PutObject"),
    operation("sqs", "ChangeMessageVisibility"),
    operation("sqs", "SendMessage"),
    operation("sqs", "SendMessageBatch"),
    OF_HANDLERS[0],
    OF_HANDLERS[1],
];

/// The operations that `jobs-api` calls for registrations, and for links to images.
pub(crate) const OF_JOBS_API: [Operation; 7] = [
    operation("dynamodb", "GetItem"),
    operation("dynamodb", "Query"),
    operation("dynamodb", "TransactWriteItems"),
    operation("dynamodb", "UpdateItem"),
    operation("sqs", "SendMessage"),
    operation("s3", "HeadObject"),
    OF_HANDLERS[1],
];

/// The operation that `image-handler` calls.
pub(crate) const OF_IMAGE_HANDLER: Operation = operation("s3", "PutObject");

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    const SERVICES: [(&str, &str); 5] = [
        ("dynamodb", "shared/src/store"),
        ("sqs", "shared/src/queues"),
        ("s3", "shared/src/files"),
        ("lambda", "shared/invoke/src"),
        ("secretsmanager", "shared/targets/src"),
    ];

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

    /// The operations called in the source: `client.put_item()` is a call of `PutItem`. `config()` and `clone()` call
    /// nothing.
    fn calls(source: &str) -> BTreeSet<String> {
        let calls = source.split("client.").skip(1);
        let names = calls.filter_map(|call| call.split_once("()")).map(|(name, _)| name);
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        names.filter(is_name).filter(|name| !["config", "clone"].contains(name)).map(camel_case).collect()
    }

    fn camel_case(name: &str) -> String {
        name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
    }

    #[test]
    fn the_list_of_operations_equals_the_calls_in_the_source() {
        for (service, folder) in SERVICES {
            let called = calls(&source(folder));
            let listed = OPERATIONS.iter().chain(&OF_HANDLERS).filter(|operation| operation.service == service);
            assert_eq!(called, listed.map(|operation| operation.name.to_owned()).collect(), "{service}");
        }
    }

    /// A call outside the scanned folders would be missing from the list above.
    #[test]
    fn no_other_folder_calls_the_sdk() {
        let elsewhere = [
            "functions",
            "shared/domain/src",
            "shared/images/src",
            "shared/outbound/src",
            "shared/src/chunk",
            "shared/src/handler",
            "shared/src/http",
            "shared/src/job_types",
            "shared/src/remote",
        ];
        for folder in elsewhere {
            // The client of HTTPS only closes connections by a call without arguments.
            let called = calls(&source(folder));
            assert!(called.iter().all(|name| name == "CloseIdle"), "{folder}: {called:?}");
        }
        for (_, folder) in SERVICES {
            let clients = source(folder).matches("aws_sdk_").count();
            assert!(clients > 0, "{folder} does not use the SDK any more; find the folder that does");
        }
    }

    /// Actions of the role that are no calls of the function: those of its queue's mapping, one that only makes S3 answer
    /// 404, and keys of conditions.
    const NO_CALLS: [&str; 6] = [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "s3:ListBucket",
        "s3:prefix",
        "dynamodb:LeadingKeys",
    ];

    #[test]
    fn the_operations_of_call_handler_are_those_that_its_role_permits() {
        let template = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../template.yaml")).unwrap();
        let (_, role) = template.split_once("\n  CallHandlerRole:").unwrap();
        let (role, _) = role.split_once("\n  CallHandler:").unwrap();
        let words = role.split(|c: char| !c.is_ascii_alphanumeric() && c != ':');
        let is_action = |word: &&str| {
            let service = word.split_once(':').filter(|(_, name)| !name.is_empty()).map(|(service, _)| service);
            SERVICES.iter().any(|(known, _)| Some(*known) == service) && !NO_CALLS.contains(word)
        };
        let permitted: BTreeSet<_> = words.filter(is_action).map(str::to_owned).collect();
        let called = OF_CALL_HANDLER.iter().map(|operation| match operation.name {
            // One permission is for both calls.
            "SendMessageBatch" => "sqs:SendMessage".to_owned(),
            "Invoke" => "lambda:InvokeFunction".to_owned(),
            name => format!("{}:{name}", operation.service),
        });
        assert_eq!(called.collect::<BTreeSet<_>>(), permitted);
    }
}
