//! Output macros that ignore a closed output.
//!
//! The standard library's macros panic if the terminal was closed or the reader of a pipe has exited. A command that
//! still has to clean up or to save results must not end there. The commands therefore use these macros instead.

/// Writes to standard output; ignores errors.
#[macro_export]
macro_rules! print {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::write!(::std::io::stdout(), $($line)*);
    }};
}

/// Writes a line to standard output; ignores errors.
#[macro_export]
macro_rules! println {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stdout(), $($line)*);
    }};
}

/// Writes a line to standard error; ignores errors.
#[macro_export]
macro_rules! eprintln {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stderr(), $($line)*);
    }};
}
