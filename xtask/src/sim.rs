//! `sim`: deterministic simulation of the real code over in-memory services, one run per seed.
//!
//! The runs are tests of `tests/simulation`; this command selects the seeds. If a seed has a violation, the command
//! fails and prints the command that reproduces the violation.

use anyhow::{Context, Result, bail};
use local_cloud::cargo;
use local_cloud::project::Project;

use crate::soak::Soak;

/// Default number of seeds.
const SEEDS: u64 = 10_000;
/// Default number of seeds of a soak.
const SOAK_SEEDS: u64 = 1_000_000;

/// Runs the deterministic simulation: the real functions over in-memory services with a simulated clock. Messages are
/// duplicated, late or lost, calls fail, and functions die. One seed is one run, and always has the same result.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run only this seed and print every event, one per line
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "from", "soak"])]
    seed: Option<u64>,
    /// Number of seeds to run in parallel; the run stops at the first violation [default: 10000, or 1000000 with
    /// --soak]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// First seed; from 1000000000000 on, all jobs have a remote handler that lies
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Run all seeds, even after a violation; print the progress and the command to continue, and record the progress
    /// in infra/proof/soaks.md (not with --without)
    #[arg(long)]
    soak: bool,
    /// Remove a condition or a redundant layer
    #[arg(long, value_name = "NAME", value_parser = crate::prove::removable())]
    without: Option<String>,
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let seeds = options.seeds.unwrap_or(if options.soak { SOAK_SEEDS } else { SEEDS });
    check_range(options.from, seeds)?;
    let mut tests = cargo::command(project);
    tests.args(["test", "--quiet", "--package", "longshore-tests", "--test", "simulation", "--"]);
    tests.args([
        "--exact",
        "seeds::with_any_faults_every_response_adds_up_every_job_ends_and_every_row_is_reported_once",
    ]);
    tests.arg("--nocapture").env("RUST_BACKTRACE", "0");
    match options.seed {
        Some(seed) => tests.env("LONGSHORE_SEED", seed.to_string()),
        None => {
            tests.env("LONGSHORE_SEEDS", seeds.to_string()).env("LONGSHORE_SEED_FROM", options.from.to_string());
            tests.env(if options.soak { "LONGSHORE_SOAK" } else { "LONGSHORE_PROGRESS" }, "1")
        }
    };
    if let Some(name) = &options.without {
        tests.env("LONGSHORE_WITHOUT", name);
    }
    if options.soak {
        return Soak { project, from: options.from, seeds, without: options.without.as_deref() }.run(tests);
    }
    if !tests.status()?.success() {
        bail!("violation found: the seed and the command that reproduces it are above");
    }
    Ok(())
}

/// Checks that all seeds, and the seed after the last one, are 64-bit numbers.
fn check_range(from: u64, seeds: u64) -> Result<()> {
    let end = from.checked_add(seeds);
    end.with_context(|| {
        format!("{seeds} seeds starting at {from} are too many: the largest seed is {}", u64::MAX - 1)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_above_the_maximum_are_refused() {
        assert!(check_range(u64::MAX - 10, 10).is_ok());
        assert!(check_range(u64::MAX - 1, 10).is_err());
        assert!(check_range(1, u64::MAX).is_err());
    }
}
