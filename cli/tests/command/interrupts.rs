//! Signals that end a command.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, sleep};
use std::time::Duration;

use tempfile::TempDir;

use super::jobs::{job, longshore};
use super::server::{Call, Server};

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
}

/// Waits until a condition holds.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let mut tries = (0..1_000).map(|_| sleep(Duration::from_millis(20)));
    assert!(holds() || tries.any(|()| holds()), "{what}");
}

/// Starts a command that watches a running job, and waits until it has read the job.
fn start(server: &Server, mut command: Command) -> Child {
    let before = server.calls(|call| call.name.clone()).len();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the job is not read", || server.calls(|call| call.name.clone()).len() > before);
    child
}

/// Returns true if a process of the test ignores SIGHUP, as one that `nohup` has started.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|ignored| u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1)
}

#[test]
fn a_signal_ends_the_wait_and_the_command_says_how_to_go_on() {
    let server = Server::start(|_: &Call| (200, job("running", 0)));
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // Elsewhere it depends on the terminal, which a test does not have.
        if signal == "HUP" && (ignores_hang_up() || !cfg!(target_os = "linux")) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let child = start(&server, longshore(&folder, &server, &["jobs", "watch", "j"]));
        send(signal, &child);
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        let error = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(code), "{signal}: {error}");
        assert!(error.contains("`longshore jobs watch j` waits for it"), "{signal}: {error}");
    }
}

/// The command has no terminal. Only Linux tells whether it ignores the signal; elsewhere the terminal decides.
#[test]
fn a_command_that_ignores_a_hangup_goes_on() {
    let server = Server::start(|_: &Call| (200, job("running", 0)));
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"trap "" HUP; exec "$0" "$@""#, env!("CARGO_BIN_EXE_longshore")]);
    shell.args(["jobs", "watch", "j", "--api-url", &server.url]).current_dir(folder.path());
    shell.env_remove("LONGSHORE_TOKEN").env("XDG_CONFIG_HOME", folder.path());
    let child = start(&server, shell);
    send("HUP", &child);
    let calls = || server.calls(|call| call.name.clone()).len();
    let before = calls();
    wait_until("the command has ended", || calls() > before + 1);
    send("INT", &child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

/// Starts a server that sends the begin of a file, and no more.
fn endless_file() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nrow,id\r\n").unwrap();
        // Until the client is gone.
        let _ = stream.read(&mut [0; 1]).is_ok();
    });
    url
}

fn files(folder: &TempDir) -> Vec<String> {
    let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
    files.map(|name| name.into_string().unwrap()).collect()
}

#[test]
fn a_terminated_download_leaves_no_part_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["jobs", "failures", "j", "--output", "failed.csv", "--api-url", &endless_file()]);
    longshore.current_dir(folder.path()).env_remove("LONGSHORE_TOKEN").env("XDG_CONFIG_HOME", folder.path());
    let child = longshore.stderr(Stdio::piped()).spawn().unwrap();
    wait_until("no file is written", || files(&folder).iter().any(|name| name.ends_with(".part")));
    send("TERM", &child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    assert_eq!(files(&folder), Vec::<String>::new());
}
