//! Options and output of `deploy-check`.

use anyhow::{Context, Result, bail};
use deployment::settings::{Settings, Source};
use deployment::template::Template;
use deployment::verdict::Verdict;
use deployment::{check, overrides};

use super::answers::{Answers, Asked};
use super::inputs::Inputs;

/// Options of `deploy-check`.
#[derive(clap::Args)]
#[command(
    after_help = "An error ends it with exit code 1, a warning does not. What cannot be asked of AWS, for want of \
credentials for example, is a warning and is named in the last line; with --offline it is only named."
)]
pub struct Options {
    #[command(flatten)]
    inputs: Inputs,
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

/// Runs the checks.
///
/// # Errors
/// If any finding is an error, or a file cannot be read.
pub fn run(options: &Options) -> Result<()> {
    let (template, mut settings) = described(options)?;
    let asked = ask(options, &template, &mut settings)?;
    let mut found = check::template(&template, &settings)?;
    found.extend(check::binaries(&template, &settings, |code_uri| options.inputs.code(code_uri)));
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

/// Runs only the checks that need an account.
///
/// # Errors
/// If a file cannot be read.
pub fn asked(options: &Options) -> Result<Asked> {
    let (template, mut settings) = described(options)?;
    ask(options, &template, &mut settings)
}

/// Reads the template and the settings of `sam deploy`.
fn described(options: &Options) -> Result<(Template, Settings)> {
    let template = options.inputs.template()?;
    let mut settings = options.inputs.settings(&options.config_env)?;
    if let Some(texts) = &options.parameter_overrides {
        settings.parameters = overrides::parse(texts).context("--parameter-overrides")?;
        settings.source = Source::CommandLine;
    }
    settings.region = settings.region.or_else(region);
    settings.stack = options.stack_name.clone().or(settings.stack);
    Ok((template, settings))
}

/// Queries the account unless offline, and adds the parameters of the running stack to the settings.
fn ask(options: &Options, template: &Template, settings: &mut Settings) -> Result<Asked> {
    let endpoint = options.endpoint.clone().or_else(elsewhere);
    let stack = settings.stack.as_deref();
    let answers = if options.offline { Answers::none() } else { Answers::ask(endpoint.as_deref(), stack) };
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
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn a_quoted_text_of_the_command_line_is_split_and_remembered_as_such() -> Result<()> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let (template, config) = (format!("{root}/template.yaml"), format!("{root}/samconfig.toml"));
        let files = ["deploy-check", "--offline", "--template", &template, "--config", &config];
        let overrides = ["--parameter-overrides", "Environment=small Access=open"];
        let (_, settings) = described(&Line::try_parse_from([&files[..], &overrides].concat())?.options)?;
        let names: Vec<_> = settings.parameters.keys().map(String::as_str).collect();
        assert_eq!((names.as_slice(), settings.source), (["Access", "Environment"].as_slice(), Source::CommandLine));
        Ok(())
    }
}
