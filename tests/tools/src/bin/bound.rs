//! `bound FIRMWARE-FOLDER` prints what it costs a board at boot to hash the code that was proved.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    return vouch_tests::bound::print(std::env::args().skip(1));
    #[cfg(not(unix))]
    {
        eprintln!("emulated boards need Unix sockets");
        ExitCode::from(2)
    }
}
