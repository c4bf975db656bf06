//! `.longshore/local.json`: the running processes, their addresses, and what was deployed.
//!
//! The file is written as soon as something has been started, so that `down` finds everything that an interrupted
//! `up` leaves. Other tools may read it: clients need `apiUrl`.

use crate::process::Background;
use crate::project::Project;
use crate::user::User;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The local stack as `up` last left it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// Root URL of the HTTP API. Empty until the stack is up.
    pub api_url: String,
    /// Root URL of the page; the same, because the API serves it.
    pub web_url: String,
    /// Endpoint of the AWS emulator.
    pub emulator_url: String,
    /// Outputs of the CloudFormation stack.
    pub outputs: BTreeMap<String, String>,
    /// Name of each function on the emulator, by template id.
    pub functions: BTreeMap<String, String>,
    /// Process of the emulator; `None` if it was already running (`--endpoint`).
    pub emulator: Option<Background>,
    /// Process of the local proxy.
    pub local_proxy: Option<Background>,
    /// Users with passwords and tokens: only the owner may read this file. Empty unless the stack has a user pool.
    pub users: Vec<User>,
    /// Fingerprints of the deployed code, for detecting changes.
    pub deployed: Deployed,
}

/// Fingerprints of what the stack runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Deployed {
    /// Fingerprint of template.yaml and samconfig.toml together.
    pub template: String,
    /// Fingerprint of each function's binary, by folder name.
    pub code: BTreeMap<String, String>,
}

fn path(project: &Project) -> Result<PathBuf> {
    Ok(project.state_dir()?.join("local.json"))
}

/// Reads the state; empty if there is none, or if an older version wrote it in another format.
pub fn read(project: &Project) -> Result<State> {
    let path = path(project)?;
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged: delete it and start again", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Replaces the state atomically: a reader sees the old or the new one.
pub fn write(project: &Project, state: &State) -> Result<()> {
    let path = path(project)?;
    let draft = path.with_extension("json.new");
    private(&draft)?.write_all(&serde_json::to_vec_pretty(state)?)?;
    fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
}

/// Creates a file that only its owner can read. An existing file is removed first, because it might be readable by
/// others.
fn private(path: &Path) -> Result<File> {
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| format!("cannot write {}", path.display()))
}

/// Removes the state.
pub fn remove(project: &Project) -> Result<()> {
    match fs::remove_file(path(project)?) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

impl State {
    /// Returns true if `up` has completed and everything that it started is still running.
    pub fn is_up(&self) -> bool {
        let emulator_runs = self.emulator.as_ref().is_none_or(Background::is_alive);
        let proxy_ready = self.local_proxy.as_ref().is_some_and(Background::is_alive);
        !self.api_url.is_empty() && emulator_runs && proxy_ready
    }

    /// The token of the first user; `None` for a stack without users, whose API is open or uses another issuer's
    /// tokens.
    pub fn token(&self) -> Option<&str> {
        self.users.first().map(|user| user.token.as_str())
    }

    /// Returns an output of the stack by name.
    pub fn output(&self, name: &str) -> Result<&str> {
        match self.outputs.get(name) {
            Some(value) => Ok(value),
            None => bail!("template.yaml has no output {name}"),
        }
    }

    /// The emulator's name of the function in folder `function`; `jobs-api` is `JobsApi` in the template.
    pub fn physical_name(&self, function: &str) -> Result<&str> {
        let id = pascal_case(function);
        match self.functions.get(&id) {
            Some(name) => Ok(name),
            None => bail!("the stack has no function {function} (template id {id})"),
        }
    }
}

fn pascal_case(kebab: &str) -> String {
    let mut words = String::new();
    for word in kebab.split('-') {
        let mut dead_letters = word.chars();
        words.extend(dead_letters.next().map(|first| first.to_ascii_uppercase()));
        words.push_str(dead_letters.as_str());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::pascal_case;

    #[test]
    fn template_ids_are_the_folder_names_in_pascal_case() {
        assert_eq!(pascal_case("jobs-api"), "JobsApi");
        assert_eq!(pascal_case("sweep"), "Sweep");
    }
}
