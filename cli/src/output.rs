//! Output macros that ignore a closed output.
//!
//! The standard library's macros panic if the terminal has closed or the reader of a pipe has ended. A command that
//! still has to clean up or record results must not end there, so the commands replace those macros.

/// Writes to standard output; a closed one is ignored.
#[macro_export]
macro_rules! print {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::write!(::std::io::stdout(), $($line)*);
    }};
}

/// Writes to standard output, as a line; a closed one is ignored.
#[macro_export]
macro_rules! println {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stdout(), $($line)*);
    }};
}

/// Writes to standard error, as a line; a closed one is ignored.
#[macro_export]
macro_rules! eprintln {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stderr(), $($line)*);
    }};
}
