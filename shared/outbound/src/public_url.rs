//! URLs of public files, which anyone may name.

use std::fmt;

use url::Url;

use crate::local::LocalOnly;
use crate::policy::UrlPolicy;
use crate::url::{HandlerUrl, Origin, UrlError, check_text};

/// The rule for URLs of public files: `https`, any host with a domain, port 443.
#[derive(Clone, Debug)]
pub struct PublicUrls(UrlPolicy);

/// The URL of a public file, without its fragment.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub struct PublicUrl(HandlerUrl);

impl Default for PublicUrls {
    fn default() -> Self {
        Self(UrlPolicy::any_host())
    }
}

impl PublicUrls {
    /// Creates the rule of a local stack, which allows `localhost` and these ports, too.
    pub fn local(ports: &[u16], local: &LocalOnly) -> Self {
        Self(UrlPolicy::any_host().with_localhost(local).with_local_ports(ports, local))
    }

    /// Parses a URL and checks it.
    ///
    /// # Errors
    /// The first reason for which the URL is refused.
    pub fn parse(&self, text: &str) -> Result<PublicUrl, UrlError> {
        let without_fragment = text.split('#').next().unwrap_or_default();
        HandlerUrl::parse(without_fragment, &self.0).map(PublicUrl)
    }

    /// Parses the target of a redirect, which may be relative to the URL that answered it.
    pub(crate) fn redirected(&self, from: &PublicUrl, location: &str) -> Result<PublicUrl, UrlError> {
        check_text(location)?;
        let invalid = |error: url::ParseError| UrlError::Invalid(error.to_string());
        let base = Url::parse(&format!("https://{}{}", from.origin(), from.target())).map_err(invalid)?;
        self.parse(base.join(location).map_err(invalid)?.as_str())
    }
}

impl PublicUrl {
    pub(crate) fn origin(&self) -> &Origin {
        self.0.origin()
    }

    pub(crate) fn target(&self) -> &str {
        self.0.target()
    }
}

/// Writes the URL without its query, which may hold a secret.
impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> PublicUrl {
        PublicUrls::default().parse(text).expect(text)
    }

    #[test]
    fn any_host_with_a_domain_is_accepted_and_the_fragment_is_dropped() {
        for (text, expected) in [
            ("https://example.com/a.jpg", "https://example.com/a.jpg"),
            ("https://cdn.example.org:443/ä.jpg?w=1#top", "https://cdn.example.org/%C3%A4.jpg"),
            ("https://example.com/#@evil.test", "https://example.com/"),
        ] {
            assert_eq!(parsed(text).to_string(), expected);
        }
        assert_eq!(parsed("https://example.com/a?w=1#top").target(), "/a?w=1");
    }

    #[test]
    fn any_other_url_is_refused() {
        use UrlError::{HostName, HostNotAllowed, NotHttps, NumericHost, PortNotAllowed, UserInfo};
        for (text, expected) in [
            ("http://example.com/", NotHttps),
            ("file:///etc/passwd", NotHttps),
            ("#https://example.com/", NotHttps),
            ("https://127.0.0.1/", NumericHost),
            ("https://2852039166/latest/", NumericHost),
            ("https://[fd00:ec2::254]/", NumericHost),
            ("https://example.com:8443/", PortNotAllowed(8443)),
            ("https://user@example.com/", UserInfo),
            ("https://intranet/", HostName("intranet".into())),
            ("https://localhost/", HostNotAllowed("localhost".into())),
        ] {
            assert_eq!(PublicUrls::default().parse(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn the_target_of_a_redirect_is_resolved_and_then_checked_like_the_first_url() {
        let (rule, from) = (PublicUrls::default(), parsed("https://example.com/a/b.jpg?x=1"));
        for (location, expected) in [
            ("/c.jpg", "https://example.com/c.jpg"),
            ("c.jpg?y=2#z", "https://example.com/a/c.jpg"),
            ("../../../c", "https://example.com/c"),
            ("//cdn.example.org/c", "https://cdn.example.org/c"),
            ("HTTPS://cdn.example.org", "https://cdn.example.org/"),
            ("", "https://example.com/a/b.jpg"),
        ] {
            assert_eq!(rule.redirected(&from, location).map(|url| url.to_string()), Ok(expected.into()), "{location}");
        }
        for (location, expected) in [
            ("http://example.com/", UrlError::NotHttps),
            ("ftp://example.com/", UrlError::NotHttps),
            ("data:image/png,x", UrlError::NotHttps),
            ("//127.0.0.1/", UrlError::NumericHost),
            ("https://0x7f.1/", UrlError::NumericHost),
            ("//user:pass@example.com/", UrlError::UserInfo),
            ("//example.com:22/", UrlError::PortNotAllowed(22)),
            ("\\\\evil.test\\a", UrlError::Character('\\')),
            ("/a\tb", UrlError::Character('\t')),
        ] {
            assert_eq!(rule.redirected(&from, location), Err(expected), "{location}");
        }
    }
}
