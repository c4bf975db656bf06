//! Options of `types check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use longshore_domain::registration::content::TIMEOUT_SECONDS;
use longshore_domain::remote::Mode;
use serde_json::Value;

use super::samples::Samples;
use super::target::Target;

/// Environment variable of the signing secret. It has no option: arguments are visible to other users of a machine.
pub(super) const SECRET: &str = "LONGSHORE_HANDLER_SECRET";

/// Options of `types check`.
#[derive(clap::Args)]
#[command(after_help = "\
The handler is called as Longshore calls it: first a ping, then batches of items, about 2,050 items in 20 calls. In the
mode `validate`, which is used if the handler's ping lists it, a handler has no effect. With `--mode run` it processes
the items, and its effects are real: use it with a handler of a test environment, and with --items.

Calls to an HTTPS endpoint are signed with the secret in the variable LONGSHORE_HANDLER_SECRET (`whsec_...`). Only public
addresses are called. A Lambda function is called with the AWS credentials of the shell.

Exit codes: 0 no check failed, even with warnings; 1 a check failed; 2 wrong usage; 3 the handler cannot be reached.")]
pub struct Options {
    /// The handler: an https:// URL, or the ARN of a Lambda alias (arn:aws:lambda:REGION:ACCOUNT:function:NAME:ALIAS)
    #[arg(value_parser = Target::parse)]
    pub(super) target: Target,
    /// Sample values of items, one JSON value per line [default: `{"example": 1}` and the like]
    #[arg(long, value_name = "FILE", value_parser = Samples::read)]
    pub(super) items: Option<Samples>,
    /// Options of the job, as JSON
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = json)]
    pub(super) options: Value,
    /// Name of the job type
    #[arg(long = "type", value_name = "NAME", default_value = "example")]
    pub(super) job_type: String,
    /// Mode of the batches; `run` has effects [default: validate, if the ping of the handler lists it]
    #[arg(long, value_name = "MODE")]
    pub(super) mode: Option<ModeArgument>,
    /// Name of the stack in the ping
    #[arg(long, value_name = "NAME", default_value = "longshore-check")]
    pub(super) stack: String,
    /// Maximum duration of a call
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = timeout)]
    timeout: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
    /// URL of an AWS emulator that has the function, to call instead of AWS
    #[arg(long, value_name = "URL")]
    pub(super) endpoint: Option<String>,
    /// Environment of the stack; `local` permits `localhost` and --local-roots
    #[arg(long, value_name = "NAME", hide = true, requires = "local_roots")]
    pub(super) environment: Option<String>,
    /// Root certificates of a local stack, in PEM
    #[arg(long, value_name = "FILE", hide = true, requires = "environment")]
    pub(super) local_roots: Option<PathBuf>,
}

/// Mode of the batches.
#[derive(Copy, Clone, Eq, PartialEq, Debug, ValueEnum)]
pub(super) enum ModeArgument {
    /// Process the items, with effects
    Run,
    /// Check the items, without an effect
    Validate,
}

impl ModeArgument {
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Run => Mode::Run,
            Self::Validate => Mode::Validate,
        }
    }
}

impl Options {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }
}

/// Reads a number of seconds in the range of registrations.
fn timeout(text: &str) -> Result<u32, String> {
    let seconds = text.parse().ok().filter(|seconds| TIMEOUT_SECONDS.contains(seconds));
    seconds.ok_or_else(|| format!("use {} to {}, as in a registration", TIMEOUT_SECONDS.start(), TIMEOUT_SECONDS.end()))
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::timeout;

    #[test]
    fn a_check_can_have_the_time_out_of_every_registration() {
        for (text, expected) in
            [("1", Some(1)), ("110", Some(110)), ("0", None), ("111", None), ("x", None), ("-1", None)]
        {
            assert_eq!(timeout(text).ok(), expected, "{text}");
        }
    }
}
