//! A stack as CloudFormation describes it, and the commands that look at it.

use std::collections::BTreeMap;

use longshore_domain::timestamp::Timestamp;

/// A stack as CloudFormation describes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    /// Name.
    pub(crate) name: String,
    /// URL of an emulator; `None` for the account of the shell.
    pub(crate) endpoint: Option<String>,
    /// Status.
    pub(crate) status: String,
    /// Reason of the status.
    pub(crate) reason: Option<String>,
    /// Time at which the stack was created.
    pub(crate) created_at: Option<Timestamp>,
    /// Parameters by name.
    pub(crate) parameters: BTreeMap<String, String>,
    /// Root URL of the API, as the page's origin.
    pub(crate) api_url: Option<String>,
}

impl Stack {
    /// Returns a command of the AWS CLI.
    pub(crate) fn aws(&self, arguments: &str) -> String {
        match &self.endpoint {
            Some(url) => format!("aws --endpoint-url {url} {arguments}"),
            None => format!("aws {arguments}"),
        }
    }

    /// Returns the advice to list the dead letters. The local stack of a checkout, and its token, are found without
    /// options.
    pub(crate) fn dead_letters(&self) -> String {
        let list = "longshore dead-letters list";
        match (&self.endpoint, &self.api_url) {
            (None, Some(url)) => format!("with an operator's token in LONGSHORE_TOKEN: {list} --api-url {url}"),
            _ => list.to_owned(),
        }
    }

    /// Returns the command that shows the latest records of a log that match a pattern.
    pub(crate) fn log(&self, group: &str, pattern: &str) -> String {
        self.aws(&format!("logs tail {group} --since 1h --filter-pattern '{pattern}'"))
    }

    /// Returns the command that shows the latest calls of the API with this status, such as `5*`.
    pub(crate) fn calls_with(&self, status: &str) -> String {
        self.log(&format!("/aws/vendedlogs/{}-api", self.name), &format!(r#"{{ $.status = "{status}" }}"#))
    }

    /// Returns the command that shows the errors of a function: its own records, which are JSON, and the lines of text
    /// that are left by a crash or a time-out.
    pub(crate) fn errors_of(&self, function: &str) -> String {
        let pattern = r#"?"Task timed out" ?"Runtime exited" ?panicked ?ERROR"#;
        self.log(&format!("/aws/lambda/{function}"), pattern)
    }

    /// Returns a parameter; empty if the stack does not have it.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }

    /// Returns true for the stack of an emulator, which has neither metrics nor backups.
    pub(crate) fn is_local(&self) -> bool {
        self.parameter("Environment") == "local"
    }

    /// Returns true if the stack can call handlers of job types: the condition `CallsHandlers` of the template.
    pub(crate) fn calls_handlers(&self) -> bool {
        let is_set = |name: &&str| !self.parameter(name).is_empty();
        ["HandlerFunctions", "HandlerHosts", "LocalHandlerCa"].iter().any(is_set)
            || self.parameter("ImageJobs") == "true"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_letters_are_those_of_the_deployment_unless_it_is_local() {
        let stack = |endpoint: Option<&str>, api_url: Option<&str>| Stack {
            endpoint: endpoint.map(str::to_owned),
            api_url: api_url.map(str::to_owned),
            ..Stack::default()
        };
        let url = "https://api.example.com";
        let of_deployment = stack(None, Some(url)).dead_letters();
        assert!(of_deployment.ends_with(": longshore dead-letters list --api-url https://api.example.com"));
        for local in [stack(Some("http://127.0.0.1:4566"), Some(url)), stack(None, None)] {
            assert_eq!(local.dead_letters(), "longshore dead-letters list");
        }
    }

    #[test]
    fn calls_are_selected_by_their_status() {
        let stack = Stack { name: "shop".to_owned(), ..Stack::default() };
        let expected = r#"aws logs tail /aws/vendedlogs/shop-api --since 1h --filter-pattern '{ $.status = "5*" }'"#;
        assert_eq!(stack.calls_with("5*"), expected);
    }
}
