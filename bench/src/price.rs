//! The cost of a job at list prices, which are those of the product: `shared/domain/src/cost/prices.json`.
//!
//! Counted are all calls of the functions, their GB-seconds, the receives and deletes of the event source mappings, and
//! the client's requests. Not counted are storage, logs, traffic, and the cost of an idle stack (empty receives of the
//! queues, the sweeper). DynamoDB charges by item size. The benchmark counts one unit for each item of a call, which is
//! exact for items up to 1 KB (writes) and 4 KB (reads): groups, manifests and rows of 100 bytes are smaller. Calls do
//! not tell of writes of indexes, so these are added by job. A presigned URL counts as the call that it permits, by the
//! function that signs it.
//!
//! The published prices are those of arm64, the default of the stack, whatever machine measures. The ratio of stated and
//! counted cost has the architecture of the measured functions on both sides.

use crate::run::Run;
use crate::usage::Calls;
use longshore::metering::units_for_call;
use longshore_domain::cost::{Architecture, Prices, UnitPrices};
use std::collections::BTreeMap;

/// Functions whose cost a job's own `cost` includes.
const STEPS: [&str; 5] = ["create-job", "prepare", "process-item", "call-handler", "complete-job"];

/// Writes of indexes for a job, by the function whose call causes them. The creation puts the job on the indexes
/// `tenant`, `day` and `unfinished`. Start and end change the status, which the first two project, and after the end the
/// job leaves the last one.
const INDEX_WRITES: [(&str, u64); 3] = [("jobs-api", 3), ("create-job", 2), ("complete-job", 3)];

/// Bytes of one billed SQS request.
const SQS_UNIT_BYTES: u64 = 64 * 1024;
/// The messages of a file up to this size contain its rows (32 chunks of 48 KiB).
const INLINE_FILE_BYTES: u64 = 32 * 48 * 1024;

/// Name of the functions' time among the services.
pub(crate) const GB_SECONDS: &str = "Lambda GB-seconds";

/// Dollars by service.
pub(crate) type Price = BTreeMap<&'static str, f64>;

/// Returns the dollars of one unit.
pub(crate) fn dollars(price: fn(&UnitPrices) -> f64) -> f64 {
    price(&Prices::current().per_million) / 1e6
}

/// Architecture of the published prices.
const PUBLISHED: Architecture = Architecture::Arm64;

/// Returns the published dollars of a GB-second.
pub(crate) fn gb_second() -> f64 {
    gb_second_on(PUBLISHED)
}

/// Returns the dollars of a GB-second on this architecture.
fn gb_second_on(architecture: Architecture) -> f64 {
    Prices::current().per_million.gb_second.for_architecture(architecture) / 1e6
}

/// Computes the price of a run.
pub(crate) fn run_price(run: &Run, memory_mb: &BTreeMap<String, u32>) -> Price {
    let mut price = functions_price(run, memory_mb, PUBLISHED, |_| true);
    price.insert("API Gateway", run.api_calls() as f64 * dollars(|prices| prices.api_call));
    price
}

/// Returns what the job itself says that it has cost, in proportion to the calls that were counted; `None` if it does
/// not. The functions are built for the machine of the benchmark, so that is the architecture of both.
pub(crate) fn stated_ratio(run: &Run, memory_mb: &BTreeMap<String, u32>) -> Option<f64> {
    let architecture = Architecture::of_this_binary();
    let counted = total(&functions_price(run, memory_mb, architecture, |function| STEPS.contains(&function)));
    Some(run.stated_cost? / counted)
}

/// Computes the price of these functions on this architecture, and of the queues.
fn functions_price(
    run: &Run,
    memory_mb: &BTreeMap<String, u32>,
    architecture: Architecture,
    is_counted: impl Fn(&str) -> bool,
) -> Price {
    let mut price = Price::new();
    let mut add = |service, dollars: f64| *price.entry(service).or_default() += dollars;
    for (function, usage) in run.functions.iter().filter(|(function, _)| is_counted(function)) {
        let gb = f64::from(memory_mb.get(function).copied().unwrap_or_default()) / 1024.0;
        add(GB_SECONDS, gb * usage.duration_ms / 1000.0 * gb_second_on(architecture));
        add("Lambda requests", usage.invocations as f64 * dollars(|prices| prices.request));
        for (call, count) in &usage.calls {
            let (service, dollars) = call_price(call);
            add(service, *count as f64 * dollars);
        }
    }
    let index_writes: u64 = INDEX_WRITES.iter().filter(|(function, _)| is_counted(function)).map(|(_, n)| n).sum();
    add("DynamoDB", index_writes as f64 * dollars(|prices| prices.write_unit));
    // Each message is received once and deleted once. The body is charged when it is sent and when it is received.
    let messages = run.chunks() + run.invocations("create-job") + run.invocations("complete-job");
    let inline_units = if run.size_bytes <= INLINE_FILE_BYTES { run.size_bytes / SQS_UNIT_BYTES } else { 0 };
    let request = dollars(|prices| prices.queue_request);
    add("SQS mappings", 2.0 * messages as f64 * request);
    add("SQS", 2.0 * inline_units as f64 * request);
    add("DynamoDB", run.written as f64 * dollars(|prices| prices.write_unit));
    price
}

/// Returns the service of a function's call, and its price.
pub(crate) fn call_price(call: &str) -> (&'static str, f64) {
    let service = ["DynamoDB", "SQS", "S3"].into_iter().find(|service| call.starts_with(service));
    match (service, units_for_call(call)) {
        (Some(service), Some(units)) => (service, Prices::current().cost(&units).total().dollars()),
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
    use std::collections::BTreeMap;

    use longshore_domain::cost::{Prices, Units};

    use super::{GB_SECONDS, call_price, dollars, run_price, stated_ratio};
    use crate::run::Run;
    use crate::usage::{ByFunction, Usage};

    /// A run without rows that states this cost.
    fn run(stated_cost: f64, functions: ByFunction) -> Run {
        Run {
            rows: 1,
            written: 0,
            size_bytes: 0,
            seconds: 1.0,
            first_progress_s: 1.0,
            polls: 0,
            stated_cost: Some(stated_cost),
            functions,
        }
    }

    /// Messages with a message group have a surcharge in a standard queue (fair queues: $0.10 per million in addition
    /// to $0.40), but not in a FIFO queue. Source: <https://aws.amazon.com/sqs/pricing/>.
    #[test]
    fn calls_to_the_chunk_queues_have_the_surcharge_for_fair_queues() {
        let per_million = |call| (call_price(call).1 * 1e8).round();
        assert_eq!(per_million("SQS.SendMessageBatch"), 50.0);
        assert_eq!(per_million("SQS.SendMessage"), 50.0, "FIFO, without the surcharge");
    }

    #[test]
    fn writes_of_indexes_are_counted_and_compared_with_the_jobs_own_cost() {
        let write = dollars(|prices| prices.write_unit);
        let run = run(5.0 * write, BTreeMap::new());
        assert!((run_price(&run, &BTreeMap::new())["DynamoDB"] - 8.0 * write).abs() < 1e-12);
        // The creation is no step of the job.
        assert!((stated_ratio(&run, &BTreeMap::new()).unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_ratio_has_one_architecture_on_both_sides_and_the_published_price_is_that_of_arm64() {
        // A thousand seconds of half a GB.
        let compute = Prices::current().cost(&Units { gb_ms: 500_000, ..Units::NONE }).total().dollars();
        let usage = Usage { duration_ms: 1e6, ..Usage::default() };
        let functions = BTreeMap::from([("process-item".to_owned(), usage)]);
        let memory_mb = BTreeMap::from([("process-item".to_owned(), 512)]);
        let run = run(5.0 * dollars(|prices| prices.write_unit) + compute, functions);
        assert!((stated_ratio(&run, &memory_mb).unwrap() - 1.0).abs() < 1e-6);
        let on_arm64 = 500.0 * dollars(|prices| prices.gb_second.arm64);
        assert!((run_price(&run, &memory_mb)[GB_SECONDS] - on_arm64).abs() < 1e-9);
    }
}
