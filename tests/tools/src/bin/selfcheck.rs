//! `selfcheck FIRMWARE-FOLDER MODEL…` prints what the self-check at boot and the guard cost on the
//! emulated boards.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    return vouch_tests::selfcheck::print(std::env::args().skip(1));
    #[cfg(not(unix))]
    {
        eprintln!("emulated boards need Unix sockets");
        ExitCode::from(2)
    }
}
