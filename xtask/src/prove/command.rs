//! Options and steps of `prove`.

use super::{metrics, part, passed, release, report, versions};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use ::measurements::{CONDITIONS, LAYERS, LINKS};
use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::part::{Outcome, Part};
use bench::machine;
use local_cloud::functions;
use local_cloud::project::Project;
use local_cloud::{cargo, tools};

/// Path of the document in the checkout.
const DOCUMENT: &str = "infra/proof/results.md";

/// Options of `prove`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run only these parts and do not record the results [default: all]
    #[arg(value_enum, value_name = "PART")]
    parts: Vec<Part>,
    /// Continue an interrupted or failed run: parts that have passed at a commit from which nothing that they run has
    /// changed are not repeated
    #[arg(long, conflicts_with_all = ["parts", "without"])]
    resume: bool,
    /// Remove this condition or redundant layer from the model and the simulation, or this link from the game day:
    /// without a condition or a link the run must fail, without a redundant layer it must pass
    #[arg(long, value_name = "NAME", value_parser = names(&[&CONDITIONS, &LAYERS, &LINKS]))]
    without: Option<String>,
    /// Repeat the order of `versions` or `game-day` of an earlier run, which has printed its seed
    #[arg(long, value_name = "N", requires = "parts")]
    seed: Option<u64>,
}

/// Returns a parser for the names of conditions and layers, with their descriptions as help.
pub(crate) fn removable() -> impl TypedValueParser<Value = String> {
    names(&[&CONDITIONS, &LAYERS])
}

/// Returns a parser for the names of these lists.
fn names(lists: &[&'static [(&'static str, &'static str)]]) -> impl TypedValueParser<Value = String> + use<> {
    let names = lists.iter().copied().flatten();
    let names = names.map(|(name, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names.collect::<Vec<_>>()).map(|name| name)
}

/// Returns true if the game day can do without this, and not the model and the simulation.
fn is_link(name: &str) -> bool {
    LINKS.iter().any(|(link, _)| *link == name)
}

impl Options {
    /// Returns the parts to run. Only the model, the simulation and the game day support `--without`.
    fn parts(&self) -> Vec<Part> {
        match (&self.without, self.parts.is_empty()) {
            (_, false) => self.parts.clone(),
            (Some(name), true) if is_link(name) => vec![Part::GameDay],
            (Some(_), true) => vec![Part::Model, Part::Simulation],
            (None, true) => Part::ALL.to_vec(),
        }
    }

    /// Returns true if all parts run and nothing is removed. Only then the document is written.
    fn is_complete(&self) -> bool {
        self.parts.is_empty() && self.without.is_none()
    }
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    check_without(options)?;
    let folder = project.home_dir().join("proof");
    let commit = machine::checked_out(project);
    if options.resume && commit.contains(' ') {
        bail!("--resume requires a checkout without changes, because results belong to a commit; it is {commit}");
    }
    if !options.resume {
        clear(&folder)?;
    }
    let mut outcomes = passed::read(&folder, |part, at| is_unchanged(project, part, at, &commit))?;
    outcomes.extend(run_others(project, options, &commit, &outcomes)?);
    outcomes.sort_by_key(|outcome| Part::ALL.iter().position(|part| *part == outcome.part));
    let tables = metrics::read(&folder)?;
    let text = report::write(&machine::describe(project)?, &outcomes, &tables);
    println!("\n{text}");
    if options.is_complete() {
        record(project, &text)?;
    }
    check_outcomes(&outcomes, metrics::violations(&tables), options.without.as_deref())?;
    check_tables(&options.parts(), &tables, options.without.as_deref())
}

/// Fails if a named part would run as if nothing was removed.
fn check_without(options: &Options) -> Result<()> {
    let Some(name) = &options.without else { return Ok(()) };
    let is_link = is_link(name);
    match options.parts().into_iter().find(|part| (*part == Part::GameDay) != is_link) {
        Some(part) => bail!("the part {} has no {name}", part.name()),
        None => Ok(()),
    }
}

/// Builds and runs the parts that have not passed. Returns their outcomes.
fn run_others(project: &Project, options: &Options, commit: &str, kept: &[Outcome]) -> Result<Vec<Outcome>> {
    let folder = project.home_dir().join("proof");
    let mut parts = options.parts();
    parts.retain(|part| kept.iter().all(|outcome| outcome.part != *part));
    // First, because it replaces binaries in the target folder, which are built again below.
    let previous = if parts.contains(&Part::Versions) { Some(versions::build(project)?) } else { None };
    let needs_emulator = parts.iter().any(|part| part.needs_emulator());
    let venv = if needs_emulator { Some(set_up(project)?) } else { None };
    let release = if parts.contains(&Part::Release) { Some(release::build(project)?) } else { None };
    let run = part::Run {
        project,
        commit,
        folder: &folder,
        release: release.as_ref(),
        previous: previous.as_ref(),
        venv: venv.as_deref(),
        without: options.without.as_deref(),
        seed: options.seed,
    };
    let mut outcomes = Vec::new();
    for part in &parts {
        let outcome = run.part(*part)?;
        if options.is_complete() {
            passed::store(&folder, &outcome)?;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// Installs and builds what the parts on the emulator need: the tools, the functions, the probe that replaces some
/// functions, and the command line of operators. Returns the folder of the tools.
fn set_up(project: &Project) -> Result<std::path::PathBuf> {
    let tools = tools::ensure(project)?;
    functions::build_all(project)?;
    cargo::build_binaries(project, &["probe".to_owned(), "longshore-cli".to_owned()])?;
    Ok(tools.venv)
}

/// Returns true if nothing that a part runs has changed between two commits.
fn is_unchanged(project: &Project, part: Part, from: &str, to: &str) -> bool {
    let mut diff = Command::new("git");
    diff.args(["diff", "--quiet", from, to, "--", "."]).current_dir(&project.root);
    diff.args(part.unaffected_by().iter().map(|files| match files.strip_prefix(":(glob)") {
        Some(pattern) => format!(":(exclude,glob){pattern}"),
        None => format!(":(exclude){files}"),
    }));
    diff.status().is_ok_and(|status| status.success())
}

/// Deletes the measurements of an earlier run.
fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    Ok(())
}

fn record(project: &Project, text: &str) -> Result<()> {
    let path = project.root.join(DOCUMENT);
    fs::create_dir_all(path.parent().context("the path of the document has no folder")?)?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("Recorded in {}.", project.short(&path));
    Ok(())
}

/// Fails if a part wrote no measurements. With `--without`, the tests of the removed condition write none.
fn check_tables(parts: &[Part], tables: &BTreeMap<String, metrics::Table>, without: Option<&str>) -> Result<()> {
    let missing: Vec<&str> =
        parts.iter().flat_map(|part| part.tables()).copied().filter(|name| !tables.contains_key(*name)).collect();
    if missing.is_empty() || without.is_some() {
        println!("Proof complete: no violations.");
        return Ok(());
    }
    bail!("not proved: there are no measurements of {}", missing.join(", "))
}

/// Fails if a part failed or a table has violations.
fn check_outcomes(outcomes: &[Outcome], violations: u64, without: Option<&str>) -> Result<()> {
    let failed: Vec<&str> =
        outcomes.iter().filter(|outcome| !outcome.passed).map(|outcome| outcome.part.name()).collect();
    if failed.is_empty() && violations == 0 {
        return Ok(());
    }
    let without = without.map(|name| format!(" without {name}")).unwrap_or_default();
    bail!("not proved{without}: {violations} violations in the tables; failed parts: {}", failed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(parts: &[Part], without: &str) -> Options {
        Options { parts: parts.to_vec(), resume: false, without: Some(without.to_owned()), seed: None }
    }

    #[test]
    fn a_link_is_removed_from_the_game_day_and_a_condition_from_the_others() {
        assert_eq!(options(&[], "LostChunksAlarm").parts(), [Part::GameDay]);
        assert_eq!(options(&[], "sweeper").parts(), [Part::Model, Part::Simulation]);
        for (parts, without, is_possible) in [
            (&[][..], "queue_shared", true),
            (&[Part::GameDay], "queue_shared", true),
            (&[Part::Model], "queue_shared", false),
            (&[Part::GameDay], "sweeper", false),
            (&[Part::Simulation], "sweeper", true),
        ] {
            assert_eq!(check_without(&options(parts, without)).is_ok(), is_possible, "{parts:?} {without}");
        }
    }
}
