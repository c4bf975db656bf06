//! The machine, time and commit of measurements.

use anyhow::Result;
use local_cloud::project::{Build, Project};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the properties of the machine, by name.
pub fn describe(project: &Project) -> Result<Vec<(&'static str, String)>> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let memory_kib: u64 = field("/proc/meminfo", "MemTotal").and_then(|value| digits(&value)).unwrap_or(0);
    Ok(vec![
        ("Date", output_of("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
        ("Commit", checked_out(project)),
        ("CPU", format!("{model}, {cores} cores")),
        ("Memory", format!("{:.0} GiB", memory_kib as f64 / f64::from(1 << 20))),
        ("Kernel", output_of("uname", &["-srm"])),
        ("Compiler", output_of("rustc", &["--version"])),
        ("Emulator", emulator(project)?),
        ("Profile", profile(project).to_owned()),
    ])
}

/// Returns the checked-out commit, which says if the checkout is modified.
pub fn checked_out(project: &Project) -> String {
    commit(&project.root, None)
}

/// Returns the time and the checked-out commit. Changes of the file `record`, which gets the stamp, do not mark the
/// commit as modified.
pub fn stamp(project: &Project, record: &str) -> (String, String) {
    (output_of("date", &["-u", "+%Y-%m-%d %H:%M UTC"]), commit(&project.root, Some(record)))
}

/// Returns the load average of the last minute, or `None` if there is no /proc.
pub fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn profile(project: &Project) -> &'static str {
    match project.build {
        Build::Dev => "dev (opt-level 1)",
        Build::Release => "release (opt-level 3, fat LTO, one codegen unit)",
    }
}

fn commit(root: &Path, record: Option<&str>) -> String {
    let root = root.to_string_lossy();
    let id = output_of("git", &["-C", &root, "rev-parse", "--short", "HEAD"]);
    let record = record.map(|record| format!(":(exclude){record}"));
    let mut status = vec!["-C", &root, "status", "--porcelain", "--untracked-files=no", "--", "."];
    status.extend(record.as_deref());
    let changes = output_of("git", &status);
    if changes.is_empty() { id } else { format!("{id} with uncommitted changes") }
}

fn emulator(project: &Project) -> Result<String> {
    let locked = fs::read_to_string(project.infra("requirements.txt"))?;
    let version = locked.lines().find_map(|line| line.strip_prefix("ministack=="));
    let version = version.map(|version| version.split([' ', '\\']).next().unwrap_or(version));
    Ok(format!("MiniStack {}", version.unwrap_or("(unknown version)")))
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn digits(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(root: &Path, arguments: &[&str]) -> Result<()> {
        let config = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").arg("-C").arg(root).args(config).args(arguments).status()?;
        anyhow::ensure!(status.success(), "git {arguments:?}: {status}");
        Ok(())
    }

    #[test]
    fn a_change_of_the_record_does_not_mark_the_commit_as_modified() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let root = folder.path();
        git(root, &["init", "--quiet"])?;
        for name in ["code", "record"] {
            fs::write(root.join(name), "")?;
        }
        git(root, &["add", "."])?;
        git(root, &["commit", "--quiet", "-m", "first"])?;
        fs::write(root.join("record"), "a row")?;
        let suffix = "with uncommitted changes";
        assert!(!commit(root, Some("record")).ends_with(suffix));
        assert!(commit(root, None).ends_with(suffix));
        fs::write(root.join("code"), "changed")?;
        assert!(commit(root, Some("record")).ends_with(suffix));
        Ok(())
    }
}
