//! Tests of URLs: what is accepted, and the reason for each refusal.

use proptest::prelude::*;

use super::*;

fn policy() -> UrlPolicy {
    UrlPolicy::new(["api.example.com", "*.example.org", "xn--bcher-kva.example"], [8443]).unwrap()
}

fn refusal(text: &str) -> UrlError {
    HandlerUrl::parse(text, &policy()).expect_err(text)
}

#[test]
fn a_url_of_an_allowed_host_and_port_is_accepted() {
    for (text, host, port, target) in [
        ("https://api.example.com", "api.example.com", 443, "/"),
        ("HTTPS://API.Example.COM:443/hook", "api.example.com", 443, "/hook"),
        ("https://a.example.org:8443/a/../b?x=1&y=%20", "a.example.org", 8443, "/b?x=1&y=%20"),
        ("https://api.example.com?x", "api.example.com", 443, "/?x"),
        ("https://bücher.example/ä", "xn--bcher-kva.example", 443, "/%C3%A4"),
        ("https://BÜCHER.example/", "xn--bcher-kva.example", 443, "/"),
        ("https://api。example.com/", "api.example.com", 443, "/"),
    ] {
        let url = HandlerUrl::parse(text, &policy()).expect(text);
        assert_eq!((url.host(), url.port(), url.target()), (host, port, target), "{text}");
    }
}

#[test]
fn an_ip_address_is_refused_in_every_notation() {
    for host in [
        "127.0.0.1",
        "1.1.1.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0X7F.1",
        "017700000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "169.254.169.254",
        "0",
        "[::1]",
        "[::ffff:7f00:1]",
        "[::ffff:127.0.0.1]",
        "[fd00:ec2::254]",
        "[2606:4700:4700::1111]",
    ] {
        assert_eq!(refusal(&format!("https://{host}/")), UrlError::NumericHost, "{host}");
    }
    for host in ["256.0.0.1", "1.2.3.4.5", "0x100000000", "a.0x7f", "[::1%25eth0]", "[::1"] {
        assert!(matches!(refusal(&format!("https://{host}/")), UrlError::Invalid(_)), "{host}");
    }
}

#[test]
fn a_refusal_names_its_reason() {
    let name = |host: &str| UrlError::HostName(host.to_owned());
    let not_allowed = |host: &str| UrlError::HostNotAllowed(host.to_owned());
    for (text, error) in [
        ("", UrlError::NotHttps),
        ("http://api.example.com/", UrlError::NotHttps),
        ("ftp://api.example.com/", UrlError::NotHttps),
        ("https:api.example.com/", UrlError::NotHttps),
        ("https:/api.example.com/", UrlError::NotHttps),
        ("https:///api.example.com/", UrlError::NotHttps),
        ("https://", UrlError::NotHttps),
        ("https://ä", name("xn--4ca")),
        ("https://user@api.example.com/", UrlError::UserInfo),
        ("https://@api.example.com/", UrlError::UserInfo),
        ("https://:secret@api.example.com/", UrlError::UserInfo),
        ("https://api.example.com@evil.test/", UrlError::UserInfo),
        ("https://api.example.com/#part", UrlError::Fragment),
        ("https://api.example.com/#", UrlError::Fragment),
        ("https://evil.test/#@api.example.com/", UrlError::Fragment),
        ("https://api.example.com\\@evil.test/", UrlError::Character('\\')),
        ("https://api.exam\tple.com/", UrlError::Character('\t')),
        ("https://api.example.com/a b", UrlError::Character(' ')),
        ("https://api.example.com/\r\nx: y", UrlError::Character('\r')),
        (" https://api.example.com/", UrlError::Character(' ')),
        ("https://localhost/", not_allowed("localhost")),
        ("https://internal/", name("internal")),
        ("https://api.example.com./", name("api.example.com.")),
        ("https://-api.example.org/", name("-api.example.org")),
        ("https://example.org/", not_allowed("example.org")),
        ("https://evil.test/api.example.com", not_allowed("evil.test")),
        ("https://api.example.com.evil.test/", not_allowed("api.example.com.evil.test")),
        ("https://аpi.example.com/", not_allowed("xn--pi-6kc.example.com")),
        ("https://api.example.com:80/", UrlError::PortNotAllowed(80)),
        ("https://api.example.com:0/", UrlError::PortNotAllowed(0)),
        ("https://api.example.com:22/", UrlError::PortNotAllowed(22)),
    ] {
        assert_eq!(refusal(text), error, "{text}");
    }
    assert!(matches!(refusal("https://api.example.com:65536/"), UrlError::Invalid(_)));
    assert_eq!(refusal(&format!("https://api.example.com/{}", "a".repeat(URL_BYTES))), UrlError::TooLong);
    assert_eq!(
        refusal(&format!("https://{}.example.org/", "a".repeat(64))),
        name(&format!("{}.example.org", "a".repeat(64)))
    );
}

#[test]
fn a_refused_host_or_port_is_told_with_the_parameter_of_the_stack() {
    for (text, parameter) in
        [("https://example.org/", "HandlerHosts"), ("https://api.example.com:9443/", "HandlerPorts")]
    {
        let error = refusal(text).to_string();
        assert!(error.contains("Ask the owner") | error.contains("ask the owner"), "{error}");
        assert!(error.ends_with(&format!("to add it to the parameter {parameter}.")), "{error}");
    }
}

#[test]
fn a_url_is_shown_without_its_query() {
    let url = HandlerUrl::parse("https://api.example.com/hook?token=secret", &policy()).unwrap();
    assert_eq!(url.to_string(), "https://api.example.com/hook");
    assert_eq!(format!("{url:?}"), "HandlerUrl(https://api.example.com/hook)");
}

proptest! {
    #[test]
    fn an_accepted_url_names_an_allowed_host(text in "(https://)?[ -~äΩ１。\\t]{0,40}(example\\.(com|org))?[ -~]{0,20}") {
        if let Ok(url) = HandlerUrl::parse(&text, &policy()) {
            let host = url.host();
            prop_assert!(host == "api.example.com" || host.ends_with(".example.org") || host == "xn--bcher-kva.example");
            prop_assert!(url.port() == 443 || url.port() == 8443);
            prop_assert!(url.target().starts_with('/') && url.target().is_ascii());
        }
    }
}
