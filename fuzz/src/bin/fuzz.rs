//! libFuzzer's program. `VOUCH_FUZZ` says which target it works on.
#![no_main]

use std::sync::LazyLock;
use vouch_fuzz::Target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("VOUCH_FUZZ").unwrap_or_default();
    Target::named(&name).expect("VOUCH_FUZZ names a target")
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.run)(data));
