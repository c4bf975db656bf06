//! The architecture of the functions: AWS charges their time by it.

/// Architecture of the functions of a stack.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Architecture {
    /// 64-bit Arm.
    Arm64,
    /// 64-bit x86.
    X86_64,
}

impl Architecture {
    /// Returns the architecture for which this binary is compiled. All functions of a stack have the same one.
    pub const fn of_this_binary() -> Self {
        if cfg!(target_arch = "x86_64") { Self::X86_64 } else { Self::Arm64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_that_of_the_binary() {
        let is_x86_64 = std::env::consts::ARCH == "x86_64";
        assert_eq!(Architecture::of_this_binary() == Architecture::X86_64, is_x86_64);
    }
}
