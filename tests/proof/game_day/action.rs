//! The actions: what the findings of `doctor` and the sections of the runbook say. A command is run as it is printed.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};

use super::day::GameDay;
use super::drill::{Drill, Fault, QUEUES};
use super::operator::Findings;
use super::runbook::{Runbook, on_aws};
use super::waits::{TIMEOUT, until};

/// An operator's action beside the commands: the section, and its words.
type Instruction = (&'static str, &'static str);

impl Drill {
    /// The codes of the findings whose commands are run, in this order.
    pub(super) fn fixed_by(self) -> &'static [&'static str] {
        match self.fault {
            Fault::PoisonedHandler => &["handler_unavailable"],
            Fault::ThrottledTable => &["table_throttled"],
            Fault::DeadWebhook => &["webhook_failing"],
            Fault::StuckSplit => &["schedule_disabled"],
            Fault::LostMessages => &["queue_shared", "mapping_disabled"],
            Fault::BadDeployment => &["ChunkDeadLettersAlarm"],
        }
    }

    fn instruction(self) -> Option<Instruction> {
        match (self.fault, self.variant) {
            (Fault::PoisonedHandler, _) => Some(("handler_unavailable", "tell the owner of the handler")),
            (Fault::ThrottledTable, _) => Some(("table_throttled", "wait: ")),
            (Fault::DeadWebhook, _) => Some(("webhook_failing", "Once the endpoint answers again")),
            (Fault::StuckSplit | Fault::LostMessages, _) => None,
            (Fault::BadDeployment, 0) => Some(("ProcessItemErrorsAlarm", "roll back to the previous release")),
            (Fault::BadDeployment, _) => Some(("CallHandlerErrorsAlarm", "roll back to the previous release")),
        }
    }

    /// The commands that are run, in this order: those of the findings. The runbook must have them, and must say what
    /// else is done.
    pub(super) fn commands(self, findings: &Findings, runbook: &Runbook) -> Result<Vec<String>> {
        if let Some((section, words)) = self.instruction() {
            runbook.check_says(section, words)?;
        }
        let mut commands = Vec::new();
        for code in self.fixed_by() {
            let found = findings.of(code)?;
            for finding in found {
                let command = finding.command()?;
                runbook.check_has(code, command)?;
                commands.push(command.to_owned());
            }
        }
        Ok(commands)
    }
}

impl GameDay<'_> {
    /// Does what the findings and the runbook say. Returns it.
    pub(super) fn act(&self, drill: Drill, findings: &Findings) -> Result<String> {
        let commands = drill.commands(findings, &self.runbook)?;
        let done = match drill.fault {
            Fault::PoisonedHandler => {
                let check = commands.first().context("no command")?;
                ensure!(!self.operator.succeeds(check)?, "{check} finds nothing wrong with the poisoned handler");
                self.load.deploy_handler("good")?;
                until("the check of the handler succeeds", TIMEOUT, || self.operator.succeeds(check))?;
                "deploy the handler's previous version".to_owned()
            }
            Fault::ThrottledTable => {
                self.run_all(&commands)?;
                self.stack.faults()?.set(&[])?;
                "wait".to_owned()
            }
            Fault::DeadWebhook => return self.replay_webhooks(drill),
            Fault::StuckSplit | Fault::LostMessages => {
                self.run_all(&commands)?;
                return Ok(listed(&commands));
            }
            Fault::BadDeployment => {
                let (queue, function, visibility_s) = QUEUES[drill.variant];
                self.run_all(&commands)?;
                self.stack.restore_code(function)?;
                self.stack.set_visibility(queue, visibility_s)?;
                format!("deploy the previous version of {function}")
            }
        };
        Ok(format!("{}; {done}", listed(&commands)))
    }

    fn run_all(&self, commands: &[String]) -> Result<()> {
        commands.iter().try_for_each(|command| self.operator.run(command))
    }

    /// Starts the receiver, and runs the command for each webhook that fails, as its tenant. `doctor` is asked again,
    /// because a second webhook can fail meanwhile.
    fn replay_webhooks(&self, drill: Drill) -> Result<String> {
        let commands = drill.commands(&self.operator.doctor()?, &self.runbook)?;
        self.load.receiver.serve()?;
        for command in &commands {
            let mut tenants = self.load.tenants.iter();
            let owner = tenants.find(|tenant| command.contains(tenant.webhook.id()));
            let owner = owner.with_context(|| format!("no tenant has the webhook of {command}"))?;
            self.operator.run_as(&owner.token, command)?;
        }
        Ok(format!("start the receiver; `longshore webhooks replay ID --since TIME` for {} webhooks", commands.len()))
    }

    /// Does what the runbook says about dead letters, until no message of the queue is left: jobs whose items have
    /// failed with them are replayed, and dead letters whose work was done nevertheless are discarded. Returns it.
    pub(super) fn repair_jobs(&self, drill: Drill) -> Result<Option<String>> {
        if drill.fault != Fault::BadDeployment {
            return Ok(None);
        }
        let command = |start| self.runbook.command("ChunkDeadLettersAlarm", start);
        let replay = command("longshore dead-letters replay --job JOB")?;
        let discard = command("longshore dead-letters discard ID")?;
        let (queue, mut replayed, mut discarded) = (QUEUES[drill.variant].0, BTreeSet::new(), 0);
        until("no dead letter is left", TIMEOUT, || {
            self.load.await_ends()?;
            let open = self.operator.dead_letters()?;
            let (useless, useful): (Vec<_>, Vec<_>) = open.into_iter().partition(|open| open.replay == "nothing");
            // The state can change before the command, which then fails; the next round follows.
            for job in useful.into_iter().filter_map(|open| open.job_id).collect::<BTreeSet<_>>() {
                if self.operator.succeeds(&replay.replace("JOB", &job))? {
                    replayed.insert(job);
                }
            }
            for dead in useless {
                discarded += usize::from(self.operator.succeeds(&discard.replace("ID", &dead.letter_id))?);
            }
            Ok(self.stack.depth("ChunkDlqUrl")? == [0, 0] && self.stack.depth(queue)? == [0, 0])
        })?;
        ensure!(!replayed.is_empty(), "no job was replayed");
        let done = format!("`{replay}` for {} jobs", replayed.len());
        Ok(Some(if discarded == 0 { done } else { format!("{done}, `{discard}` for {discarded} others") }))
    }
}

fn listed(commands: &[String]) -> String {
    let commands: Vec<_> = commands.iter().map(|command| format!("`{}`", on_aws(command))).collect();
    commands.join("; ")
}
