//! The control of the device's checker is made of the model next to it.

use std::path::Path;
use vouch_host::pipeline;

#[test]
fn its_image_is_what_its_model_compiles_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../device/src");
    let loaded =
        pipeline::load(&folder.join("control.vch"), &pipeline::Options::default()).unwrap();
    let stored = folder.join("control.vimg");
    if std::env::var_os("VOUCH_BLESS").is_some() {
        std::fs::write(&stored, &loaded.image[..]).unwrap();
    }
    let stored = std::fs::read(stored).unwrap();
    assert!(
        stored == loaded.image[..],
        "run this test with VOUCH_BLESS=1 and look at the control's counts"
    );
}
