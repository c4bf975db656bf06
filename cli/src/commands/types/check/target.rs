//! The handler that is checked: an HTTPS endpoint or the alias of a Lambda function.

use std::fmt;

use longshore_domain::registration::FunctionAlias;

/// A handler, as the command line names it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum Target {
    /// The URL of an endpoint, which is not checked further here.
    Https(String),
    /// An alias of a function.
    Lambda(FunctionAlias),
}

impl Target {
    /// Parses an argument.
    ///
    /// # Errors
    /// Returns the reason, and how to write it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("arn:") {
            return FunctionAlias::parse(text).map(Self::Lambda).map_err(|error| error.to_string());
        }
        if text.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) {
            return Ok(Self::Https(text.to_owned()));
        }
        Err("a handler is an https:// URL or the ARN of a Lambda alias".to_owned())
    }
}

/// Writes the target without a query, which may hold a secret.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Https(url) => f.write_str(url.split(['?', '#']).next().unwrap_or_default()),
            Self::Lambda(arn) => f.write_str(arn.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_an_https_url_or_an_alias() {
        let arn = |end: &str| format!("arn:aws:lambda:eu-west-1:123456789012:function:{end}");
        let Ok(Target::Lambda(alias)) = Target::parse(&arn("invite:live")) else { panic!() };
        assert_eq!(alias.as_str(), arn("invite:live"));
        assert_eq!(Target::parse("https://a.example/b?key=1").unwrap().to_string(), "https://a.example/b");
        for (text, reason) in [
            ("http://a.example", "https://"),
            ("invite", "https://"),
            (&arn("invite"), "names no alias"),
            (&arn("invite:7"), "number of a version"),
            (&arn("invite:$LATEST"), "is not an alias"),
            (&arn("invite:"), "must be the ARN of an alias"),
            (&arn(":live"), "must be the ARN of an alias"),
            ("arn:aws:sqs:eu-west-1:123456789012:function:a:b", "must be the ARN of an alias"),
        ] {
            assert!(Target::parse(text).unwrap_err().contains(reason), "{text}");
        }
    }
}
