//! The `spokewright` command. All it does is call [`cli`].

// Input never causes a panic, and only `cli` speaks; tests may do both.
#![cfg_attr(test, allow(clippy::restriction))]
#![cfg_attr(
    test,
    warn(
        clippy::dbg_macro,
        clippy::exit,
        clippy::iter_over_hash_type,
        clippy::mem_forget
    )
)]
#![cfg_attr(test, warn(clippy::todo, clippy::unimplemented, clippy::unused_trait_names))]

mod cli;

/// Reading makes a tree of small values, and musl's own allocator takes several times as long (docs/performance.md).
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
