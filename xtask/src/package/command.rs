//! Options and steps of `package`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use local_cloud::functions;
use local_cloud::project::Project;
use longshore_cli::progress;

use super::folder::{self, CHECKSUMS, Files};
use super::{Architecture, Linker, build, dependencies};

/// Options of `package`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Architecture of the functions
    #[arg(long, value_enum, value_name = "NAME", default_value = "both")]
    architecture: Selection,
    /// Folder of the packages [default: target/package in the checkout]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The selected architectures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Selection {
    /// Graviton, which costs a fifth less
    Arm64,
    /// Intel and AMD
    #[value(name = "x86_64")]
    X86,
    /// A package for each
    Both,
}

impl Selection {
    fn architectures(self) -> Vec<Architecture> {
        match self {
            Self::Arm64 => vec![Architecture::Arm64],
            Self::X86 => vec![Architecture::X86],
            Self::Both => Architecture::ALL.to_vec(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let output = options.output.clone().unwrap_or_else(|| project.root.join("target/package"));
    fs::create_dir_all(&output).with_context(|| format!("cannot create {}", output.display()))?;
    let names = functions::names(project)?;
    let mut built = Files::new();
    for architecture in options.architecture.architectures() {
        let folder = project.home_dir().join("package").join(architecture.name());
        let binaries = build(project, &names, architecture, Linker::Zig, &folder)?;
        let files = write_folder(project, &binaries, architecture, &output.join(architecture.name()))?;
        let name = archive_name(architecture);
        built.insert(format!("{name}.zip"), folder::archived(&name, &files)?);
    }
    write_archives(&output, &built)?;
    show(&output, &built);
    Ok(())
}

/// Returns the name of an archive, and of the folder in it.
fn archive_name(architecture: Architecture) -> String {
    format!("longshore-{}-{}", env!("CARGO_PKG_VERSION"), architecture.name())
}

/// Writes archives to a folder, and the checksums of all its archives of this version and commit: an earlier run can have
/// written that of the other architecture.
fn write_archives(output: &Path, built: &Files) -> Result<()> {
    let mut files = built.clone();
    for architecture in Architecture::ALL {
        let folder = archive_name(architecture);
        let (name, path) = (format!("{folder}.zip"), output.join(format!("{folder}.zip")));
        if built.contains_key(&name) || !path.exists() {
            continue;
        }
        let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if is_of_the_same_commit(folder::commit_of(&folder, &content), built) {
            files.insert(name, content);
        } else {
            progress::note(&format!("  {CHECKSUMS} leaves out {name}, which is not of the same commit: build it, too"));
        }
    }
    let checksums = folder::checksums(files.iter().map(|(name, content)| (name.as_str(), content.as_slice())));
    let written = built.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
    for (name, content) in written.chain([(CHECKSUMS, checksums.as_bytes())]) {
        let path = output.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns true if another archive has the commit of those that were built. A modified checkout has none.
fn is_of_the_same_commit(other: Option<String>, built: &Files) -> bool {
    let commit = |(name, content): (&String, &Vec<u8>)| folder::commit_of(name.trim_end_matches(".zip"), content);
    other.is_some() && built.iter().map(commit).all(|commit| commit == other)
}

/// Writes the package of these binaries to a folder. Returns its files.
pub(crate) fn write_folder(
    project: &Project,
    binaries: &BTreeMap<String, Vec<u8>>,
    architecture: Architecture,
    folder: &Path,
) -> Result<Files> {
    let step = progress::step(&format!("Writing the package for {}", architecture.name()));
    let functions: Vec<_> = binaries.keys().cloned().collect();
    let dependencies = dependencies::list(project, &functions, architecture)?;
    let files = folder::files(&project.root, binaries, dependencies, architecture)?;
    folder::write(folder, &files)?;
    step.done_with(&folder.display().to_string());
    Ok(files)
}

fn show(output: &Path, archives: &Files) {
    println!();
    for (name, content) in archives {
        println!("  {:>5} MiB  {}", content.len().div_ceil(1 << 20), output.join(name).display());
    }
    println!("             {}", output.join(CHECKSUMS).display());
    println!();
    println!("To deploy one of them without Rust, see docs/guides/deploying.md.");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Writes an archive of a commit, and the checksums. Returns these.
    fn write(output: &Path, architecture: Architecture, commit: Option<&str>) -> Result<String> {
        let name = archive_name(architecture);
        let properties: Vec<_> =
            commit.iter().map(|commit| json!({ "name": "longshore:commit", "value": commit })).collect();
        let list = json!({ "metadata": { "properties": properties }, "architecture": architecture.name() });
        let files = Files::from([("dependencies.cdx.json".to_owned(), list.to_string().into_bytes())]);
        write_archives(output, &Files::from([(format!("{name}.zip"), folder::archived(&name, &files)?)]))?;
        Ok(fs::read_to_string(output.join(CHECKSUMS))?)
    }

    #[test]
    fn the_checksums_have_the_archives_of_all_runs_with_this_version_and_commit() -> Result<()> {
        let output = tempfile::tempdir()?;
        let (output, [first, second]) = (output.path(), Architecture::ALL);
        fs::write(output.join("longshore-0.0.1-arm64.zip"), "another version")?;
        let one = write(output, first, Some("abc"))?;
        let both = write(output, second, Some("abc"))?;
        assert!(both.starts_with(&one) && both.lines().count() == 2, "{both}");
        assert_eq!(write(output, first, Some("abc"))?, both, "it was built again");
        Ok(())
    }

    #[test]
    fn the_checksums_leave_out_an_archive_of_another_commit_or_of_none() -> Result<()> {
        let [first, second] = Architecture::ALL;
        for commits in [[Some("abc"), Some("def")], [None, Some("def")], [Some("abc"), None], [None, None]] {
            let output = tempfile::tempdir()?;
            write(output.path(), first, commits[0])?;
            let checksums = write(output.path(), second, commits[1])?;
            assert!(checksums.contains(second.name()) && !checksums.contains(first.name()), "{commits:?}: {checksums}");
        }
        let output = tempfile::tempdir()?;
        fs::write(output.path().join(format!("{}.zip", archive_name(first))), "no archive")?;
        assert_eq!(write(output.path(), second, Some("def"))?.lines().count(), 1);
        Ok(())
    }
}
