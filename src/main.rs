//! The `spokewright` command. All it does is call [`spokewright::cli`].

fn main() {}
