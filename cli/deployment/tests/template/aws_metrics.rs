//! Metrics of AWS that alarms, dashboards and code use: namespaces, names, units and dimensions, with their sources.
//!
//! The emulator has none of them, so a wrong name would only be noticed on AWS: as an alarm that is never raised, as an
//! empty graph, or as a check of `longshore doctor` that finds nothing. CloudWatch finds a metric by exactly its
//! dimensions, so a subset of them is another metric.

/// A service that publishes metrics.
pub(super) struct Service {
    /// Namespace of the metrics.
    pub(super) namespace: &'static str,
    /// Pages of AWS that list the metrics and their dimensions.
    pub(super) sources: &'static [&'static str],
    /// Name, unit, and the sets of dimensions that are used.
    pub(super) metrics: &'static [(&'static str, &'static str, &'static [&'static [&'static str]])],
}

const SQS_PAGE: &str =
    "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html";
const LOGS_PAGE: &str =
    "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch-Logs-Monitoring-CloudWatch-Metrics.html";

const FUNCTION: &[&[&str]] = &[&["FunctionName"]];
const ACCOUNT: &[&[&str]] = &[&[]];
const QUEUE: &[&[&str]] = &[&["QueueName"]];
const API: &[&[&str]] = &[&["ApiId"]];
const TABLE: &[&[&str]] = &[&["TableName"]];
const TABLE_AND_INDEX: &[&[&str]] = &[&["TableName"], &["TableName", "GlobalSecondaryIndexName"]];
const BUCKET: &[&[&str]] = &[&["BucketName", "StorageType"]];
const LOG_GROUP: &[&[&str]] = &[&["LogGroupName"]];

pub(super) const SERVICES: &[Service] = &[
    Service {
        namespace: "AWS/Lambda",
        sources: &[
            "https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html",
            "https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html",
        ],
        metrics: &[
            ("Invocations", "Count", FUNCTION),
            ("Errors", "Count", FUNCTION),
            ("Throttles", "Count", FUNCTION),
            ("Duration", "Milliseconds", FUNCTION),
            ("ConcurrentExecutions", "Count", ACCOUNT),
        ],
    },
    Service {
        namespace: "AWS/SQS",
        sources: &[SQS_PAGE],
        metrics: &[
            ("ApproximateAgeOfOldestMessage", "Seconds", QUEUE),
            ("ApproximateNumberOfMessagesVisible", "Count", QUEUE),
            ("ApproximateNumberOfMessagesNotVisible", "Count", QUEUE),
            ("NumberOfMessagesSent", "Count", QUEUE),
            ("NumberOfEmptyReceives", "Count", QUEUE),
        ],
    },
    // The metrics of HTTP APIs. Those of REST APIs have other names (5XXError) and dimensions (ApiName).
    Service {
        namespace: "AWS/ApiGateway",
        sources: &["https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html"],
        metrics: &[("Count", "Count", API), ("5xx", "Count", API), ("Latency", "Milliseconds", API)],
    },
    Service {
        namespace: "AWS/DynamoDB",
        sources: &["https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html"],
        metrics: &[
            ("ConsumedReadCapacityUnits", "Count", TABLE),
            ("ConsumedWriteCapacityUnits", "Count", TABLE_AND_INDEX),
            ("ReadThrottleEvents", "Count", TABLE_AND_INDEX),
            ("WriteThrottleEvents", "Count", TABLE_AND_INDEX),
        ],
    },
    // Daily metrics of storage. Those of requests exist only after they are enabled for a bucket, and are charged.
    Service {
        namespace: "AWS/S3",
        sources: &["https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html"],
        metrics: &[("BucketSizeBytes", "Bytes", BUCKET), ("NumberOfObjects", "Count", BUCKET)],
    },
    Service { namespace: "AWS/Logs", sources: &[LOGS_PAGE], metrics: &[("IncomingBytes", "Bytes", LOG_GROUP)] },
];
