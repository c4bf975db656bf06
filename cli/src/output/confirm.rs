//! The question before a command that creates something on a deployment.

use std::io::{IsTerminal, Write, stdin, stdout};

use anyhow::{Result, bail, ensure};

/// Asks the user whether to continue.
///
/// # Errors
/// Unless the answer is yes.
pub(crate) fn confirm() -> Result<()> {
    ensure!(stdin().is_terminal(), "cannot ask for confirmation, because standard input is not a terminal: pass --yes");
    print!("Continue? [y/N] ");
    stdout().flush()?;
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        bail!("canceled; nothing was created");
    }
    Ok(())
}
