//! Test support: an AWS emulator with the system's resources, and faults.

pub mod harness;
