//! The options of `load`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::arrivals::{Arrivals, Pace};
use super::content::{IMPORT, Workload};
use super::mix::{self, JobSpec, Mix, MixSpec};
use super::rate::{self, Rate};
use super::tenant::TenantOptions;
use crate::output::exit::{CommandError, Exit};
use crate::values::pair;

/// Number of jobs without `--jobs` and `--duration`.
const JOBS: u64 = 10;

/// Number of rows of a job without `--rows`.
const ROWS: u64 = 1_000;

/// The help. Placeholders are here, because clap replaces `{n}` by a line end in all other texts.
const HELP: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

{all-args}

Placeholders of --item: {job} is the number of the job, {n} that of the item in it.{after-help}";

/// Options of `load`.
#[derive(clap::Args)]
#[command(help_template = HELP, after_help = "Examples:
  longshore load --jobs 20 --concurrency 4 --rows 1000
  longshore load --rate 2/s --duration 5m --mix 'rows=1000:80,rows=100000:20' --profile a --profile b

Exit codes: 0 every job is completed with exact counts, 1 a job was refused, failed or has wrong counts, or test data \
could not be removed, 2 wrong usage, 4 sign-in needed, 130 interrupted (129 by SIGHUP, 143 by SIGTERM).")]
pub struct Options {
    /// Type of the jobs. `import` writes generated rows; other types get items from a template
    #[arg(long = "type", value_name = "TYPE", default_value = IMPORT)]
    job_type: String,
    /// Rows of each job [default: 1000]
    #[arg(long, value_name = "N", value_parser = mix::parse_rows)]
    rows: Option<u64>,
    /// Kinds of jobs with their shares, such as 'rows=1000:80,type=mail+rows=50:20'; a kind without type or rows uses
    /// --type and --rows
    #[arg(long, value_name = "KIND:SHARE,...", value_parser = mix::parse)]
    mix: Option<MixSpec>,
    /// Open loop: begin jobs at this rate, such as 5/s or 300/m, however long they take
    #[arg(long, value_name = "RATE", value_parser = rate::parse, conflicts_with = "concurrency")]
    rate: Option<Rate>,
    /// Closed loop: number of concurrent jobs; the next one starts when one has ended
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    concurrency: u16,
    /// Number of jobs [default: 10, or as many as begin in --duration]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    jobs: Option<u64>,
    /// Time in which jobs begin, such as 60, 5m or 1h
    #[arg(long, value_name = "TIME", value_parser = rate::parse_duration)]
    duration: Option<Duration>,
    /// Open loop: maximum number of concurrent jobs. A job that finds no free worker starts late; the delay is part of
    /// its latency
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    workers: u16,
    /// Make every Nth row of an import invalid; 0 for none
    #[arg(long, value_name = "N", default_value_t = 20)]
    invalid_every: u64,
    /// Mode of the imports: `validate` writes nothing
    #[arg(long, value_name = "MODE", default_value = "upsert", value_parser = ["upsert", "validate"])]
    mode: String,
    /// Template of the items of a type, such as 'mail={"to":"user-{job}@example.com"}', with the placeholders below;
    /// repeatable
    #[arg(long = "item", value_name = "TYPE=JSON", value_parser = pair)]
    items: Vec<(String, String)>,
    /// Options of the jobs of a type, as a JSON object or @FILE; repeatable
    #[arg(long = "options", value_name = "TYPE=JSON", value_parser = pair)]
    job_options: Vec<(String, String)>,
    /// Priority of the jobs
    #[arg(long, value_name = "PRIORITY", value_parser = ["high", "normal", "low"])]
    priority: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Write the distributions of the latencies to FILE, with -accepted, -first-progress and -end before its extension
    #[arg(long, value_name = "FILE")]
    pub(super) hgrm: Option<PathBuf>,
    /// Skip the confirmation, which a deployment that is not on this machine needs
    #[arg(long)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) tenants: TenantOptions,
}

impl Options {
    /// Returns the times at which jobs begin.
    pub(super) fn arrivals(&self) -> Arrivals {
        let pace = self.rate.map_or(Pace::Closed, Pace::Open);
        let jobs = self.jobs.or_else(|| self.duration.is_none().then_some(JOBS));
        Arrivals { pace, jobs, duration: self.duration }
    }

    /// Returns the number of workers.
    pub(super) fn workers(&self) -> usize {
        let workers = if self.rate.is_some() { self.workers } else { self.concurrency };
        let jobs = self.arrivals().expected().and_then(|jobs| usize::try_from(jobs).ok());
        jobs.unwrap_or(usize::MAX).min(workers.into()).max(1)
    }

    /// Returns the mix.
    pub(super) fn mix(&self) -> Mix {
        let spec = JobSpec { job_type: self.job_type.clone(), rows: self.rows.unwrap_or(ROWS) };
        match &self.mix {
            Some(written) => Mix::new(written, &spec),
            None => Mix::of_one(spec),
        }
    }

    /// Returns the settings of the jobs. `run` is the unique name of the run.
    ///
    /// # Errors
    /// If a template or an option is not JSON, or no job would begin.
    pub(super) fn workload(&self, run: &str) -> Result<Workload> {
        if self.arrivals().expected() == Some(0) {
            return Err(CommandError::new(Exit::Usage, "--duration: no job begins in this time").into());
        }
        let workload = Workload {
            invalid_every: self.invalid_every,
            items: self.items.iter().cloned().collect(),
            options: self.job_options.iter().cloned().collect(),
            mode: self.mode.clone(),
            dataset: run.to_owned(),
            run: run.to_owned(),
            priority: self.priority.clone(),
        };
        workload.check()?;
        Ok(workload)
    }

    /// Returns true if imports write records.
    pub(super) fn writes_records(&self, mix: &Mix) -> bool {
        self.mode != "validate" && mix.specs().any(|spec| spec.job_type == IMPORT)
    }
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches, error::ErrorKind};

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        let command = <Options as clap::Args>::augment_args(clap::Command::new("load"));
        Options::from_arg_matches(&command.try_get_matches_from([&["load"], arguments].concat())?)
    }

    #[test]
    fn without_options_ten_jobs_follow_each_other() {
        let options = parse(&[]).unwrap();
        assert_eq!((options.arrivals().expected(), options.workers()), (Some(10), 1));
        assert_eq!(options.mix().spec(0), &JobSpec { job_type: IMPORT.to_owned(), rows: 1_000 });
        assert!(options.writes_records(&options.mix()));
        assert!(options.workload("load-1").is_ok());
    }

    /// clap replaces `{n}` in the help of an option.
    #[test]
    fn the_help_has_the_placeholders() {
        let mut command = <Options as clap::Args>::augment_args(clap::Command::new("load"));
        for help in [command.render_help(), command.render_long_help()] {
            let help = help.to_string();
            assert!(help.contains("{job} is the number of the job, {n} that of the item in it."), "{help}");
            assert!(help.contains("--item <TYPE=JSON>") && help.contains("Exit codes: 0 every job"), "{help}");
            assert!(help.contains(r#"'mail={"to":"user-{job}@example.com"}'"#), "{help}");
        }
    }

    #[test]
    fn a_rate_makes_an_open_loop_with_enough_workers() {
        let options = parse(&["--rate", "5/s", "--duration", "10"]).unwrap();
        assert_eq!((options.arrivals().expected(), options.workers()), (Some(50), 50));
        let options = parse(&["--rate", "5/s", "--duration", "10m", "--workers", "30"]).unwrap();
        assert_eq!((options.arrivals().expected(), options.workers()), (Some(3_000), 30));
        let options = parse(&["--concurrency", "8", "--duration", "10"]).unwrap();
        assert_eq!((options.arrivals().expected(), options.workers()), (None, 8));
        let options = parse(&["--rate", "5/s", "--duration", "0"]).unwrap();
        assert!(options.workload("load-1").is_err());
    }

    #[test]
    fn wrong_values_are_refused() {
        let kind = |arguments: &[&str]| parse(arguments).map(drop).map_err(|error| error.kind());
        assert_eq!(kind(&["--rate", "5/s", "--concurrency", "2"]), Err(ErrorKind::ArgumentConflict));
        assert_eq!(kind(&["--profile", "a", "--token", "t"]), Err(ErrorKind::ArgumentConflict));
        for arguments in
            [["--rate", "5"], ["--mix", "rows=1"], ["--rows", "0"], ["--concurrency", "0"], ["--jobs", "0"]]
        {
            assert_eq!(kind(&arguments), Err(ErrorKind::ValueValidation), "{arguments:?}");
        }
    }

    #[test]
    fn an_error_names_the_option_and_its_limit() {
        for (option, value, limit) in [
            ("--rate", "1e-20/s", "at least 1 per day"),
            ("--rate", "1001/s", "at most 1000 per second"),
            ("--duration", "169h", "at most 168 hours"),
        ] {
            let error = parse(&[option, value]).map(drop).unwrap_err().to_string();
            assert!(error.contains(option) && error.contains(limit), "{error}");
        }
    }

    #[test]
    fn a_validation_writes_no_records() {
        let writes = |arguments: &[&str]| {
            let options = parse(arguments).unwrap();
            options.writes_records(&options.mix())
        };
        assert!(!writes(&["--mode", "validate"]));
        assert!(!writes(&["--type", "mail"]));
        assert!(writes(&["--type", "mail", "--mix", "rows=5:1,type=import:1"]));
    }
}
