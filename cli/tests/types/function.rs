//! Lambda functions, played by a server that imitates Invoke.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

use super::handler;
use super::run::Checked;

const ARN: &str = "arn:aws:lambda:eu-west-1:123456789012:function:invite:live";

/// A response of Invoke: status, a header, the body.
type Invoked = (u16, &'static str, String);

/// Checks a function that returns so.
fn check(respond: impl Fn(&str, &Value) -> Invoked + Send + Sync + 'static) -> Checked {
    run(&start(move |stream| {
        let (path, message) = read(stream)?;
        write(stream, &respond(&path, &message))
    }))
}

/// Starts a server with a thread per connection. It runs until the test process ends.
fn start(serve: impl Fn(&TcpStream) -> Option<()> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(&stream.unwrap()));
        }
    });
    url
}

fn run(url: &str) -> Checked {
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["types", "check", ARN, "--json", "--endpoint", url]);
    Checked::new(&longshore.output().unwrap())
}

/// Reads the path and the payload of an invocation.
fn read(stream: &TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    loop {
        line.clear();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        match line.trim_end().to_ascii_lowercase().split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, serde_json::from_slice(&body).unwrap()))
}

fn write(mut stream: &TcpStream, (status, header, body): &Invoked) -> Option<()> {
    let head =
        format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n{header}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}

fn returned(message: &Value) -> Invoked {
    let response = handler::answer(message);
    match response.status {
        200 => (200, "x-a: b", String::from_utf8(response.body).unwrap()),
        _ => error("ValueError", "unknown schema"),
    }
}

fn error(kind: &str, message: &str) -> Invoked {
    let document = serde_json::json!({"errorType": kind, "errorMessage": message});
    (200, "x-amz-function-error: Unhandled", document.to_string())
}

#[test]
fn a_perfect_function_is_invoked_by_its_alias_and_has_no_finding() {
    let checked = check(|path, message| {
        assert!(path.contains("function%3Ainvite%3Alive/invocations"), "{path}");
        returned(message)
    });
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    assert_eq!((checked.code, checked.skipped()), (Some(0), vec!["content_type", "signature", "timestamp"]));
}

#[test]
fn a_function_error_is_explained() {
    for (kind, message, words) in [
        ("KeyError", "'email'", "failed with KeyError"),
        ("Runtime.ExitError", "RequestId: 1 Error: Runtime exited with error: signal: killed", "out of memory"),
        ("Sandbox.Timedout", "RequestId: 1 Error: Task timed out after 3.00 seconds", "its own time-out"),
    ] {
        let checked =
            check(move |_, request| if request["items"].is_null() { returned(request) } else { error(kind, message) });
        assert_eq!(checked.findings(), ["one_item failed call_failed"], "{:#}", checked.document);
        let summary = checked.check("one_item")["summary"].as_str().unwrap();
        assert!(summary.contains(words), "{summary}");
    }
}

/// The exit code is all that a script sees.
#[test]
fn a_function_that_fails_at_every_call_has_exit_code_1_and_gets_no_items() {
    let raises = error("RuntimeError", "a bad deployment of the handler");
    let garbage = (200, "x-a: b", r#"{"status":"done"}"#.to_owned());
    for invoked in [raises, garbage] {
        let checked = check(move |_, _| invoked.clone());
        assert_eq!((checked.code, &checked.document["verdict"]), (Some(1), &"failed".into()), "{:#}", checked.document);
        assert!(checked.skipped().contains(&"one_item"), "{:#}", checked.document);
    }
}

#[test]
fn throttling_is_busy_and_called_again() {
    let calls = AtomicU32::new(0);
    let checked = check(move |_, message| {
        if message["items"].as_array().is_some_and(|items| items.len() == 10)
            && calls.fetch_add(1, Ordering::SeqCst) == 0
        {
            let header = "x-amzn-errortype: TooManyRequestsException\r\nretry-after: 1";
            return (429, header, r#"{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded"}"#.into());
        }
        returned(message)
    });
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    assert_eq!(checked.check("batch")["notes"][0], "busy once before its answer");
}

#[test]
fn a_large_return_value_is_cut_off_while_it_is_read() {
    const BYTES: usize = 64 << 20;
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let url = start(move |mut stream| {
        let (_, message) = read(stream)?;
        if message["items"].as_array().is_none_or(|items| items.len() < 1_000) {
            return write(stream, &returned(&message));
        }
        stream.write_all(format!("HTTP/1.1 200 x\r\ncontent-length: {BYTES}\r\n\r\n").as_bytes()).ok()?;
        for _ in 0..BYTES / 65_536 {
            stream.write_all(&[b' '; 65_536]).ok()?;
            counted.fetch_add(65_536, Ordering::SeqCst);
        }
        Some(())
    });
    let checked = run(&url);
    assert_eq!(checked.findings(), ["large_batch failed answer_too_large"], "{:#}", checked.document);
    // The buffers of both sockets hold some MiB.
    assert!(sent.load(Ordering::SeqCst) < BYTES / 2);
}

#[test]
fn a_function_that_does_not_exist_cannot_be_reached() {
    let checked = check(|_, _| {
        let header = "x-amzn-errortype: ResourceNotFoundException";
        (404, header, r#"{"Type":"User","Message":"Function not found"}"#.into())
    });
    assert_eq!((checked.code, &checked.document["verdict"]), (Some(3), &"unreachable".into()));
    assert!(checked.errors.contains("ResourceNotFoundException: Function not found"), "{}", checked.errors);
}
