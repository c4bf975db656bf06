//! Output of the commands: lines that nobody can read any more are dropped.
//!
//! The standard library's macros panic once the terminal is gone or the reader of a pipe has ended. A command that has
//! something to remove or to record must not end there, so these take their place in this crate.

macro_rules! print {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::write!(::std::io::stdout(), $($line)*);
    }};
}

macro_rules! println {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stdout(), $($line)*);
    }};
}

macro_rules! eprintln {
    ($($line:tt)*) => {{
        use ::std::io::Write as _;
        let _ = ::std::writeln!(::std::io::stderr(), $($line)*);
    }};
}
