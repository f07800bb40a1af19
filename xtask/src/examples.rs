//! `cargo xtask examples`: every example on every emulated board that it fits, however long it takes.
//!
//! `cargo xtask test` has the same suite do the quick ones.

use crate::boards;
use crate::{demo, firmware, project, setup, shell};
use anyhow::Result;

/// Runs the suite of examples with the slow ones included.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("examples", args)?;
    setup::run()?;
    firmware::build(&boards::emulated())?;
    shell::stage("host tool", demo::build_tool)?;
    shell::heading("examples");
    shell::run(
        shell::cargo()
            .current_dir(project::root())
            .args(["test", "--package", "vouch-tests", "--test", "all", "--", "examples::"])
            .env("VOUCH_FIRMWARE_DIR", project::firmware_out())
            .env("VOUCH_BIN", project::tool())
            .env("VOUCH_ALL_EXAMPLES", "1"),
    )
}
