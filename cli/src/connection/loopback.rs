//! A server on the loopback interface that receives the redirect of the sign-in (RFC 8252, 7.3).

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use url::Url;

use crate::output::exit::{CommandError, Exit};

/// The ports that the template registers at Cognito, which accepts registered ports only, and HTTP only for
/// `localhost`.
/// <https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_CreateUserPoolClient.html>
pub const COGNITO_PORTS: [u16; 3] = [8976, 8977, 8978];

/// Time in which a browser sends its request, once it is connected.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of the request line.
const LINE_BYTES: u64 = 8 << 10;

/// A server that waits for the browser.
pub(super) struct Loopback {
    listeners: Vec<TcpListener>,
    redirect: String,
}

/// Redirect from the issuer.
#[derive(Debug, PartialEq)]
pub(super) enum Redirect {
    /// An authorization code.
    Code(String),
    /// A refusal, in the words of the issuer.
    Refused(String),
}

impl Loopback {
    /// Starts the server on the first free port that is registered at Cognito, or else on any port.
    pub(super) fn start(has_registered_ports: bool) -> Result<Self> {
        if !has_registered_ports {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let redirect = format!("http://127.0.0.1:{}/", listener.local_addr()?.port());
            return Self::new(vec![listener], redirect);
        }
        for port in COGNITO_PORTS {
            let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) else { continue };
            // A browser may try the IPv6 address of `localhost` first. There may be none, but no other program must have it.
            let other = match TcpListener::bind((Ipv6Addr::LOCALHOST, port)) {
                Err(error) if error.kind() == ErrorKind::AddrInUse => continue,
                other => other.ok(),
            };
            return Self::new(Some(listener).into_iter().chain(other).collect(), format!("http://localhost:{port}/"));
        }
        bail!("the ports {COGNITO_PORTS:?} are in use: end the programs that use them, or sign in with --token")
    }

    fn new(listeners: Vec<TcpListener>, redirect: String) -> Result<Self> {
        listeners.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        Ok(Self { listeners, redirect })
    }

    /// Returns the URL to which the issuer has to redirect.
    pub(super) fn redirect_url(&self) -> &str {
        &self.redirect
    }

    /// Waits for the redirect with this `state`. Other requests, such as one for an icon, are answered with 404.
    ///
    /// # Errors
    /// If it does not come in time.
    pub(super) fn wait(&self, state: &str, timeout: Duration) -> Result<Redirect> {
        let start = Instant::now();
        while start.elapsed() < timeout {
            for listener in &self.listeners {
                match listener.accept() {
                    Ok((stream, peer)) => {
                        if let Some(redirect) = answer(stream, peer, state) {
                            return Ok(redirect);
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error).context("cannot wait for the browser"),
                }
            }
            sleep(Duration::from_millis(50));
        }
        let reason =
            format!("nobody has signed in within {} minutes: run `longshore login` again", timeout.as_secs() / 60);
        Err(CommandError::new(Exit::NotSignedIn, reason).into())
    }
}

/// Answers one request. Returns the redirect if it was one; a broken connection is none.
fn answer(stream: TcpStream, peer: SocketAddr, state: &str) -> Option<Redirect> {
    let redirect = peer.ip().is_loopback().then(|| read(&stream, state)).flatten();
    let (status, text) = match &redirect {
        Some(Redirect::Code(_)) => ("200 OK", "You are signed in. You can close this page."),
        Some(Redirect::Refused(_)) => ("200 OK", "The sign-in was refused. See the command line."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let head = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer";
    let length = text.len();
    let _ =
        write!(&stream, "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}");
    redirect
}

fn read(stream: &TcpStream, state: &str) -> Option<Redirect> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(REQUEST_TIMEOUT)).ok()?;
    let mut reader = BufReader::new(std::io::Read::take(stream, LINE_BYTES));
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    // The rest of the request is read, so that the connection is not reset before the answer has arrived.
    let mut header = String::new();
    while reader.read_line(&mut header).is_ok_and(|length| length > 2) {
        header.clear();
    }
    parse(&line, state)
}

fn parse(line: &str, state: &str) -> Option<Redirect> {
    let path = line.strip_prefix("GET ")?.split(' ').next()?;
    let url = Url::parse("http://localhost").ok()?.join(path).ok()?;
    let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    // Only the answer to this command's request: another page could send a code of another user.
    if value("state").as_deref() != Some(state) {
        return None;
    }
    let refusal = value("error").map(|error| value("error_description").unwrap_or(error));
    refusal.map(Redirect::Refused).or_else(|| value("code").map(Redirect::Code))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn only_the_answer_to_this_request_is_taken() {
        let code = |code: &str| Some(Redirect::Code(code.to_owned()));
        for (line, expected) in [
            ("GET /?code=a%2Fb&state=s HTTP/1.1\r\n", code("a/b")),
            ("GET /?code=a&state=other HTTP/1.1\r\n", None),
            ("GET /?code=a HTTP/1.1\r\n", None),
            ("GET /favicon.ico HTTP/1.1\r\n", None),
            ("POST /?code=a&state=s HTTP/1.1\r\n", None),
            ("GET", None),
            ("GET /?error=access_denied&state=s HTTP/1.1\r\n", Some(Redirect::Refused("access_denied".to_owned()))),
            (
                "GET /?error=e&error_description=No+access&state=s HTTP/1.1\r\n",
                Some(Redirect::Refused("No access".into())),
            ),
        ] {
            assert_eq!(parse(line, "s"), expected, "{line}");
        }
    }

    #[test]
    fn the_browser_gets_an_answer_and_the_command_the_code() -> Result<()> {
        let loopback = Loopback::start(false)?;
        let address = loopback.redirect_url().trim_start_matches("http://").trim_end_matches('/').to_owned();
        let browser = std::thread::spawn(move || -> Result<Vec<String>> {
            let get = |path: &str| -> Result<String> {
                let mut stream = TcpStream::connect(&address)?;
                write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
                let mut answer = String::new();
                stream.read_to_string(&mut answer)?;
                Ok(answer)
            };
            Ok(vec![get("/favicon.ico")?, get("/?code=c&state=s")?])
        });
        assert_eq!(loopback.wait("s", Duration::from_secs(20))?, Redirect::Code("c".to_owned()));
        let answers = browser.join().expect("the browser has not panicked")?;
        assert!(answers[0].starts_with("HTTP/1.1 404") && answers[1].contains("You are signed in."), "{answers:?}");
        let error = loopback.wait("s", Duration::ZERO).unwrap_err();
        assert_eq!(crate::output::exit::exit_code(&error), Exit::NotSignedIn);
        Ok(())
    }
}
