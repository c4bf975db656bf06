//! The command `longshore`, as a user and a script run it.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use longshore_domain::random::nonce;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::shared::{Story, dataset, stack};

/// A shell of one user, with an empty home.
pub(crate) struct Shell {
    home: TempDir,
    token: Option<String>,
}

impl Shell {
    /// A shell with the token of a new user of this tenant.
    pub(crate) fn new() -> Result<Self> {
        let user = stack().users.add(&format!("shell-{}", nonce()))?;
        Ok(Self { home: tempfile::tempdir()?, token: Some(user.token) })
    }

    fn command(&self, arguments: &[&str]) -> Result<Command> {
        let program = std::env::current_exe()?;
        let program = program.ancestors().nth(2).context("the test is not in a target folder")?.join("longshore");
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(self.home.path()).stdin(Stdio::piped());
        command.env("XDG_CONFIG_HOME", self.home.path()).env_remove("LONGSHORE_PROFILE");
        match &self.token {
            Some(token) => command.env("LONGSHORE_API_URL", stack().client.base()).env("LONGSHORE_TOKEN", token),
            None => command.env_remove("LONGSHORE_API_URL").env_remove("LONGSHORE_TOKEN"),
        };
        Ok(command)
    }

    /// Runs the command with this input. Returns standard output; fails with another exit code.
    pub(crate) fn run(&self, arguments: &[&str], input: &str, code: i32) -> Result<String> {
        let mut child = self.command(arguments)?.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().context("no input")?.write_all(input.as_bytes())?;
        let Output { status, stdout, stderr } = child.wait_with_output()?;
        let (stdout, stderr) = (String::from_utf8(stdout)?, String::from_utf8(stderr)?);
        ensure!(status.code() == Some(code), "{arguments:?} ended with {status}: {stdout}{stderr}");
        Ok(stdout)
    }

    pub(crate) fn json(&self, arguments: &[&str], code: i32) -> Result<Value> {
        Ok(serde_json::from_str(&self.run(arguments, "", code)?)?)
    }

    fn file(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.home.path().join(name);
        std::fs::write(&path, content)?;
        Ok(path)
    }
}

#[test]
fn a_user_signs_in_by_the_browser_and_out() -> Story {
    let name = format!("person-{}", nonce());
    stack().users.add(&name)?;
    let shell = Shell { home: tempfile::tempdir()?, token: None };
    let url = stack().client.base();
    let mut login = shell.command(&["login", "--api-url", url, "--no-browser"])?;
    let mut login = login.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let lines = BufReader::new(login.stderr.take().context("no output")?).lines();
    let mut printed = Vec::new();
    let mut lines = lines.map_while(Result::ok).inspect(|line| printed.push(line.clone()));
    let page = lines.find(|line| line.trim().starts_with("http"));
    drop(lines);
    let page = page.with_context(|| format!("no URL: {printed:?}"))?;
    let redirect = stack().users.sign_in_at(&name, page.trim())?;
    ensure!(redirect.starts_with("http://localhost:897"), "the page does not redirect to the command: {redirect}");
    let answer = ureq::get(&redirect).call()?.body_mut().read_to_string()?;
    ensure!(answer.contains("You are signed in"), "{answer}");
    ensure!(login.wait()?.success(), "the command has failed");
    let profiles = std::fs::read_to_string(shell.home.path().join("longshore/profiles.json"))?;
    let mut profiles: Value = serde_json::from_str(&profiles)?;
    let tokens = profiles["default"]["tokens"].clone();
    ensure!(tokens["refreshToken"].is_string(), "the profile has no refresh token");
    assert_eq!(shell.json(&["jobs", "list", "--json"], 0)?, json!({ "jobs": [] }));
    // An expired token is renewed, and one that the API refuses.
    for (token, renew_at) in [(&tokens["token"], json!(1)), (&json!("refused"), Value::Null)] {
        profiles["default"]["tokens"]["token"] = token.clone();
        profiles["default"]["tokens"]["renewAt"] = renew_at;
        std::fs::write(shell.home.path().join("longshore/profiles.json"), profiles.to_string())?;
        shell.run(&["jobs", "list"], "", 0)?;
        let renewed: Value =
            serde_json::from_slice(&std::fs::read(shell.home.path().join("longshore/profiles.json"))?)?;
        let renewed = &renewed["default"]["tokens"];
        ensure!(renewed["token"] != *token && renewed["renewAt"].as_u64() > Some(1), "not renewed: {token}");
    }
    shell.run(&["logout"], "", 0)?;
    shell.run(&["jobs", "list"], "", 4)?;
    Ok(())
}

#[test]
fn rows_are_imported_corrected_and_exported() -> Story {
    let (shell, dataset) = (Shell::new()?, dataset("shell"));
    let schema = shell.file("schema.json", r#"{"properties": {"price": {"type": "number"}}}"#)?;
    let schema = schema.to_str().context("a path of UTF-8")?;
    let import = ["import", "-", "--dataset", &dataset, "--key", "id", "--schema", schema, "--column", "Preis=price"];
    let rows = "id;Preis\na;1,50\nb;offen\nc;2,75\n";
    let checked = shell.run(&[&import[..], &["--mode", "validate"]].concat(), rows, 3)?;
    assert_eq!(checked, "completed: 2 items succeeded, 1 failed\n");
    shell.run(&[&import[..], &["--failures", "failed.csv"]].concat(), rows, 3)?;
    let failed = std::fs::read_to_string(shell.home.path().join("failed.csv"))?;
    ensure!(failed.contains("offen") && failed.contains("schema_type"), "{failed}");
    let list = shell.json(&["jobs", "list", "--limit", "1", "--json"], 0)?;
    let job = list["jobs"][0]["jobId"].as_str().context("the list is empty")?;
    shell.file("failed.csv", &failed.replace("offen", "7"))?;
    let retried = shell.json(&["jobs", "retry", job, "--corrected", "failed.csv", "--json"], 0)?;
    assert_eq!((&retried["counts"]["succeeded"], &retried["attempts"]), (&json!(3), &json!(2)));
    let audit = shell.run(&["jobs", "audit", job], "", 0)?;
    ensure!(audit.ends_with("Everything agrees.\n"), "{audit}");
    let exported = shell.run(&["export", &dataset], "", 0)?;
    let lines: Vec<Value> = exported.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert_eq!(lines.len(), 3, "{exported}");
    shell.run(&["export", &dataset, "--output", "prices.xlsx"], "", 0)?;
    ensure!(std::fs::read(shell.home.path().join("prices.xlsx"))?.starts_with(b"PK"), "no workbook");
    // An export without records leaves no earlier file behind.
    shell.file("changes.jsonl", "yesterday's")?;
    shell.run(&["export", &dataset, "--updated-since", "2099-01-01T00:00:00Z", "--output", "changes.jsonl"], "", 0)?;
    assert_eq!(std::fs::read_to_string(shell.home.path().join("changes.jsonl"))?, "");
    Ok(())
}

#[test]
fn a_script_can_tell_how_a_job_ended() -> Story {
    let shell = Shell::new()?;
    let dataset = dataset("script");
    let import = ["import", "-", "--dataset", &dataset, "--key", "id"];
    shell.run(&import, "id,a\n1,2\n", 0)?;
    shell.run(&import, "name,a\nx,2\n", 5)?;
    shell.run(&[&import[..], &["--options", r#"{"unknown":1}"#]].concat(), "id\n1\n", 1)?;
    let id = shell.run(&[&import[..], &["--no-wait"]].concat(), "id\n1\n", 0)?;
    shell.run(&["jobs", "watch", id.trim()], "", 0)?;
    let document = shell.json(&["jobs", "get", id.trim()], 0)?;
    assert_eq!(document["counts"]["succeeded"], 1);
    let stranger = Shell { home: tempfile::tempdir()?, token: Some("no token".to_owned()) };
    stranger.run(&["jobs", "list"], "", 4)?;
    // It goes in parts.
    let text = "x".repeat(900);
    let rows: String = (0..20_000).map(|n| format!("key-{n},{text}\n")).collect();
    let large = shell.file("large.csv", &format!("id,a\n{rows}"))?;
    let large = large.to_str().context("a path of UTF-8")?;
    let options = ["--dataset", &dataset, "--key", "id", "--mode", "validate"];
    let line = shell.run(&[&["import", large][..], &options].concat(), "", 0)?;
    assert_eq!(line, "completed: 20,000 items succeeded\n");
    Ok(())
}
