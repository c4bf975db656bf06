//! `.longshore/local.json`: what runs, where, and what was put onto it.
//!
//! It is written as soon as something has been started, so that an interrupted `up` leaves nothing that `down`
//! cannot find. Other tools may read it: `apiUrl` is what a client needs.

use crate::process::Background;
use crate::project::Project;
use crate::users::User;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The local stack as last left by `up`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct State {
    /// Root of the HTTP API as clients see it. Empty until the stack is up.
    pub(crate) api_url: String,
    /// Root of the page. The same: the API serves it.
    pub(crate) web_url: String,
    /// Endpoint of the AWS emulator.
    pub(crate) emulator_url: String,
    /// Outputs of the CloudFormation stack.
    pub(crate) outputs: BTreeMap<String, String>,
    /// Template id of each function to its name on the emulator.
    pub(crate) functions: BTreeMap<String, String>,
    /// The emulator's process; none when it was running before (`--endpoint`).
    pub(crate) emulator: Option<Background>,
    /// The front door's process.
    pub(crate) local_proxy: Option<Background>,
    /// Who can sign in, with passwords and tokens: only the owner may read this file. None unless the stack has a pool.
    pub(crate) users: Vec<User>,
    /// What is on the stack, to tell what has changed.
    pub(crate) deployed: Deployed,
}

/// Fingerprints of what the stack runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Deployed {
    /// Of template.yaml and samconfig.toml together.
    pub(crate) template: String,
    /// Of each function's binary, by folder name.
    pub(crate) code: BTreeMap<String, String>,
}

fn path(project: &Project) -> Result<PathBuf> {
    Ok(project.state_dir()?.join("local.json"))
}

/// The state as last written; empty if there is none, or if an older version wrote it differently.
pub(crate) fn read(project: &Project) -> Result<State> {
    let path = path(project)?;
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged: delete it and start again", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Replaces the state in one step: a reader sees the old one or the new one.
pub(crate) fn write(project: &Project, state: &State) -> Result<()> {
    let path = path(project)?;
    let draft = path.with_extension("json.new");
    private(&draft)?.write_all(&serde_json::to_vec_pretty(state)?)?;
    fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
}

/// A new file that only its owner can read. A left-over may be readable by others, and would stay so.
fn private(path: &Path) -> Result<File> {
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| format!("cannot write {}", path.display()))
}

/// Forgets the state.
pub(crate) fn remove(project: &Project) -> Result<()> {
    match fs::remove_file(path(project)?) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

impl State {
    /// Whether `up` came to its end and all that it started still runs.
    pub(crate) fn is_up(&self) -> bool {
        let emulator_runs = self.emulator.as_ref().is_none_or(Background::is_alive);
        let proxy_ready = self.local_proxy.as_ref().is_some_and(Background::is_alive);
        !self.api_url.is_empty() && emulator_runs && proxy_ready
    }

    /// The token of the first user; none on a stack without users, whose API is open or wants another's tokens.
    pub(crate) fn token(&self) -> Option<&str> {
        self.users.first().map(|user| user.token.as_str())
    }

    /// An output of the stack by name.
    pub(crate) fn output(&self, name: &str) -> Result<&str> {
        match self.outputs.get(name) {
            Some(value) => Ok(value),
            None => bail!("template.yaml has no output {name}"),
        }
    }

    /// The emulator's name for the function in folder `function`; `jobs-api` is `JobsApi` in the template.
    pub(crate) fn physical_name(&self, function: &str) -> Result<&str> {
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
