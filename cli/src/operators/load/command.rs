//! The steps of `load`: announcement, run, report, removal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Result, bail};
use indicatif::HumanCount;
use url::Url;

use super::arrivals::{Arrivals, Pace};
use super::cleanup::Cleanup;
use super::files::{Files, preparation};
use super::mix::Mix;
use super::options::Options;
use super::report::Report;
use super::run::Run;
use super::tenant::Tenant;
use crate::api::is_loopback;
use crate::operators::cleanup_process::unique_name;
use crate::output::confirm::confirm;
use crate::output::exit::Exit;
use crate::output::interrupt;

/// Requests of a job besides its polls: upload, its PUT, creation, removal.
const REQUESTS: u64 = 4;

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the load. Returns the exit code.
///
/// # Errors
/// If the user does not confirm it, or test data cannot be removed.
pub fn run(options: &Options) -> Result<Exit> {
    let name = unique_name("load");
    let (workload, tenants) = (options.workload(&name)?, options.tenants.tenants()?);
    let (mix, arrivals) = (options.mix(), options.arrivals());
    let dataset = options.writes_records(&mix).then_some(name.as_str());
    announce(&tenants, &arrivals, &mix, dataset);
    if !options.yes && !tenants.iter().all(is_local) {
        confirm()?;
    }
    let folder = tempfile::Builder::new().prefix("longshore-load-").tempdir()?;
    let cleanup = Mutex::new(Cleanup::start(&tenants, &name, dataset)?);
    interrupt::stop_on_first(&STOP);
    let start = start(arrivals.pace, &mix);
    let run = Run {
        arrivals,
        mix: &mix,
        workload: &workload,
        files: Files::new(&workload, folder.path(), &STOP),
        tenants: &tenants,
        stop: &STOP,
        start,
        cleanup: &cleanup,
    };
    let tally = run.execute(options.workers())?;
    drop(run);
    let report =
        Report { run: &name, tally: &tally, took: start.elapsed(), is_interrupted: STOP.load(Ordering::Relaxed) };
    // Before the removal, so that the result is seen even if that fails.
    if options.json {
        report.print_json()?
    } else {
        report.print()
    }
    let written = options.hgrm.as_deref().map_or(Ok(()), |path| report.write_files(path));
    if !cleanup.into_inner().unwrap_or_else(PoisonError::into_inner).run()? {
        bail!("not all test data could be removed: see above");
    }
    written?;
    Ok(report.exit())
}

/// Returns the start of a run. An open loop starts when the files of its first jobs can be written.
fn start(pace: Pace, mix: &Mix) -> Instant {
    let rows = mix.specs().map(|spec| spec.rows).max().unwrap_or_default();
    match pace {
        Pace::Open(_) => Instant::now() + preparation(rows),
        Pace::Closed => Instant::now(),
    }
}

fn is_local(tenant: &Tenant) -> bool {
    Url::parse(&tenant.api.absolute("/")).is_ok_and(|url| is_loopback(&url))
}

/// Prints what the run creates, and what it sends.
fn announce(tenants: &[Tenant], arrivals: &Arrivals, mix: &Mix, dataset: Option<&str>) {
    for line in announcement(arrivals, mix, tenants.len() as u64, dataset) {
        eprintln!("{line}");
    }
    for tenant in tenants {
        eprintln!("  on {}", tenant.api.absolute("/"));
    }
}

fn announcement(arrivals: &Arrivals, mix: &Mix, tenants: u64, dataset: Option<&str>) -> Vec<String> {
    let pace = match arrivals.pace {
        Pace::Open(_) => "at a rate",
        Pace::Closed => "each when an earlier one has ended",
    };
    let mut lines = vec!["The run creates, and removes at the end:".to_owned()];
    match arrivals.expected() {
        Some(jobs) => {
            // Each tenant has the whole mix, from its begin on.
            let of_tenant = |tenant: u64| jobs / tenants + u64::from(tenant < jobs % tenants);
            for (position, (spec, _)) in mix.counts(1).into_iter().enumerate() {
                let count: u64 = (0..tenants).map(|tenant| mix.counts(of_tenant(tenant))[position].1).sum();
                let (count, rows) = (HumanCount(count), HumanCount(spec.rows));
                lines.push(format!("  {count} jobs of the type {} with {rows} rows each, {pace}", spec.job_type));
            }
            let requests = HumanCount(jobs.saturating_mul(REQUESTS));
            lines.push(format!(
                "It sends about {requests} requests, and polls each running job once or twice a second."
            ));
        }
        None => {
            let seconds = arrivals.duration.unwrap_or_default().as_secs();
            lines.push(format!("  as many jobs as begin in {seconds} s, {pace}"));
            lines.push(format!(
                "It sends {REQUESTS} requests for each job, and polls each running job once or twice a second."
            ));
        }
    }
    lines.extend(dataset.map(|name| format!("The records are in the dataset {name}. Its name stays in the list.")));
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::mix::{JobSpec, parse};
    use super::super::rate;
    use super::*;

    #[test]
    fn the_announcement_has_every_job_and_the_number_of_requests() {
        let pace = Pace::Open(rate::parse("5/s").unwrap());
        let arrivals = Arrivals { pace, jobs: Some(20), duration: None };
        let default = JobSpec { job_type: "import".to_owned(), rows: 1 };
        let mix = Mix::new(&parse("rows=1000:4,rows=100000:1").unwrap(), &default);
        let text = announcement(&arrivals, &mix, 2, Some("load-1")).join("\n");
        for part in [
            "16 jobs of the type import with 1,000 rows each, at a rate",
            "4 jobs of the type import with 100,000 rows each",
            "about 80 requests",
            "the dataset load-1",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let arrivals = Arrivals { pace: Pace::Closed, jobs: None, duration: Some(Duration::from_secs(60)) };
        let text = announcement(&arrivals, &mix, 1, None).join("\n");
        assert!(text.contains("as many jobs as begin in 60 s"), "{text}");
        assert!(text.contains("4 requests for each job, and polls each"), "{text}");
    }
}
