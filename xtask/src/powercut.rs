//! `cargo xtask powercut`: the power fails at every flash operation of an update, on an emulated board.
//!
//! The sweep itself is a test, which does only a part of it unless it is told to do all.

use crate::{boards, firmware, project, setup, shell};
use anyhow::Result;

/// Runs the whole power-cut sweep on the emulated micro:bit.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("powercut", args)?;
    setup::run()?;
    firmware::build(&[boards::named("microbit")?])?;
    shell::heading("every flash operation");
    shell::run(
        shell::cargo()
            .current_dir(project::root())
            .args(["test", "--package", "vouch-tests", "--test", "all", "--"])
            .args(["powercut::", "--nocapture"])
            .env("VOUCH_FIRMWARE_DIR", project::firmware_out())
            .env("VOUCH_POWERCUT", "all"),
    )
}
