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

/// Writes archives to a folder, and the checksums of all its archives of this version: an earlier run can have written
/// that of the other architecture.
fn write_archives(output: &Path, built: &Files) -> Result<()> {
    let mut files = built.clone();
    for architecture in Architecture::ALL {
        let name = format!("{}.zip", archive_name(architecture));
        let path = output.join(&name);
        if !built.contains_key(&name) && path.exists() {
            files.insert(name, fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
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
    use super::*;

    #[test]
    fn the_checksums_have_the_archives_of_all_runs_with_this_version() -> Result<()> {
        let output = tempfile::tempdir()?;
        fs::write(output.path().join("longshore-0.0.1-arm64.zip"), "another version")?;
        let names = Architecture::ALL.map(|architecture| format!("{}.zip", archive_name(architecture)));
        for name in &names {
            write_archives(output.path(), &Files::from([(name.clone(), name.clone().into_bytes())]))?;
        }
        let all = names.iter().map(|name| (name.as_str(), name.as_bytes()));
        let expected = folder::checksums(all);
        assert_eq!(fs::read_to_string(output.path().join(CHECKSUMS))?, expected);
        write_archives(output.path(), &Files::from([(names[1].clone(), b"built again".to_vec())]))?;
        let checksums = fs::read_to_string(output.path().join(CHECKSUMS))?;
        assert_eq!(checksums.lines().next(), expected.lines().next());
        assert_ne!(checksums.lines().nth(1), expected.lines().nth(1));
        Ok(())
    }
}
