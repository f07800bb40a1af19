//! `cargo xtask soak --minutes N`: the random suites with fresh seeds, for as long as one likes.
//!
//! What is checked is what the tests check with fixed seeds; the arguments are those of the program
//! `soak` in the tests' package.

use crate::{project, shell};
use anyhow::Result;

/// The task.
pub fn task(args: &[String]) -> Result<()> {
    if args.is_empty() {
        let usage = "`soak` needs `--minutes N`; also `--seed S`, `--jobs J`, `--kind K`, or \
                     `--replay KIND:SEED`.";
        return Err(shell::Usage(usage.into()).into());
    }
    let mut cargo = shell::cargo();
    cargo.current_dir(project::root());
    cargo.args(["run", "--quiet", "--release", "--package", "vouch-tests", "--bin", "soak", "--"]);
    shell::run(cargo.args(args))
}
