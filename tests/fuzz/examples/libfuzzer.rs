//! The binary that `cargo xtask fuzz` links with libFuzzer, which has the `main` function and calls this one.
//!
//! Which target it calls, `LONGSHORE_FUZZ_TARGET` says.

#![no_main]

use std::ffi::c_int;
use std::sync::LazyLock;

static TARGET: LazyLock<fuzz::Target> = LazyLock::new(|| {
    let name = std::env::var(fuzz::VARIABLE).unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("{} names no target: {name:?}", fuzz::VARIABLE))
});

/// One input. A panic cannot leave this function: it ends the process, which libFuzzer takes for a crash.
#[expect(unsafe_code, reason = "libFuzzer is C++: it passes a pointer and a length")]
#[unsafe(no_mangle)]
pub extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> c_int {
    // SAFETY: libFuzzer promises `size` readable bytes; of none the pointer may be null.
    let bytes = if size == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data, size) } };
    (TARGET.call)(bytes);
    0
}
