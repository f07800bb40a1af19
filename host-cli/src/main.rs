//! The `vouch` command.

fn main() {}
