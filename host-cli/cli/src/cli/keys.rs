//! `vouch keygen`, `vouch rekey` and `vouch verify`: keys and signatures.

use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{bound, files};
use clap::{Args, ValueHint};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use vouch_device::package::{self, Header, key_id};
use vouch_host::read;
use vouch_host::signing::{self, PublicKey, SecretKey, SigningError, fingerprint};

/// Arguments of `keygen`.
#[derive(Args, Debug)]
pub struct KeygenArgs {
    /// The file for the secret key; the public key is written to KEY.pub. Neither is overwritten
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "KEY")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

/// Arguments of `rekey`.
#[derive(Args, Debug)]
pub struct RekeyArgs {
    /// The public key to trust
    #[arg(long, env = "VOUCH_ADD", hide_env = true, value_name = "KEY.pub")]
    #[arg(value_hint = ValueHint::FilePath)]
    #[arg(required_unless_present = "retire", conflicts_with = "retire")]
    pub add: Option<PathBuf>,
    /// The public key to stop trusting
    #[arg(long, env = "VOUCH_RETIRE", hide_env = true, value_name = "KEY.pub")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub retire: Option<PathBuf>,
    /// The secret key to sign with; the device must trust its public key
    #[arg(long, env = "VOUCH_SIGN", hide_env = true, value_name = "KEY")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub sign: PathBuf,
    /// The security counter: devices refuse a lower one than they had before
    #[arg(long, env = "VOUCH_COUNTER", hide_env = true, value_name = "NUMBER")]
    #[arg(default_value_t = 0)]
    pub counter: u32,
    /// The package's file
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "FILE.vkey")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The image (.vimg)
    #[arg(value_hint = ValueHint::FilePath)]
    pub image: PathBuf,
    /// The public key that it must be signed with
    #[arg(long, env = "VOUCH_KEY", hide_env = true, value_name = "KEY.pub")]
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "elf")]
    pub key: Option<PathBuf>,
    /// The linked program that it must be of, byte for byte where it matters
    #[arg(long, env = "VOUCH_ELF", hide_env = true, value_name = "FIRMWARE.elf")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub elf: Option<PathBuf>,
}

/// `vouch keygen`.
pub fn generate(args: &KeygenArgs, context: &mut Context) -> Result<u8, Failure> {
    let secret = &args.output;
    let mut name = OsString::from(secret);
    name.push(".pub");
    let public = PathBuf::from(name);
    for path in [secret, &public] {
        // Looked at first, so that a key is not left without its other half.
        if path.symlink_metadata().is_ok() {
            let message = format!(
                "{} already exists and was not overwritten: devices provisioned with it could no longer \
                 be updated\nhelp: name another file",
                path.display()
            );
            return Err(Failure::new(Kind::Output, message));
        }
    }
    let key = SecretKey::generate().map_err(|e| Failure::new(Kind::Output, e.to_string()))?;
    create(secret, &key.write(), true)?;
    create(&public, &signing::write_public(&key.public()), false)?;
    let id = fingerprint(&key_id(&key.public()));
    if context.json {
        let (secret, public) = (secret.display().to_string(), public.display().to_string());
        context::print(&json!({ "key": id, "secret": secret, "public": public }).to_string());
        return Ok(0);
    }
    context.print(&format!("key {id}: {} and {}", secret.display(), public.display()));
    context.note("keep the first one secret; devices get the second one with `vouch provision`");
    Ok(0)
}

/// Writes a file that is not there yet.
fn create(path: &Path, text: &str, secret: bool) -> Result<(), Failure> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if secret {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = secret;
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|e| Failure::new(Kind::Output, format!("cannot write {}: {e}", path.display())))
}

fn broken(path: &Path, error: &SigningError) -> Failure {
    Failure::new(Kind::Input, format!("{}: {error}", path.display()))
}

/// Reads a secret key.
pub fn secret(path: &Path) -> Result<SecretKey, Failure> {
    SecretKey::read(&files::read_text(path)?).map_err(|e| broken(path, &e))
}

/// Reads a public key.
pub fn public(path: &Path) -> Result<PublicKey, Failure> {
    signing::read_public(&files::read_text(path)?).map_err(|e| broken(path, &e))
}

/// Reads a file of bytes.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    read::file(path)
        .map_err(|e| Failure::new(Kind::Input, format!("cannot read {}: {e}", path.display())))
}

/// `vouch rekey`.
pub fn rekey(args: &RekeyArgs, context: &mut Context) -> Result<u8, Failure> {
    let key = secret(&args.sign)?;
    let (kind, path, what) = match (&args.add, &args.retire) {
        (Some(path), _) => (package::Kind::AddKey, path, "adds"),
        (None, Some(path)) => (package::Kind::RetireKey, path, "retires"),
        (None, None) => return Err(Failure::new(Kind::Input, "which key?")),
    };
    let other = public(path)?;
    if kind == package::Kind::RetireKey && other == key.public() {
        let message = "a key cannot retire itself: the device must trust at least one key\n\
                       help: sign with the key that replaces it";
        return Err(Failure::new(Kind::Input, message));
    }
    let bytes = signing::about_key(kind, &other, args.counter, &key);
    files::write(&args.output, &bytes, &[path, &args.sign])?;
    let [id, signer] = [other, key.public()].map(|key| fingerprint(&key_id(&key)));
    if context.json {
        let text =
            json!({ "key": id, "action": what, "signed_by": signer, "counter": args.counter });
        context::print(&text.to_string());
    } else {
        let output = args.output.display();
        context.print(&format!("{output}: {what} key {id}, signed with key {signer}"));
    }
    Ok(0)
}

/// `vouch verify`.
pub fn verify(args: &VerifyArgs, context: &mut Context) -> Result<u8, Failure> {
    let file = read_bytes(&args.image)?;
    let image = args.image.display();
    let mismatch = |e: String| Failure::new(Kind::Mismatch, format!("{image}: {e}"));
    let header = match &args.key {
        Some(key) => {
            Some(signing::verify(&file, &public(key)?).map_err(|e| mismatch(e.to_string()))?)
        }
        None => None,
    };
    let bound = match &args.elf {
        Some(elf) => Some(bound::verify(&file, &read_bytes(elf)?).map_err(mismatch)?),
        None => None,
    };
    if context.json {
        let hash = |h: Header| h.hash.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let text = json!({
            "signed": header.is_some(),
            "key": header.map(|h| fingerprint(&h.key)),
            "counter": header.map(|h| h.counter),
            "image_sha256": header.map(hash),
            "image_bytes": header.map(|h| h.length),
            "product": header.and_then(|h| signing::show_product(&h.release.product)),
            "firmware_version": header.map(|h| h.release.firmware),
            "same_code": bound.is_some(),
        });
        context::print(&text.to_string());
        return Ok(0);
    }
    if let Some(header) = header {
        let (id, counter) = (fingerprint(&header.key), header.counter);
        let mut text = format!("{image}: signed with key {id}, security counter {counter}");
        if let Some(product) = signing::show_product(&header.release.product) {
            text += &format!(", for {product}");
        }
        if header.release.firmware != 0 {
            text += &format!(", firmware version {}", header.release.firmware);
        }
        context.print(&text);
    }
    if let (Some(bytes), Some(elf)) = (bound, &args.elf) {
        let elf = elf.display();
        context.print(&format!("{image}: is of the code in {elf} ({bytes} bytes of it)"));
    }
    Ok(0)
}
