//! The runbook: the rows of its sections, and the commands in them.

use anyhow::{Context, Result, ensure};

/// The runbook.
#[derive(Clone, Debug)]
pub(super) struct Runbook(String);

impl Runbook {
    /// The runbook of the checkout.
    pub(super) fn load() -> Self {
        Self(include_str!("../../../docs/runbook.md").to_owned())
    }

    /// Returns the text of a row in the section for an alarm or a code.
    pub(super) fn row(&self, code: &str, row: &str) -> Result<&str> {
        let section = self.0.split("\n### ").find(|section| section.lines().next() == Some(code));
        let section = section.with_context(|| format!("the runbook has no section {code}"))?;
        // The last section of a part is followed by the next part.
        let mut lines = section.lines().take_while(|line| !line.starts_with("## "));
        let text = lines.find_map(|line| line.strip_prefix(&format!("| {row} | "))?.strip_suffix(" |"));
        text.with_context(|| format!("the section {code} has no row {row}"))
    }

    /// Fails unless the row `do` of the section has this instruction.
    pub(super) fn check_says(&self, code: &str, instruction: &str) -> Result<()> {
        let text = self.row(code, "do")?;
        ensure!(text.contains(instruction), "the section {code} does not say {instruction:?}: {text}");
        Ok(())
    }

    /// Fails unless a row of the section has this command. Words in upper case stand for any word, and the command can
    /// lack the last words.
    pub(super) fn check_has(&self, code: &str, command: &str) -> Result<()> {
        let rows = [self.row(code, "do")?, self.row(code, "see")?];
        let is_documented = rows.iter().any(|row| commands(row).any(|known| is_form_of(&on_aws(command), known)));
        ensure!(is_documented, "the section {code} does not have {command}");
        Ok(())
    }

    /// Returns the command of the row `do` that begins with these words.
    pub(super) fn command(&self, code: &str, start: &str) -> Result<&str> {
        let mut commands = commands(self.row(code, "do")?).filter(|command| command.starts_with(start));
        commands.next().with_context(|| format!("the section {code} does not say {start}"))
    }

    /// The runbook without a section.
    #[cfg(test)]
    pub(super) fn without(&self, code: &str) -> Self {
        Self(self.0.replace(&format!("\n### {code}\n"), "\n### gone\n"))
    }
}

/// Returns the texts between backticks.
fn commands(row: &str) -> impl Iterator<Item = &str> {
    row.split('`').skip(1).step_by(2)
}

fn is_form_of(command: &str, known: &str) -> bool {
    let (words, known): (Vec<_>, Vec<_>) = (command.split(' ').collect(), known.split(' ').collect());
    let is_placeholder = |word: &str| word.chars().all(|character| character.is_ascii_uppercase());
    let is_same = |(word, known): (&&str, &&str)| word == known || is_placeholder(known);
    words.len() > 1 && words.len() <= known.len() && words.iter().zip(&known).all(is_same)
}

/// Returns a command of the AWS CLI as it is on AWS: without the endpoint of the emulator.
pub(super) fn on_aws(command: &str) -> String {
    let mut words: Vec<_> = command.split(' ').collect();
    if words.get(1) == Some(&"--endpoint-url") {
        words.drain(1..words.len().min(3));
    }
    words.join(" ")
}

#[test]
fn a_command_is_that_of_a_section_whatever_its_ids() {
    let runbook = Runbook::load();
    let enable = "aws --endpoint-url http://127.0.0.1:1 events enable-rule --name longshore-Sweep";
    assert!(runbook.check_has("schedule_disabled", enable).is_ok());
    for (code, command) in [
        ("schedule_disabled", "aws events disable-rule --name longshore-Sweep"),
        ("schedule_disabled", "aws"),
        ("schedule_disabled", "aws events enable-rule --name a --event-bus-name b"),
        ("mapping_disabled", enable),
    ] {
        assert!(runbook.check_has(code, command).is_err(), "{code}: {command}");
    }
}

#[test]
fn a_row_is_that_of_its_section() {
    let runbook = Runbook::load();
    assert!(runbook.row("LostChunksAlarm", "over").is_ok_and(|text| text.ends_with("and the jobs end")));
    assert!(runbook.row("LostChunksAlarm", "later").is_err());
    assert!(runbook.without("LostChunksAlarm").row("LostChunksAlarm", "over").is_err());
}
