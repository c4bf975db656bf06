//! Access to the processes that an emulator has started for functions, so that a test can kill one.

use std::fs;

use anyhow::{Result, ensure};

use super::process::Process;

impl Process {
    /// Living child processes.
    pub fn children(&self) -> Vec<u32> {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(|id| parent(*id) == Some(self.id())).collect()
    }

    /// Living child processes that have this line, `NAME=value`, in their environment.
    pub fn children_with(&self, variable: &str) -> Vec<u32> {
        self.children().into_iter().filter(|id| has(*id, variable)).collect()
    }

    /// Peak memory of the process in MiB.
    pub fn peak_memory_mib(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        peak.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib >> 10)
    }
}

/// Kills a process as the kernel does when memory runs out: none of its code runs afterwards.
///
/// # Errors
/// If there is no such process.
pub fn kill(id: u32) -> Result<()> {
    let status = std::process::Command::new("sh").args(["-c", "kill -9 \"$0\"", &id.to_string()]).status()?;
    ensure!(status.success(), "process {id} cannot be killed");
    Ok(())
}

/// The parent's process id: the second field after the name, which may itself contain spaces and brackets. A zombie
/// has no parent here.
fn parent(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" { None } else { fields.next()?.parse().ok() }
}

fn has(id: u32, variable: &str) -> bool {
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    environment.split(|b| *b == 0).any(|line| line == variable.as_bytes())
}
