//! The architectures of Lambda's machines.

/// An architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Architecture {
    /// Graviton.
    Arm64,
    /// Intel and AMD.
    X86,
}

impl Architecture {
    pub(crate) const ALL: [Self; 2] = [Self::Arm64, Self::X86];

    /// Returns the architecture of this machine.
    pub(crate) const fn host() -> Self {
        if cfg!(target_arch = "aarch64") { Self::Arm64 } else { Self::X86 }
    }

    /// Returns the name in the template's parameter.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Arm64 => "arm64",
            Self::X86 => "x86_64",
        }
    }

    /// Returns the option of cargo-lambda.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Arm64 => "--arm64",
            Self::X86 => "--x86-64",
        }
    }

    /// Returns the name of the target in Rust.
    pub(super) const fn target(self) -> &'static str {
        match self {
            Self::Arm64 => "aarch64-unknown-linux-gnu",
            Self::X86 => "x86_64-unknown-linux-gnu",
        }
    }
}
