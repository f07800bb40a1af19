//! `update FIRMWARE-FOLDER MODEL…` prints what storing a model costs on the emulated boards.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    return vouch_tests::update::print(std::env::args().skip(1));
    #[cfg(not(unix))]
    {
        eprintln!("emulated boards need Unix sockets");
        ExitCode::from(2)
    }
}
