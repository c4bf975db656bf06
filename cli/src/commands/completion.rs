//! `completion`: a script that completes commands in a shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

/// Options of `completion`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  longshore completion bash > ~/.local/share/bash-completion/completions/longshore
  longshore completion zsh > ~/.zfunc/_longshore       # with fpath+=~/.zfunc before compinit
  longshore completion fish > ~/.config/fish/completions/longshore.fish

Exit codes: 0 success, 2 wrong usage.")]
pub struct Options {
    /// Shell
    shell: Shell,
}

impl Options {
    /// Prints the script.
    pub fn print<C: CommandFactory>(&self) {
        // Not to standard output itself: the library panics if a pipe is closed.
        let mut script = Vec::new();
        generate(self.shell, &mut C::command(), "longshore", &mut script);
        print!("{}", String::from_utf8_lossy(&script));
    }
}
