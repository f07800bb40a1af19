//! Models that devices keep: signed, stored, checked where they lie.

use super::cli::{PUMP, pump};
use serde_json::Value;
use std::fs;
use vouch_host::transport::flash_file::FlashFile;

/// A device checks the certificate that it has stored, and need not search.
#[test]
fn a_stored_certificate_is_checked_again() {
    let place = pump();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traffic-lights.vch");
    let on = |args: &[&str]| {
        let device = ["--target", "sim", "--flash-file", "flash.bin"];
        place.run(&[args, &device].concat())
    };
    place.run(&["keygen", "-o", "key"]).ended(0);
    let compile = ["compile", source, "-o", "t.vimg", "--with-certificate", "--sign", "key"];
    place.run(&compile).ended(0);
    on(&["provision", "key.pub"]).ended(0);
    on(&["flash", "t.vimg"]).ended(0);
    let searched = on(&["run", "t.vimg", "--json"]).ended(0).json();
    assert!(searched["device"]["certificate_holds"].is_null(), "{searched}");
    let checked = on(&["run", "t.vimg", "--stored", "--json"]).ended(0).json();
    assert_eq!(checked["device"]["certificate_holds"], true, "{checked}");
    assert_eq!((&checked["verdict"], &checked["validated"]), (&"safe".into(), &true.into()));
    let queries = |outcome: &Value| outcome["queries"].as_u64().unwrap();
    assert!(queries(&checked) < queries(&searched), "{checked} {searched}");
    let said = on(&["run", "t.vimg", "--stored"]).ended(0).out;
    assert!(said.contains("the stored certificate, checked again on the device"), "{said}");
    // Its source compiles to an image without it.
    let other = on(&["run", source, "--stored"]).ended(5);
    assert!(other.err.contains("name the `.vimg` file that was stored"), "{}", other.err);
}

/// What is stored need not have been compiled before.
#[test]
fn sources_are_compiled_signed_and_stored() {
    let place = pump();
    let on = |args: &[&str]| {
        let device = ["--target", "sim", "--flash-file", "flash.bin"];
        place.run(&[args, &device].concat())
    };
    place.run(&["keygen", "-o", "key"]).ended(0);
    on(&["provision", "key.pub"]).ended(0);
    let unsigned = on(&["flash", "pump.vch"]).ended(5);
    assert!(unsigned.err.contains("the model is not signed"), "{}", unsigned.err);
    let flash = ["flash", "pump.vch", "--sign", "key", "--counter", "3", "--json"];
    let stored = on(&flash).ended(0).json();
    assert_eq!((&stored["counter"], &stored["signed"]), (&3.into(), &true.into()));
    let found = on(&["run", "pump.vch", "--stored", "--property", "bounded", "--json"]);
    assert_eq!(found.ended(0).json()["verdict"], "safe");
    // An image can be signed on the way, and is not compiled again.
    place.run(&["compile", "pump.vch", "-o", "pump.vimg"]).ended(0);
    let again = ["flash", "pump.vimg", "--sign", "key", "--counter", "4", "--json"];
    assert_eq!(on(&again).ended(0).json()["counter"], 4);
    for (option, value) in [("--init", "begin"), ("--cover", "main"), ("--elf", "pump.elf")] {
        let idle = on(&["flash", "pump.vimg", option, value]).ended(2);
        assert!(idle.err.contains(option), "{}", idle.err);
    }
    let broken = on(&["flash", "key.pub"]).ended(2);
    assert!(broken.err.contains("key.pub"), "{}", broken.err);
}

#[test]
fn keys_are_made_once_and_signatures_checked() {
    let place = pump();
    place.run(&["keygen", "-o", "key"]).ended(0);
    let (secret, public) = (place.bytes("key"), place.bytes("key.pub"));
    let again = place.run(&["keygen", "-o", "key"]).ended(2);
    assert!(again.err.contains("not overwritten"), "{}", again.err);
    fs::remove_file(place.path("key")).unwrap();
    place.run(&["keygen", "-o", "key"]).ended(2);
    assert_eq!(place.bytes("key.pub"), public);
    place.write("key", &secret);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        place.run(&["keygen", "-o", "other"]).ended(0);
        let mode = fs::metadata(place.path("other")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others may read the secret key");
    }
    place.run(&["compile", "pump.vch", "-o", "plain.vimg"]).ended(0);
    let signed = ["compile", "pump.vch", "-o", "pump.vimg", "--sign", "key", "--counter", "7"];
    place.run(&signed).ended(0);
    let good = place.run(&["verify", "pump.vimg", "--key", "key.pub", "--json"]).ended(0).json();
    assert_eq!(good["counter"], 7);
    place.run(&["verify", "plain.vimg", "--key", "key.pub"]).ended(5);
    place.run(&["verify", "pump.vimg", "--key", "other.pub"]).ended(5);
    let mut bad = place.bytes("pump.vimg");
    let last = bad.len() - 1;
    bad[last] ^= 1;
    place.write("bad.vimg", bad);
    place.run(&["verify", "bad.vimg", "--key", "key.pub"]).ended(5);
    place.run(&["verify", "pump.vch", "--key", "key.pub"]).ended(5);
    // The secret key is not for showing around.
    let secret = place.run(&["verify", "pump.vimg", "--key", "key"]).ended(2);
    assert!(secret.err.contains("secret"), "{}", secret.err);
    // A signed image is a model like any other.
    place.run(&["check", "pump.vimg", "--property", "bounded"]).ended(0);
}

#[test]
fn models_are_stored_and_used_where_they_lie() {
    let place = pump();
    let on = |args: &[&str]| {
        let device = ["--target", "sim", "--flash-file", "flash.bin"];
        place.run(&[args, &device].concat())
    };
    for key in ["key", "other"] {
        place.run(&["keygen", "-o", key]).ended(0);
    }
    let compile = |out: &str, key: &str, counter: &str| {
        let args = ["compile", "pump.vch", "-o", out, "--sign", key, "--counter", counter];
        place.run(&args).ended(0);
    };
    compile("one.vimg", "key", "1");
    compile("two.vimg", "key", "2");
    compile("foreign.vimg", "other", "3");
    place.run(&["compile", "pump.vch", "-o", "plain.vimg"]).ended(0);
    let no_key = on(&["flash", "one.vimg"]).ended(5);
    assert!(no_key.err.contains("vouch provision"), "{}", no_key.err);
    on(&["provision", "key.pub"]).ended(0);
    on(&["provision", "key.pub"]).ended(0);
    on(&["provision", "other.pub"]).ended(5);
    let empty = on(&["run", "one.vimg", "--stored"]).ended(4);
    assert!(empty.err.contains("no model is stored"), "{}", empty.err);
    on(&["flash", "one.vimg"]).ended(0);
    let stored = on(&["flash", "two.vimg", "--json"]).ended(0).json();
    assert_eq!((&stored["sequence"], &stored["counter"]), (&2.into(), &2.into()));
    // It is on trial until a start confirms it, and this device only starts to talk.
    assert_eq!(stored["confirmed"], false);
    for bad in ["foreign.vimg", "plain.vimg"] {
        on(&["flash", bad]).ended(5);
    }
    let args = ["run", "two.vimg", "--stored", "--property", "bounded", "--json"];
    let found = on(&args).ended(0).json();
    assert_eq!((&found["verdict"], &found["validated"]), (&"safe".into(), &true.into()));
    // Another model than the stored one.
    place.write("else.vch", PUMP.replace("machine pump", "machine fan"));
    on(&["run", "else.vch", "--stored"]).ended(5);
    // Another key is trusted as well, once the first one has said so.
    place.run(&["rekey", "--add", "other.pub", "--sign", "other", "-o", "own.vkey"]).ended(0);
    on(&["flash", "own.vkey"]).ended(5);
    place.run(&["rekey", "--add", "other.pub", "--sign", "key", "-o", "add.vkey"]).ended(0);
    let signed = on(&["flash", "add.vkey", "--sign", "key"]).ended(2);
    assert!(signed.err.contains("signed when it is made"), "{}", signed.err);
    on(&["flash", "add.vkey", "--init", "begin"]).ended(2);
    on(&["flash", "add.vkey", "--cover", "main"]).ended(2);
    let trusted = on(&["flash", "add.vkey", "--json"]).ended(0).json();
    assert_eq!(trusted["keys"].as_array().map(Vec::len), Some(2), "{trusted}");
    let retire = ["rekey", "--retire", "key.pub", "-o", "retire.vkey", "--sign"];
    place.run(&[&retire[..], &["key"]].concat()).ended(2);
    place.run(&[&retire[..], &["other"]].concat()).ended(0);
    let in_use = on(&["flash", "retire.vkey"]).ended(5);
    assert!(in_use.err.contains("that key is needed"), "{}", in_use.err);
    on(&["flash", "foreign.vimg"]).ended(0);
    // It is on trial: the device may come back to the other model, until there is none.
    let comes_back = on(&["flash", "retire.vkey"]).ended(5);
    assert!(comes_back.err.contains("may come back to"), "{}", comes_back.err);
    on(&["flash", "foreign.vimg"]).ended(0);
    let trusted = on(&["flash", "retire.vkey", "--json"]).ended(0).json();
    assert_eq!(trusted["keys"].as_array().map(Vec::len), Some(1), "{trusted}");
    on(&["flash", "two.vimg"]).ended(5);
    on(&["run", "foreign.vimg", "--stored", "--property", "bounded"]).ended(0);
    place.write("flash.bin", "short");
    on(&["run", "two.vimg", "--stored"]).ended(4);
}

/// Two at a time would lose what one of them has stored.
#[test]
fn the_file_of_a_flash_is_used_by_one_at_a_time() {
    let place = pump();
    let file = place.path("flash.bin");
    let on = |args: &[&str], file: &str| {
        place.run(&[args, &["--target", "sim", "--flash-file", file]].concat())
    };
    place.run(&["keygen", "-o", "key"]).ended(0);
    let held = FlashFile::open(&file).unwrap();
    let busy = on(&["provision", "key.pub"], "flash.bin").ended(4);
    assert!(busy.err.contains("in use by another vouch"), "{}", busy.err);
    drop(held);
    on(&["provision", "key.pub"], "flash.bin").ended(0);
    assert!(file.is_file() && !place.path("flash.bin.lock").exists());
    // Where nothing can be kept, nothing is promised.
    for nowhere in ["/dev/full", "no/flash.bin", "."] {
        let failed = on(&["provision", "key.pub"], nowhere).ended(4);
        assert!(failed.out.is_empty(), "{}", failed.out);
    }
}
