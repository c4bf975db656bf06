//! `deploy-check`: finds everything that would make a deployment to AWS fail, not work or lose data, before `sam
//! deploy`.

mod answers;

use crate::project::Project;
use answers::{Answers, Asked};
use anyhow::{Context, Result, bail, ensure};
use deployment::settings::{Settings, Source};
use deployment::template::Template;
use deployment::verdict::Verdict;
use deployment::{check, overrides};
use std::fs;

/// Options of `deploy-check`.
#[derive(clap::Args)]
#[command(
    after_help = "An error ends it with exit code 1, a warning does not. What cannot be asked of AWS, for want of \
credentials for example, is a warning and is named in the last line; with --offline it is only named."
)]
pub(crate) struct Options {
    /// Environment of samconfig.toml, as for `sam deploy`
    #[arg(long, value_name = "NAME", default_value = "default")]
    config_env: String,
    /// Parameters that replace all those of samconfig.toml, such as `Environment=small`; one quoted text may hold
    /// several
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    parameter_overrides: Option<Vec<String>>,
    /// Name of the stack [default: stack_name of samconfig.toml]
    #[arg(long, value_name = "NAME")]
    stack_name: Option<String>,
    /// URL of an emulator to query instead of AWS; it must have the stack
    #[arg(long, value_name = "URL", conflicts_with = "offline")]
    endpoint: Option<String>,
    /// Skip the checks that need AWS: quotas and the deployed parameters
    #[arg(long)]
    offline: bool,
}

/// Runs the checks. Fails if any finding is an error.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let (template, mut settings) = described(project, options)?;
    let asked = asked(project, options, &template, &mut settings)?;
    let mut found = check::template(&template, &settings)?;
    found.extend(check::binaries(&template, &settings, &project.root));
    found.extend(asked.found);
    asked.not_checked.iter().for_each(|part| println!("{part}"));
    found.iter().for_each(|finding| println!("{finding}"));
    let verdict = Verdict::new(&found, &asked.not_checked);
    if !verdict.is_ready() {
        bail!("{verdict}");
    }
    println!("{verdict}.");
    Ok(())
}

/// Runs the account checks against a stack on an emulator, deployed with the `local` settings of samconfig.toml.
pub(crate) fn try_on(project: &Project, endpoint: &str) -> Result<()> {
    let described = |overrides: &[&str]| {
        let parameter_overrides = Some(overrides.iter().map(|pair| (*pair).to_owned()).collect());
        let stack_name = Some(crate::stack::NAME.to_owned());
        let endpoint = Some(endpoint.to_owned());
        let options =
            Options { config_env: "default".to_owned(), parameter_overrides, stack_name, endpoint, offline: false };
        let (template, mut settings) = described(project, &options)?;
        asked(project, &options, &template, &mut settings)
    };
    let places = |asked: &Asked| asked.found.iter().map(|finding| finding.place.clone()).collect::<Vec<_>>();
    let absent = Answers::ask(project, Some(endpoint), Some("no-such-stack"));
    ensure!(absent.is_first_deployment(), "a stack that is not there");
    let losing = described(&["Environment=small", "Access=open", "OperatorGroup=others"])?;
    ensure!(places(&losing) == ["Access", "OperatorGroup"], "what an update loses: {:?}", losing.found);
    let same = described(&["Environment=small"])?;
    ensure!(places(&same).is_empty(), "an update that changes nothing: {:?}", same.found);
    for asked in [losing, same] {
        ensure!(asked.not_checked.is_empty(), "not checked: {:?}", asked.not_checked);
    }
    Ok(())
}

/// Reads the template and the settings of `sam deploy`.
fn described(project: &Project, options: &Options) -> Result<(Template, Settings)> {
    let read = |name: &str| fs::read_to_string(project.root.join(name)).with_context(|| format!("cannot read {name}"));
    let template = Template::parse(&read("template.yaml")?)?;
    let mut settings = Settings::read(&read("samconfig.toml")?, &options.config_env)?;
    if let Some(texts) = &options.parameter_overrides {
        settings.parameters = overrides::parse(texts).context("--parameter-overrides")?;
        settings.source = Source::CommandLine;
    }
    settings.region = settings.region.or_else(region);
    settings.stack = options.stack_name.clone().or(settings.stack);
    Ok((template, settings))
}

/// Queries the account unless offline, and adds the parameters of the running stack to the settings.
fn asked(project: &Project, options: &Options, template: &Template, settings: &mut Settings) -> Result<Asked> {
    let endpoint = options.endpoint.clone().or_else(elsewhere);
    let stack = settings.stack.as_deref();
    let answers = if options.offline { Answers::none() } else { Answers::ask(project, endpoint.as_deref(), stack) };
    if answers.is_first_deployment() {
        println!("no stack {} there: taken as a first deployment", stack.unwrap_or_default());
    }
    settings.running = answers.running().cloned().unwrap_or_default();
    answers.check(template, settings)
}

fn region() -> Option<String> {
    ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(|name| std::env::var(name).ok())
}

/// The endpoint of an emulator that the shell's environment names.
fn elsewhere() -> Option<String> {
    std::env::var("AWS_ENDPOINT_URL").ok().filter(|url| !url.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_of_the_command_line_is_split_and_remembered_as_such() -> Result<()> {
        let options = Options {
            config_env: "default".to_owned(),
            parameter_overrides: Some(vec!["Environment=small Access=open".to_owned()]),
            stack_name: None,
            endpoint: None,
            offline: true,
        };
        let (_, settings) = described(&Project::find()?, &options)?;
        let names: Vec<_> = settings.parameters.keys().map(String::as_str).collect();
        assert_eq!((names.as_slice(), settings.source), (["Access", "Environment"].as_slice(), Source::CommandLine));
        Ok(())
    }
}
