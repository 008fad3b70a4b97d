//! The `spokewright` command. All it does is call [`cli`].

// Input never causes a panic, and only `cli` speaks; tests may do both.
#![cfg_attr(test, allow(clippy::get_unwrap, clippy::string_slice, clippy::unreachable))]

mod cli;

/// Reading makes a tree of small values, and musl's own allocator takes several times as long (docs/performance.md).
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
