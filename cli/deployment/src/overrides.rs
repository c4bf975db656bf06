//! Parses the text of `--parameter-overrides` as `sam deploy` does.

use anyhow::{Context, Result};

use crate::template::Parameters;

/// Parses `A=1 B='2 3'` and `ParameterKey=A,ParameterValue=1`, any number of pairs per text. The last value of a name
/// wins.
///
/// # Errors
/// If a word has neither form. SAM would ignore it silently.
pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Parameters> {
    texts.into_iter().flat_map(|text| words(text.as_ref())).map(|word| pair(&word)).collect()
}

fn pair(word: &str) -> Result<(String, String)> {
    let spelled_out = word.strip_prefix("ParameterKey=").and_then(|rest| rest.split_once(",ParameterValue="));
    let (name, value) = spelled_out
        .or_else(|| word.split_once('='))
        .filter(|(name, _)| !name.is_empty())
        .with_context(|| format!("{word:?} is not NAME=VALUE; quote a value that contains spaces: NAME='a b'"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Splits a text into words and removes quotes. A quoted part can contain spaces; `\` escapes a space or a quote.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped = if c == '\\' { rest.next_if(|next| [' ', '"', '\''].contains(next)) } else { None };
        match (escaped.unwrap_or(c), quote) {
            (c, None) if escaped.is_none() && c.is_whitespace() => words.push(String::new()),
            (c @ ('"' | '\''), None) if escaped.is_none() => quote = Some(c),
            (c, Some(open)) if escaped.is_none() && c == open => quote = None,
            (c, _) => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Parameters {
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn one_quoted_argument_equals_several_arguments() -> Result<()> {
        let expected = pairs([("Access", "open"), ("Environment", "small")]);
        assert_eq!(parse(["Environment=small Access=open"])?, expected);
        assert_eq!(parse(["Environment=small", "Access=open"])?, expected);
        assert_eq!(parse(["Access=oidc", "  Environment=small\n Access=open "])?, expected);
        let keys = "ParameterKey=Environment,ParameterValue=small ParameterKey=Access,ParameterValue=open";
        assert_eq!(parse([keys])?, expected);
        assert_eq!(parse([""])?, Parameters::new());
        Ok(())
    }

    #[test]
    fn quotes_and_escapes_keep_a_value_together() -> Result<()> {
        let expected = pairs([("OidcScope", "openid email"), ("SignInDomain", "")]);
        for scope in ["'openid email'", "\"openid email\"", "openid\\ email"] {
            assert_eq!(parse([format!("OidcScope={scope} SignInDomain=''")])?, expected, "{scope}");
        }
        Ok(())
    }

    #[test]
    fn a_word_that_is_not_a_pair_is_refused() {
        for text in ["OidcScope=openid email", "=small", "file://parameters.yaml"] {
            assert!(parse([text]).is_err(), "{text}");
        }
    }
}
