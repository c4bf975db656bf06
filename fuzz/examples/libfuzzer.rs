//! The binary that `cargo xtask fuzz` links with libFuzzer, whose `main` function calls this one.
//!
//! `LONGSHORE_FUZZ_TARGET` names the target to call.

#![no_main]

use std::ffi::c_int;
use std::sync::LazyLock;

static TARGET: LazyLock<fuzz::Target> = LazyLock::new(|| {
    let name = std::env::var(fuzz::VARIABLE).unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("{} names no target: {name:?}", fuzz::VARIABLE))
});

/// Runs one input. A panic cannot leave this function: it aborts the process, which libFuzzer reports as a crash.
#[expect(unsafe_code, reason = "libFuzzer is C++: it passes a pointer and a length")]
#[unsafe(no_mangle)]
pub extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> c_int {
    // SAFETY: libFuzzer guarantees `size` readable bytes; the pointer may be null if `size` is 0.
    let bytes = if size == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(data, size) } };
    (TARGET.call)(bytes);
    0
}
