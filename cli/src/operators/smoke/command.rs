//! Options and steps of `smoke`, and the tested stack with the user who calls its API.

use super::cleanup::{Cleanup, Deployment, Kind, METADATA};
use super::file;
use crate::api::{Api, Mode};
use crate::aws::pool::{self, Credentials, Pool};
use crate::aws::target::{Target, TargetOptions};
use crate::output::confirm::confirm;
use crate::verified_import::{Created, Import, Plan, Source};
use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// Environment variable of an existing user's token.
const TOKEN: &str = "LONGSHORE_TOKEN";

/// Options of `smoke`.
#[derive(clap::Args)]
#[command(after_help = "Environment:
  LONGSHORE_TOKEN  Token of an existing user; without it, the test creates a user in the stack's user pool, or with
                   --local signs in the first user of the local stack
  AWS_PROFILE, AWS_REGION and the other variables of the AWS CLI: the account

Exit codes: 0 every check passed, and all test data is removed, 1 a check failed, or test data could not be removed, 2 \
wrong usage, 4 sign-in needed, 130 interrupted (129 by SIGHUP, 143 by SIGTERM).")]
pub struct Options {
    #[command(flatten)]
    target: TargetOptions,
    /// Skip the confirmation
    #[arg(long)]
    yes: bool,
}

/// Runs the command.
///
/// # Errors
/// If a check fails, or test data cannot be removed.
pub fn run(options: &Options) -> Result<()> {
    let target = Tested::new(options.target.look_up()?)?;
    let name = file::unique_name();
    announce(&target, &name);
    if !options.yes {
        confirm()?;
    }
    let folder = tempfile::Builder::new().prefix("longshore-smoke-").tempdir()?;
    let mut cleanup = Cleanup::start(target.deployment(None))?;
    let outcome = import(&target, &name, folder, &mut cleanup);
    let (api, job_url) = combine(outcome, cleanup.run())?;
    let job_url = job_url.context("no job was created")?;
    ensure!(api.read(&job_url, None)?.0 == 404, "the job was not removed: {job_url}");
    ensure!(!api.has_records(&name)?, "the dataset {name} still has records");
    println!("\nSmoke test of {} passed. The sweeper removes the job's files within half an hour.", target.description);
    Ok(())
}

/// Imports the file into the dataset `name`. Registers everything that it creates for removal. Keeps the folder with
/// the report if a check fails. Returns the URL of the job.
fn import(target: &Tested, name: &str, folder: TempDir, cleanup: &mut Cleanup) -> Result<(Api, Option<String>)> {
    let (rows, schema) = file::write(folder.path())?;
    let plan = Plan {
        source: Source::read(&rows)?,
        schema: Some(schema),
        dataset: name.to_owned(),
        key: "id".to_owned(),
        mode: Mode::Upsert,
        metadata: [(METADATA.to_owned(), name.to_owned())].into(),
    };
    let user = target.needs_user().then_some(name);
    user.map(|user| cleanup.add(Kind::User, user)).transpose()?;
    let token = target.sign_in(user)?;
    cleanup.deployment(target.deployment(token.as_deref()))?;
    let api = Api::new(&target.api_url, token.as_deref());
    let import = Import { plan: &plan, folder: folder.path().join("report"), expected: &|_| Ok(file::expected()) };
    let mut job_url = None;
    let outcome = import.run(&api, &mut |created| match created {
        Created::Upload(id) => {
            cleanup.add(Kind::Upload, id)?;
            // The job needs the upload, and creates the dataset. It can exist although its creation is not answered.
            cleanup.add(Kind::UnansweredJob, name)?;
            cleanup.add(Kind::Dataset, name)
        }
        Created::Job(url) => {
            job_url = Some(url.to_owned());
            cleanup.add(Kind::Job, url.rsplit('/').next().unwrap_or(url))
        }
        Created::Failures(_) => Ok(()),
    });
    outcome.with_context(|| format!("the file and the report are in {}", folder.keep().display()))?;
    Ok((api, job_url))
}

/// Combines the results of the test and of the removal. If both failed, the error contains both.
fn combine<T>(test: Result<T>, removal: Result<()>) -> Result<T> {
    match (test, removal) {
        (Err(test), Err(removal)) => bail!("{test:#}\nerror: {removal:#}"),
        (test, removal) => removal.and(test),
    }
}

fn announce(target: &Tested, name: &str) {
    println!("The test creates on {}, and removes at the end:", target.description);
    println!("  an upload of {} rows and its job", file::ROWS);
    println!("  up to {} records in the dataset {name}", file::ROWS);
    if target.needs_user() {
        println!("  a user {name} in the stack's user pool");
    }
    println!("The calls to AWS cost less than $0.01.");
}

/// The tested stack.
struct Tested {
    stack: Target,
    /// Root URL of the API.
    api_url: String,
    /// Description for messages.
    description: String,
    /// Token of an existing user.
    token: Option<String>,
}

impl Tested {
    /// Checks that a stack can be tested.
    fn new(stack: Target) -> Result<Self> {
        let (description, status) = (stack.description(), stack.inventory.status.as_str());
        let is_usable = matches!(
            status,
            "CREATE_COMPLETE"
                | "UPDATE_COMPLETE"
                | "UPDATE_ROLLBACK_COMPLETE"
                | "IMPORT_COMPLETE"
                | "IMPORT_ROLLBACK_COMPLETE"
        );
        ensure!(is_usable, "{description} is not usable: its status is {status}");
        let api_url =
            stack.api_url().with_context(|| format!("{description} has no output with the URL of its API"))?;
        let token = match (token_from_environment(), &stack.local) {
            (None, Some(local)) => local.first_token()?,
            (token, _) => token,
        };
        Ok(Self { stack, api_url, description, token })
    }

    /// Returns an output of the stack.
    fn output(&self, name: &str) -> Option<&String> {
        self.stack.inventory.outputs.get(name)
    }

    /// Returns true if the test must create a user: there is no token, and the stack has a user pool.
    fn needs_user(&self) -> bool {
        self.token.is_none() && self.output("UserPoolId").is_some()
    }

    /// Returns the token for the API; `None` if it is open.
    fn sign_in(&self, user: Option<&str>) -> Result<Option<String>> {
        let access = self.output("Access").map_or("cognito", String::as_str);
        let Some(user) = user else {
            ensure!(
                self.token.is_some() || access == "open",
                "set {TOKEN}: with Access={access} the test cannot create a user"
            );
            return Ok(self.token.clone());
        };
        let output = |name: &str| self.output(name).with_context(|| format!("the stack has no output {name}"));
        let pool = Pool { id: output("UserPoolId")?, client: output("UserPoolClientId")? };
        let credentials = Credentials { name: user.to_owned(), password: String::new(), groups: Vec::new() };
        let session = &self.stack.session;
        let signed_in = session.block_on(pool::sign_in(session.config(), pool, credentials))?;
        Ok(Some(signed_in.into_token(self.output("TenantClaim").map(String::as_str))))
    }

    /// Returns the data that the process that cleans up needs.
    fn deployment(&self, token: Option<&str>) -> Deployment {
        Deployment {
            api: self.api_url.clone(),
            token: token.map(str::to_owned),
            tenant_claim: self.output("TenantClaim").cloned().unwrap_or_else(|| "sub".to_owned()),
            outputs: self.stack.inventory.outputs.clone(),
            endpoint: self.stack.endpoint.clone(),
        }
    }
}

fn token_from_environment() -> Option<String> {
    std::env::var(TOKEN).ok().filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn both_errors_are_reported_that_of_the_test_first() {
        let result = |test: Option<&'static str>, removal: Option<&'static str>| {
            let test = test.map_or(Ok(1), |text| Err(anyhow!(text)));
            let removal = removal.map_or(Ok(()), |text| Err(anyhow!(text)));
            combine(test, removal).map_err(|error| format!("{error:#}"))
        };
        assert_eq!(result(None, None), Ok(1));
        assert_eq!(result(Some("no job"), None), Err("no job".to_owned()));
        assert_eq!(result(None, Some("left")), Err("left".to_owned()));
        assert_eq!(result(Some("no job"), Some("left")), Err("no job\nerror: left".to_owned()));
    }

    #[test]
    fn the_help_names_the_environment_variable_and_the_exit_codes() {
        let help = <Options as clap::Args>::augment_args(clap::Command::new("smoke")).render_help().to_string();
        assert!(help.contains("LONGSHORE_TOKEN") && help.contains("Exit codes: 0 every check passed"), "{help}");
    }
}
