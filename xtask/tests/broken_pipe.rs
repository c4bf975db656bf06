//! A command whose output is closed ends normally, without a panic.

use std::process::{Command, Stdio};

use anyhow::Result;

#[test]
fn a_broken_pipe_is_no_panic() -> Result<()> {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    // Refused before anything is started, with a line on stderr.
    xtask.args(["sim", "--from", "18446744073709551615", "--seeds", "1"]);
    let status = xtask.stdout(Stdio::null()).stderr(writer).status()?;
    assert_eq!(status.code(), Some(1));
    Ok(())
}
