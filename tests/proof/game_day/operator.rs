//! The shell of an operator, who runs the commands of the findings and of the runbook as they are printed.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::client::Client;
use longshore_tests::harness::stack::Stack;
use serde::Deserialize;
use tempfile::TempDir;

use super::control::Control;

/// Maximum time of a command.
const COMMAND_TIME: Duration = Duration::from_secs(60);

/// A finding of `doctor`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Finding {
    pub(super) code: String,
    pub(super) problem: String,
    pub(super) fix: String,
    /// Link to the section of the runbook.
    pub(super) runbook: Option<String>,
}

impl Finding {
    /// The command of the fix: the first one between backticks, or else what follows a condition.
    pub(super) fn command(&self) -> Result<&str> {
        const PROGRAMS: [&str; 2] = ["longshore ", "aws "];
        let is_command = |text: &&str| PROGRAMS.iter().any(|program| text.starts_with(program));
        if let Some(command) = self.fix.split('`').skip(1).step_by(2).find(is_command) {
            return Ok(command);
        }
        let starts = PROGRAMS.iter().filter_map(|program| self.fix.find(program));
        let start = starts.min().with_context(|| format!("the fix of {} has no command: {}", self.code, self.fix))?;
        Ok(&self.fix[start..])
    }
}

/// An open dead letter.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadLetter {
    pub(super) letter_id: String,
    pub(super) job_id: Option<String>,
    /// Effect of a replay.
    pub(super) replay: String,
}

/// Findings of `doctor`.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    /// The findings with these codes, if there is one of each.
    pub(super) fn filter_all(self, codes: &[&str]) -> Option<Self> {
        let is_complete = codes.iter().all(|code| self.0.iter().any(|finding| finding.code == **code));
        let found = self.0.into_iter().filter(|finding| codes.contains(&finding.code.as_str())).collect();
        is_complete.then_some(Self(found))
    }

    /// The findings with this code, of which there is at least one.
    pub(super) fn of(&self, code: &str) -> Result<Vec<&Finding>> {
        let found: Vec<_> = self.0.iter().filter(|finding| finding.code == code).collect();
        ensure!(!found.is_empty(), "doctor has not found {code}");
        Ok(found)
    }
}

/// An operator.
pub(super) struct Operator<'a> {
    stack: &'a Stack,
    /// Client of the API, as an operator.
    pub(super) client: Client,
    token: String,
    home: TempDir,
    /// Folder of the command.
    bin: PathBuf,
    control: Control,
    last: Mutex<Findings>,
}

impl<'a> Operator<'a> {
    pub(super) fn new(stack: &'a Stack, control: &Control) -> Result<Self> {
        let user = stack.users.add_operator("operator-of-the-day")?;
        let program = std::env::current_exe()?;
        let bin = program.ancestors().nth(2).context("the test is not in a target folder")?.to_owned();
        ensure!(bin.join("longshore").exists(), "{} has no longshore: cargo build -p longshore-cli", bin.display());
        let client = stack.client.clone().with_token(&user.token);
        let (home, last, control) = (tempfile::tempdir()?, Mutex::default(), control.clone());
        Ok(Self { stack, client, token: user.token, home, bin, control, last })
    }

    /// The open dead letters of chunks.
    pub(super) fn dead_letters(&self) -> Result<Vec<DeadLetter>> {
        let page = self.client.get("/api/dead-letters?limit=100&queue=chunk")?.expect(200)?;
        Ok(serde_json::from_value(page["deadLetters"].clone())?)
    }

    /// Runs `doctor`, which fails if it finds an error. Every finding has a section of the runbook.
    pub(super) fn doctor(&self) -> Result<Findings> {
        let (name, endpoint) = self.stack.address();
        let output =
            self.shell(&self.token, &format!("longshore doctor --stack {name} --endpoint {endpoint} --json"))?;
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("doctor prints no report: {}", String::from_utf8_lossy(&output.stderr)))?;
        let mut findings: Vec<Finding> = serde_json::from_value(report["findings"].clone())?;
        findings.retain(|finding| !self.control.removes(&finding.code));
        for finding in &findings {
            let section = finding.runbook.as_deref().with_context(|| format!("{} has no section", finding.code))?;
            ensure!(
                section.ends_with(&format!("#{}", finding.code.to_lowercase())),
                "{} is in {section}",
                finding.code
            );
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Findings(findings.clone());
        Ok(Findings(findings))
    }

    /// Runs a command that must succeed, as an operator.
    pub(super) fn run(&self, command: &str) -> Result<()> {
        self.run_as(&self.token, command).map(drop)
    }

    /// Runs a command that must succeed, with this token. Returns its output.
    pub(super) fn run_as(&self, token: &str, command: &str) -> Result<String> {
        let Output { status, stdout, stderr } = self.shell(token, command)?;
        let text = String::from_utf8_lossy(&stdout).into_owned();
        ensure!(status.success(), "{command} ended with {status}: {text}{}", String::from_utf8_lossy(&stderr));
        eprintln!("  $ {command}");
        Ok(text)
    }

    /// Returns true if a command succeeds.
    pub(super) fn succeeds(&self, command: &str) -> Result<bool> {
        Ok(self.shell(&self.token, command)?.status.success())
    }

    /// Runs a command in the shell of an operator, who has credentials of the emulator's account.
    fn shell(&self, token: &str, command: &str) -> Result<Output> {
        let (_, endpoint) = self.stack.address();
        let venv = std::env::var("LONGSHORE_VENV").context("LONGSHORE_VENV is not set")?;
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(self.home.path()).stdin(Stdio::null());
        shell.env("PATH", format!("{}:{venv}/bin:{path}", self.bin.display()));
        shell.env("XDG_CONFIG_HOME", self.home.path()).env_remove("LONGSHORE_PROFILE");
        shell.env("LONGSHORE_API_URL", self.stack.client.base()).env("LONGSHORE_TOKEN", token);
        let variables = [
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("AWS_ENDPOINT_URL", endpoint),
        ];
        shell.envs(variables).process_group(0);
        output_in_time(shell).with_context(|| format!("cannot run {command}"))
    }

    /// Lists what `doctor` has found last, for an error.
    pub(super) fn describe(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let found: Vec<_> = last.0.iter().map(|finding| format!("{}: {}", finding.code, finding.problem)).collect();
        format!("doctor found last: {found:?}")
    }
}

/// Runs a command, and kills it with its children if it takes too long.
fn output_in_time(mut command: Command) -> Result<Output> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (group, (ended, waits)) = (format!("-{}", child.id()), mpsc::channel::<()>());
    let watchdog = thread::spawn(move || {
        let is_late = waits.recv_timeout(COMMAND_TIME) == Err(RecvTimeoutError::Timeout);
        if is_late {
            drop(Command::new("kill").args(["-KILL", "--", &group]).status());
        }
        is_late
    });
    let output = child.wait_with_output();
    drop(ended);
    let was_late = watchdog.join().unwrap_or_default();
    ensure!(!was_late, "it took more than {COMMAND_TIME:?}");
    Ok(output?)
}

#[test]
fn a_fix_has_its_command() {
    let finding =
        |fix: &str| Finding { code: "c".to_owned(), problem: String::new(), fix: fix.to_owned(), runbook: None };
    for (fix, expected) in [
        ("if it lasts: longshore webhooks replay w", Some("longshore webhooks replay w")),
        ("tell `a`, who runs: `longshore webhooks replay w`; or: `aws x`", Some("longshore webhooks replay w")),
        ("aws --endpoint-url http://longshore x", Some("aws --endpoint-url http://longshore x")),
        ("wait", None),
    ] {
        assert_eq!(finding(fix).command().ok(), expected, "{fix}");
    }
}
