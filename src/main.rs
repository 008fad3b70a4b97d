//! The `spokewright` command. All it does is call [`cli`].

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
