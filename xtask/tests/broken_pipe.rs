//! A command whose output is closed ends without a panic.

use std::process::{Command, Stdio};

use anyhow::Result;

#[test]
fn a_closed_output_does_not_panic() -> Result<()> {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    // This command is refused before it starts anything, and prints an error.
    xtask.args(["sim", "--from", "18446744073709551615", "--seeds", "1"]);
    let status = xtask.stdout(Stdio::null()).stderr(writer).status()?;
    assert_eq!(status.code(), Some(1));
    Ok(())
}
