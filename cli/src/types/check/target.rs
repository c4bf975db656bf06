//! The handler that is checked: an HTTPS endpoint or the alias of a Lambda function.

use std::fmt;

/// A handler, as the command line names it.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum Target {
    /// The URL of an endpoint, which is not checked further here.
    Https(String),
    /// An alias of a function.
    Lambda(AliasArn),
}

/// The ARN of an alias.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct AliasArn(String);

impl Target {
    /// Parses an argument.
    ///
    /// # Errors
    /// Returns the reason, and how to write it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("arn:") {
            return AliasArn::parse(text).map(Self::Lambda);
        }
        if text.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) {
            return Ok(Self::Https(text.to_owned()));
        }
        Err("a handler is an https:// URL or the ARN of a Lambda alias".to_owned())
    }
}

impl AliasArn {
    fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<_> = text.split(':').collect();
        let alias = match parts[..] {
            ["arn", partition, "lambda", region, account, "function", name, alias]
                if partition.starts_with("aws") && ![region, account, name, alias].contains(&"") =>
            {
                alias
            }
            ["arn", _, "lambda", _, _, "function", _] => {
                return Err("the ARN names no alias: add `:` and the alias to its end, so that a deployment of the \
                            function can be tested before jobs use it"
                    .to_owned());
            }
            _ => return Err("write it as arn:aws:lambda:REGION:ACCOUNT:function:NAME:ALIAS".to_owned()),
        };
        if alias == "$LATEST" || alias.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("{alias} is a version: name an alias, which can be moved to the next version"));
        }
        Ok(Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
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
            (&arn("invite"), "no alias"),
            (&arn("invite:7"), "is a version"),
            (&arn("invite:$LATEST"), "is a version"),
            (&arn("invite:"), "write it as"),
            (&arn(":live"), "write it as"),
            ("arn:aws:sqs:eu-west-1:123456789012:function:a:b", "write it as"),
        ] {
            assert!(Target::parse(text).unwrap_err().contains(reason), "{text}");
        }
    }
}
