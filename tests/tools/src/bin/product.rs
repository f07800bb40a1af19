//! `product BOARD FIRMWARE.elf IMAGE.vimg KEY.pub [CHANGE]` boots an emulated board with a signed image in its flash.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    return vouch_tests::bound::boot(std::env::args().skip(1));
    #[cfg(not(unix))]
    {
        eprintln!("emulated boards need Unix sockets");
        ExitCode::from(2)
    }
}
