//! The `vouch` program. What it does is in the library; how it is asked and answers is in [`cli`].

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main())
}
