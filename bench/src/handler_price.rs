//! The price of a million items of a handler that does nothing, computed at list prices, beside the two services of AWS
//! that call a function for each item or batch.
//!
//! Included are the handler's own invocations, each of a millisecond with 128 MB. Excluded are storage, logs, traffic,
//! and what any job costs once: about $0.0001 for the calls of the API, the split and the report.
//!
//! - S3 Batch Operations: a price for each job and for each object (<https://aws.amazon.com/s3/pricing/>). It invokes the
//!   function once per object (<https://docs.aws.amazon.com/lambda/latest/dg/services-s3-batch.html>).
//! - Distributed Map: one state transition for each child workflow that it starts
//!   (<https://docs.aws.amazon.com/step-functions/latest/dg/concepts-transitions.html>), and the child workflow itself: a
//!   transition for its one step, or a request and its time (<https://aws.amazon.com/step-functions/pricing/>).

use crate::markdown;
use crate::price::{call_price, dollars, gb_second};

/// Number of items of the table.
const ITEMS: f64 = 1e6;

/// Dollars per state transition of a standard workflow.
const TRANSITION: f64 = 25.0e-6;
/// Dollars per request of an express workflow.
const EXPRESS_REQUEST: f64 = 1.0e-6;
/// Dollars per GB-second of an express workflow.
const EXPRESS_GB_SECOND: f64 = 16.67e-6;
/// GB-seconds of the shortest express workflow: 64 MB for 100 ms.
const EXPRESS_MIN_GB_S: f64 = 0.0625 * 0.1;
/// Dollars per job of S3 Batch Operations.
const BATCH_JOB: f64 = 0.25;
/// Dollars per object of S3 Batch Operations.
const BATCH_OBJECT: f64 = 1.0e-6;

/// GB-seconds of a handler's invocation: 128 MB for a millisecond.
const HANDLER_GB_S: f64 = 0.125 * 0.001;

/// AWS calls of call-handler for a chunk: group and job; the state of the type, twice; permits and parked chunks; a permit
/// taken and released, and the commit; the rows. The invocations of the handler are priced separately.
const CHUNK_CALLS: [(&str, f64); 5] = [
    ("DynamoDB.BatchGetItem", 1.0),
    ("DynamoDB.GetItem", 2.0),
    ("DynamoDB.Query", 2.0),
    ("DynamoDB.UpdateItem", 3.0),
    ("S3.GetObject", 1.0),
];
/// Calls for a group of chunks: by the splitter, and by the worker that ends the group.
const GROUP_CALLS: [(&str, f64); 2] = [("DynamoDB.TransactWriteItems", 1.0), ("DynamoDB.UpdateItem", 1.0)];
/// Number of chunks in a group.
const GROUP_CHUNKS: f64 = 16.0;
/// Number of messages in one call.
const SENT_TOGETHER: f64 = 10.0;
/// Memory of call-handler in GB, as deployed.
const CALL_HANDLER_GB: f64 = 0.5;
/// Assumed seconds of a call of AWS, and of an invocation of the handler, both with the network.
const AWS_CALL_S: f64 = 0.005;
const HANDLER_CALL_S: f64 = 0.010;

/// A job of a Lambda handler, as it ran.
#[derive(Copy, Clone, Debug)]
pub struct HandlerJob {
    /// Number of items.
    pub items: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// Calls of the handler.
    pub calls: u64,
}

/// Returns the table of prices.
#[must_use]
pub fn table(job: HandlerJob) -> String {
    let scale = ITEMS / job.items as f64;
    let (chunks, calls) = (job.chunks as f64 * scale, job.calls as f64 * scale);
    let express = TRANSITION + EXPRESS_REQUEST + EXPRESS_MIN_GB_S * EXPRESS_GB_SECOND;
    let services = [
        ("Longshore, registered Lambda function", calls, orchestration(chunks, calls)),
        ("Distributed Map, express child workflows", calls, calls * express),
        ("Distributed Map, standard child workflows", calls, calls * 2.0 * TRANSITION),
        ("S3 Batch Operations", ITEMS, BATCH_JOB + ITEMS * BATCH_OBJECT),
        ("Distributed Map, express, an item each", ITEMS, ITEMS * express),
        ("Distributed Map, standard, an item each", ITEMS, ITEMS * 2.0 * TRANSITION),
    ];
    let row = |(name, calls, service): (&str, f64, f64)| {
        let handler = calls * (dollars(|prices| prices.request) + HANDLER_GB_S * gb_second());
        let items = ITEMS / calls;
        let prices = [service, handler, service + handler].map(|price| format!("{price:.4}"));
        [name.to_owned(), format!("{items:.0}")].into_iter().chain(prices).collect()
    };
    let mut text = String::new();
    let title = "Price of a million items of a Lambda function that does nothing, computed, $";
    let headings = ["service", "items a call", "service", "function", "total"];
    markdown::table(&mut text, title, &headings, services.into_iter().map(row).collect());
    text
}

/// Returns the dollars of call-handler, its queue, and the ledger.
fn orchestration(chunks: f64, calls: f64) -> f64 {
    let (groups, of_aws) = (chunks / GROUP_CHUNKS, CHUNK_CALLS.iter().map(|(_, count)| count).sum::<f64>());
    let of_calls = |list: &[(&str, f64)]| list.iter().map(|(call, n)| n * call_price(call).1).sum::<f64>();
    let seconds = chunks * of_aws * AWS_CALL_S + calls * HANDLER_CALL_S;
    // A message is received and deleted by the mapping.
    let messages = chunks * (2.0 + 1.0 / SENT_TOGETHER) * dollars(|prices| prices.queue_request);
    let invocations = chunks * dollars(|prices| prices.request);
    let compute = seconds * CALL_HANDLER_GB * gb_second() + invocations;
    chunks * of_calls(&CHUNK_CALLS) + groups * of_calls(&GROUP_CALLS) + messages + compute
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_CALLS, GROUP_CALLS, orchestration};
    use crate::price::{call_price, dollars};

    #[test]
    fn every_call_of_a_chunk_has_a_price() {
        for (call, _) in CHUNK_CALLS.iter().chain(&GROUP_CALLS) {
            assert!(call_price(call).1 > 0.0, "{call}");
        }
    }

    #[test]
    fn a_chunk_costs_at_least_its_three_writes() {
        assert!(orchestration(1.0, 4.0) > 3.0 * dollars(|prices| prices.write_unit));
    }
}
