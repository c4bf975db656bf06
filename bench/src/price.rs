//! The cost of a job at list prices: us-east-1, on demand, from AWS's public price pages in November 2026.
//!
//! Counted are all calls of the functions, their GB-seconds, the receives and deletes of the event source mappings, and
//! the client's requests. Not counted are storage, logs, traffic, and the cost of an idle stack (empty receives of the
//! queues, the sweeper). DynamoDB charges by item size. The benchmark counts one unit for each item of a call, which is
//! exact for items up to 1 KB (writes) and 4 KB (reads): groups, manifests and rows of 100 bytes are smaller. A
//! presigned URL counts as the call that it permits, by the function that signs it.

use crate::run::Run;
use crate::usage::Calls;
use std::collections::BTreeMap;

/// Dollars per GB-second on arm64 (aws.amazon.com/lambda/pricing).
pub(crate) const GB_SECOND: f64 = 0.000_013_333_4;
/// Dollars per Lambda request.
pub(crate) const INVOCATION: f64 = 0.20e-6;
/// Dollars per write request unit (aws.amazon.com/dynamodb/pricing/on-demand).
pub(crate) const WRITE_UNIT: f64 = 0.625e-6;
/// Dollars per read request unit, which is one strongly consistent read.
pub(crate) const READ_UNIT: f64 = 0.125e-6;
/// Dollars per request of 64 KB to a standard queue, for messages with a group (aws.amazon.com/sqs/pricing): the
/// request plus the surcharge for fair queues. It is applied to all sends, receives and deletes, which is an upper
/// bound.
pub(crate) const FAIR_REQUEST: f64 = 0.40e-6 + 0.10e-6;
/// Dollars per request of 64 KB to a FIFO queue.
const FIFO_REQUEST: f64 = 0.50e-6;
/// Dollars per PUT, POST or LIST (aws.amazon.com/s3/pricing).
const S3_WRITE: f64 = 5.0e-6;
/// Dollars per GET or HEAD.
const S3_READ: f64 = 0.40e-6;
/// Dollars per call of an HTTP API (aws.amazon.com/api-gateway/pricing).
const API_CALL: f64 = 1.0e-6;

/// Bytes of one billed SQS request.
const SQS_UNIT_BYTES: u64 = 64 * 1024;
/// The messages of a file up to this size contain its rows (32 chunks of 48 KiB).
const INLINE_FILE_BYTES: u64 = 32 * 48 * 1024;

/// Name of the functions' time among the services.
pub(crate) const GB_SECONDS: &str = "Lambda GB-seconds";

/// Dollars by service.
pub(crate) type Price = BTreeMap<&'static str, f64>;

/// Computes the price of a run.
pub(crate) fn run_price(run: &Run, memory_mb: &BTreeMap<String, u32>) -> Price {
    let mut price = Price::new();
    let mut add = |service, dollars: f64| *price.entry(service).or_default() += dollars;
    for (function, usage) in &run.functions {
        let gb = f64::from(memory_mb.get(function).copied().unwrap_or_default()) / 1024.0;
        add(GB_SECONDS, gb * usage.duration_ms / 1000.0 * GB_SECOND);
        add("Lambda requests", usage.invocations as f64 * INVOCATION);
        for (call, count) in &usage.calls {
            let (service, dollars) = call_price(call);
            add(service, *count as f64 * dollars);
        }
    }
    // Each message is received once and deleted once. The body is charged when it is sent and when it is received.
    let control_messages = run.invocations("create-job") + run.invocations("complete-job");
    let inline_units = if run.size_bytes <= INLINE_FILE_BYTES { run.size_bytes / SQS_UNIT_BYTES } else { 0 };
    add("SQS mappings", 2.0 * (run.chunks() as f64 * FAIR_REQUEST + control_messages as f64 * FIFO_REQUEST));
    add("SQS", 2.0 * inline_units as f64 * FAIR_REQUEST);
    add("DynamoDB", run.written as f64 * WRITE_UNIT);
    add("API Gateway", run.api_calls() as f64 * API_CALL);
    price
}

/// Returns the service of a function's call, and its price.
pub(crate) fn call_price(call: &str) -> (&'static str, f64) {
    match call {
        "DynamoDB.GetItem" | "DynamoDB.Query" => ("DynamoDB", READ_UNIT),
        // A group and its job.
        "DynamoDB.BatchGetItem" => ("DynamoDB", 2.0 * READ_UNIT),
        "DynamoDB.UpdateItem" | "DynamoDB.PutItem" | "DynamoDB.DeleteItem" => ("DynamoDB", WRITE_UNIT),
        // Three items - group, manifest, job; or job, definition, key - at twice the price of a plain write.
        "DynamoDB.TransactWriteItems" => ("DynamoDB", 6.0 * WRITE_UNIT),
        // Charged by row; see above.
        "DynamoDB.BatchExecuteStatement" => ("DynamoDB", 0.0),
        "SQS.SendMessageBatch" => ("SQS", FAIR_REQUEST),
        "SQS.SendMessage" => ("SQS", FIFO_REQUEST),
        "S3.GetObject" | "S3.HeadObject" => ("S3", S3_READ),
        _ if call.starts_with("S3.") => ("S3", S3_WRITE),
        _ => ("other", 0.0),
    }
}

/// Lists the calls without a price. There should be none.
pub(crate) fn unpriced(calls: &Calls) -> Vec<&str> {
    calls.keys().map(String::as_str).filter(|call| call_price(call).0 == "other").collect()
}

/// Returns the total in dollars.
pub(crate) fn total(price: &Price) -> f64 {
    price.values().sum()
}

#[cfg(test)]
mod tests {
    use super::call_price;

    /// Messages with a message group have a surcharge in a standard queue (fair queues: $0.10 per million in addition
    /// to $0.40), but not in a FIFO queue. Source: <https://aws.amazon.com/sqs/pricing/>.
    #[test]
    fn calls_to_the_chunk_queues_have_the_surcharge_for_fair_queues() {
        let per_million = |call| (call_price(call).1 * 1e8).round();
        assert_eq!(per_million("SQS.SendMessageBatch"), 50.0);
        assert_eq!(per_million("SQS.SendMessage"), 50.0, "FIFO, without the surcharge");
    }
}
