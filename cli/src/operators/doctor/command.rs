//! Options of `doctor`, and the stack that is examined.

use anyhow::Result;

use super::checks::diagnose;
use super::observe::observe;
use super::report::Report;
use crate::aws::target::TargetOptions;
use crate::output::exit::Exit;
use crate::output::progress;

/// Options of `doctor`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing is wrong, or there are only warnings, 1 an error was found or the stack \
cannot be read, 2 wrong usage. A query that fails, for example because it is not permitted, is skipped: the last lines \
list what was NOT CHECKED, and with --strict the exit code is 1.

Permissions, all of them to read: cloudformation DescribeStacks and ListStackResources; cloudwatch DescribeAlarms and
GetMetricData; dynamodb DescribeTable, DescribeTimeToLive, DescribeContinuousBackups, GetItem and Query; events
DescribeRule; lambda GetAccountSettings, GetFunctionConcurrency, GetFunctionConfiguration and
ListEventSourceMappings; s3 GetBucketCORS; sqs GetQueueAttributes. docs/guides/operating.md has a policy."
)]
pub struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// Exit with 1 also if something could not be checked
    #[arg(long)]
    strict: bool,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// Examines the stack. Returns the exit code.
///
/// # Errors
/// If there is no such stack, or it cannot be read.
pub fn run(options: &Options) -> Result<Exit> {
    let step = progress::step(&format!("Reading the stack {}", options.target.stack));
    let target = options.target.look_up()?;
    let facts = observe(&target);
    step.done();
    let report = Report { findings: diagnose(&facts), facts };
    if options.json {
        report.print_json()?
    } else {
        report.print()
    }
    Ok(report.exit(options.strict))
}
