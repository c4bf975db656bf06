//! `.longshore/local.json`: the running processes, their URLs, the users, and the deployed versions.
//!
//! The file is written as soon as a process has been started, so that `down` also stops the processes of an interrupted
//! `up`. Other tools can read it, for example for `apiUrl`.

use crate::process::Background;
use crate::project::Project;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The state of the local stack after the last command.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// Root URL of the HTTP API. Empty until the stack is up.
    pub api_url: String,
    /// Root URL of the page. It equals `api_url`, because the API serves the page.
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
    /// Users with passwords and tokens; therefore, only the owner can read the file. Empty unless the stack has a user
    /// pool.
    pub users: Vec<User>,
    /// ARN of the example handler, a function in Python that the stack may register as a job type. Empty on an emulator
    /// that was already running.
    pub example_handler: String,
    /// Fingerprints of the deployed template and code.
    pub deployed: Deployed,
}

/// Fingerprints of the deployed template and code, to detect changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Deployed {
    /// Fingerprint of template.yaml and samconfig.toml together.
    pub template: String,
    /// Fingerprint of each function's binary, by folder name.
    pub code: BTreeMap<String, String>,
}

/// A user of the local stack.
#[derive(Clone, Serialize, Deserialize)]
pub struct User {
    /// Name to sign in with.
    pub name: String,
    /// Password to sign in with.
    pub password: String,
    /// Tenant that owns the user's jobs.
    pub tenant: String,
    /// Token for the header `Authorization: Bearer …`.
    pub token: String,
}

/// Omits password and token, because the output can be logged.
impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

fn path(project: &Project) -> Result<PathBuf> {
    Ok(project.state_dir()?.join("local.json"))
}

/// Reads the state. Returns an empty state if there is no file.
pub fn read(project: &Project) -> Result<State> {
    let path = path(project)?;
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged: delete it and try again", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Replaces the state atomically: a reader sees either the old or the new state.
pub fn write(project: &Project, state: &State) -> Result<()> {
    let path = path(project)?;
    let draft = path.with_extension("json.new");
    create_private(&draft)?.write_all(&serde_json::to_vec_pretty(state)?)?;
    fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))
}

/// Creates a file that only its owner can read. Removes an existing file first, because others might be able to read
/// it.
fn create_private(path: &Path) -> Result<File> {
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

    /// Returns the token of the first user, or `None` for a stack without users: its API is open or accepts tokens of
    /// another issuer.
    pub fn token(&self) -> Option<&str> {
        self.users.first().map(|user| user.token.as_str())
    }

    /// Returns an output of the stack by name.
    pub fn output(&self, name: &str) -> Result<&str> {
        match self.outputs.get(name) {
            Some(value) => Ok(value),
            None => bail!("the stack has no output {name}"),
        }
    }

    /// Returns the name that the function of a folder has on the emulator. The id of `jobs-api` in the template is
    /// `JobsApi`.
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
        let mut characters = word.chars();
        words.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        words.push_str(characters.as_str());
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
