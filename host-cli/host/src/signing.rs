//! Keys, signatures of `.vimg` files, and the packages that devices store
//! (`docs/formats/package.md`).
//!
//! A signed file ends with a signature chunk: the header of the package, which the device checks, and
//! a second signature over all of the file before the chunk, so that what explains the model to a
//! host is covered too.

use crate::blast::debug::{self, DebugError};
use ed25519_dalek::{Signer, SigningKey};
use std::fmt::Write;
use vouch_core::image::Preamble;
use vouch_core::link::store::StoreError;
use vouch_device::package::{self, HEADER_LEN, Header, Kind, Product};
use vouch_device::{Release, Trust};

pub use vouch_device::package::PublicKey;

/// Marks the signature chunk.
const MAGIC: [u8; 4] = *b"VSIG";
/// That of the chunk is that of the package's header in it.
const VERSION: u16 = package::VERSION;
/// Bytes before a chunk's payload.
const CHUNK_HEADER: usize = 16;
/// Bytes of the signature over the file.
const SIGNATURE: usize = 64;
/// What the signature over the file begins with, so that it cannot be taken for another one.
const FILE_CONTEXT: &[u8] = b"vouch file 1\0";

const SECRET_TITLE: &str = "vouch-secret-key 1";
const PUBLIC_TITLE: &str = "vouch-public-key 1";

/// Why a key or a signature is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningError {
    /// The system gives no random numbers.
    #[error("this system gives no random numbers: {0}")]
    Random(String),
    /// A file that holds no key.
    #[error(
        "this is not a {0} key\nhelp: `vouch keygen -o KEY` writes KEY (secret) and KEY.pub (public)"
    )]
    NotAKey(&'static str),
    /// The secret key where the public one is wanted.
    #[error(
        "this is the secret key\nhelp: give the public one, which ends in .pub, and keep this one safe"
    )]
    Secret,
    /// The file is not a usable image.
    #[error("{0}")]
    File(#[from] DebugError),
    /// There is no signature.
    #[error("it is not signed\nhelp: sign it with `vouch compile MODEL --sign KEY`")]
    Unsigned,
    /// Something follows the signature, or it is malformed.
    #[error("its signature is malformed, or data was added after it")]
    Malformed,
    /// The device would refuse the package.
    #[error("{}", describe(.0))]
    Package(StoreError),
    /// It was signed with another key.
    #[error(
        "it was signed with key {}, and the given key is {}\n\
         help: verify it with the signer's public key",
        fingerprint(signed),
        fingerprint(given)
    )]
    OtherKey {
        /// The signer's fingerprint, as the file names it.
        signed: [u8; 8],
        /// The fingerprint of the key that was given.
        given: [u8; 8],
    },
    /// The image is right, but what explains it was changed.
    #[error("what follows the image is not what was signed")]
    Explanation,
}

/// A key that signs.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// A new one.
    pub fn generate() -> Result<SecretKey, SigningError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|e| SigningError::Random(e.to_string()))?;
        Ok(SecretKey(SigningKey::from_bytes(&seed)))
    }

    /// Reads a key file.
    pub fn read(text: &str) -> Result<SecretKey, SigningError> {
        let bytes = read(text, SECRET_TITLE).ok_or(SigningError::NotAKey("secret"))?;
        Ok(SecretKey(SigningKey::from_bytes(&bytes)))
    }

    /// The text of its file.
    pub fn write(&self) -> String {
        write(SECRET_TITLE, self.0.as_bytes())
    }

    /// The public key that goes with it.
    pub fn public(&self) -> PublicKey {
        self.0.verifying_key().to_bytes()
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }
}

/// Reads a public key's file.
pub fn read_public(text: &str) -> Result<PublicKey, SigningError> {
    if read(text, SECRET_TITLE).is_some() {
        return Err(SigningError::Secret);
    }
    let key = read(text, PUBLIC_TITLE).ok_or(SigningError::NotAKey("public"))?;
    if package::is_key(&key) { Ok(key) } else { Err(SigningError::NotAKey("public")) }
}

/// The text of a public key's file.
pub fn write_public(key: &PublicKey) -> String {
    write(PUBLIC_TITLE, key)
}

fn write(title: &str, bytes: &[u8]) -> String {
    let hex = bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    });
    format!("{title}\n{hex}\n")
}

fn read(text: &str, title: &str) -> Option<[u8; 32]> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let hex = lines.next().filter(|line| *line == title).and_then(|_| lines.next())?;
    if hex.len() != 64 || !hex.is_ascii() || lines.next().is_some() {
        return None;
    }
    let mut key = [0; 32];
    for (i, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    Some(key)
}

/// A product's name: 32 hexadecimal digits, or a text of at most 16 bytes.
pub fn read_product(text: &str) -> Result<Product, String> {
    let mut product = Product::default();
    let digits: Option<Vec<u8>> =
        (0..16).map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()).collect();
    match digits.filter(|_| text.len() == 32) {
        Some(digits) => product.copy_from_slice(&digits),
        None => match product.get_mut(..text.len()).filter(|_| !text.is_empty()) {
            Some(start) => start.copy_from_slice(text.as_bytes()),
            None => return Err("give 1 to 16 characters, or 32 hexadecimal digits".into()),
        },
    }
    Ok(product)
}

/// A product as people are told of it; nothing if there is none.
pub fn show_product(product: &Product) -> Option<String> {
    let end = product.iter().rposition(|byte| *byte != 0)? + 1;
    let text = std::str::from_utf8(&product[..end]).ok();
    let text = text.filter(|text| text.chars().all(|c| c.is_ascii_graphic() || c == ' '));
    let hex = || product.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(text.map_or_else(hex, str::to_owned))
}

/// A key as people are told of it.
pub fn fingerprint(id: &[u8; 8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file with a signature at its end, in place of one that is there.
pub fn sign(
    file: &[u8],
    key: &SecretKey,
    counter: u32,
    release: Release,
) -> Result<Vec<u8>, SigningError> {
    let (image, _) = debug::split(file)?;
    let body = match signature(file)? {
        Some((body, _)) => body,
        None => file,
    };
    let header = Header { release, ..Header::unsigned(image, counter) };
    let header = header.sign(&key.public(), |bytes| key.sign(bytes));
    let whole = key.sign(&whole(body));
    let payload = [&header.to_bytes()[..], &whole].concat();
    Ok([body, &debug::chunk(MAGIC, VERSION, &payload)].concat())
}

/// What the signature over a file's body signs.
fn whole(body: &[u8]) -> Vec<u8> {
    [FILE_CONTEXT, &package::sha256(body)].concat()
}

/// A file without its signature chunk, and that chunk's payload.
type Parts<'f> = (&'f [u8], &'f [u8]);

/// The parts of a file, if it is signed. Checksums were checked before.
fn signature(file: &[u8]) -> Result<Option<Parts<'_>>, SigningError> {
    let image = Preamble::read(file).map_err(DebugError::Image)?.total as usize;
    let mut at = image;
    let cut = SigningError::File(DebugError::Truncated);
    while at < file.len() {
        let head = file.get(at..at + CHUNK_HEADER).ok_or(cut.clone())?;
        let length = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        let start = at + CHUNK_HEADER;
        let payload = file.get(start..).and_then(|f| f.get(..length)).ok_or(cut.clone())?;
        if head[..4] == MAGIC {
            let version = head[4..8] == [1, 0, 0, 0] || head[4..8] == [VERSION as u8, 0, 0, 0];
            let header = Header::read(payload).ok().filter(|h| h.version == u16::from(head[4]));
            let exact = header.is_some_and(|h| h.len() + SIGNATURE == length);
            let last = start + length == file.len();
            return match version && exact && last {
                true => Ok(Some((&file[..at], payload))),
                false => Err(SigningError::Malformed),
            };
        }
        at = start + length;
    }
    Ok(None)
}

/// Whether all of a file is what the key's owner signed; what its header says.
pub fn verify(file: &[u8], key: &PublicKey) -> Result<Header, SigningError> {
    let (image, _) = debug::split(file)?;
    let (body, payload) = signature(file)?.ok_or(SigningError::Unsigned)?;
    let (header, over_file) =
        payload.split_last_chunk::<SIGNATURE>().ok_or(SigningError::Malformed)?;
    let checked = package::check(&[header, image].concat(), &[*key], Trust::Signed, &|| {});
    let checked = checked.map_err(|error| match (error, Header::read(header)) {
        (StoreError::OtherKey, Ok(header)) => {
            SigningError::OtherKey { signed: header.key, given: package::key_id(key) }
        }
        (error, _) => SigningError::Package(error),
    })?;
    package::verify(key, &whole(body), over_file).map_err(|_| SigningError::Explanation)?;
    Ok(checked.header)
}

/// What a device stores of a file: the image after its header, which is without a signature if the
/// file is.
pub fn to_package(file: &[u8]) -> Result<(Header, Vec<u8>), SigningError> {
    let (image, _) = debug::split(file)?;
    let unsigned = Header::unsigned(image, 0).to_bytes();
    let head = match signature(file)? {
        Some((_, payload)) => payload.get(..payload.len() - SIGNATURE).unwrap_or_default(),
        None => &unsigned,
    };
    let header = Header::read(head).map_err(SigningError::Package)?;
    Ok((header, [head, image].concat()))
}

/// The package by which `key` has `other` trusted by devices, or not any more.
pub fn about_key(kind: Kind, other: &PublicKey, counter: u32, key: &SecretKey) -> [u8; HEADER_LEN] {
    Header::about_key(kind, other, counter, &key.public(), |bytes| key.sign(bytes)).to_bytes()
}

/// The header of a file that is a package about a key.
pub fn is_about_key(file: &[u8]) -> Option<Header> {
    Header::read(file).ok().filter(|h| h.kind != Kind::Model && file.len() == HEADER_LEN)
}

/// What is wrong with a stored model or a package, and what to do.
pub fn describe(error: &StoreError) -> String {
    match error {
        StoreError::NoStore => "this board keeps no models".into(),
        StoreError::Empty => {
            "no model is stored on it\nhelp: store one with `vouch flash M.vimg`".into()
        }
        StoreError::Flash => "its flash could not be written, or is worn out".into(),
        StoreError::TooLarge { needed, available } => {
            format!("the package has {needed} bytes, and there is room for {available}")
        }
        StoreError::NoUpdate | StoreError::BadOffset { .. } => {
            "the update was interrupted\nhelp: try again".into()
        }
        StoreError::NotAPackage | StoreError::Length => "this is not a package".into(),
        StoreError::Version(found) => {
            format!("the package has version {found}, version {} or 1 is expected", package::VERSION)
        }
        StoreError::Hash => "the image is not the one that was signed".into(),
        StoreError::Unsigned => "the model is not signed, and this firmware asks for a signature\n\
             help: sign it with `vouch compile MODEL --sign KEY`"
            .into(),
        StoreError::NoKey => "no key was provisioned\n\
             help: set the device's key, once, with `vouch provision KEY.pub`"
            .into(),
        StoreError::OtherKey => "it was signed with a key that the device does not trust\n\
             help: sign it with a key that the device has, or add this one with `vouch rekey`"
            .into(),
        StoreError::Signature => "the signature is wrong".into(),
        StoreError::Rollback { offered, floor } => format!(
            "its security counter is {offered}, and {floor} is the lowest that is accepted\n\
             help: sign a newer version with `--counter {floor}` or more"
        ),
        StoreError::CounterFull => "the security counter has risen as often as it can\n\
             help: sign with the same counter as the model before"
            .into(),
        StoreError::Provisioned => {
            "it has a key already, which can only be changed by erasing the \
             key's page with a debugger"
                .into()
        }
        StoreError::Image(error) => format!("the image cannot be used there: {error}"),
        StoreError::CounterDamaged => "the log of the security counter is damaged: which models are too old is \
             not known\nhelp: store the model again that was stored last, or erase the key's page with a \
             debugger and provision the device again"
            .into(),
        StoreError::KeysFull => "it has had as many keys as it can\n\
             help: erase the key's page with a debugger and provision the device again"
            .into(),
        StoreError::KeyInUse => "that key is needed: it signed the model in use, one that the device may come \
             back to, or this very package\n\
             help: first add another key, store a model that is signed with it, and restart the device until \
             that is confirmed"
            .into(),
        StoreError::TooMany => "there were too many updates since the device has started\n\
             help: restart it and try again"
            .into(),
        StoreError::OtherProduct => "it is for another product than this device\n\
             help: sign it for this one with `vouch compile MODEL --sign KEY --product ID`"
            .into(),
        StoreError::Memory => "there is not enough memory left to check a signature".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{Language, Source};

    fn file() -> Vec<u8> {
        let text = "machine m { var x: bool = false; initial state A { else { x = x; } } \
                    property p: always !x; }";
        let source = Source { path: "m.vch".into(), text: text.into() };
        let loaded =
            crate::pipeline::compile(source, Language::Vch, &crate::pipeline::Options::default());
        loaded.map(|l| l.to_file()).unwrap_or_default()
    }

    #[test]
    fn keys_come_back_from_their_files() {
        let key = SecretKey::generate().unwrap();
        let again = SecretKey::read(&key.write()).unwrap();
        assert_eq!(key.public(), again.public());
        assert_eq!(read_public(&write_public(&key.public())), Ok(key.public()));
        assert_eq!(read_public(&key.write()), Err(SigningError::Secret));
        let cut = &key.write()[..50];
        for text in ["", "x", PUBLIC_TITLE, cut, "vouch-public-key 1\nzz\n", "\u{e9}"] {
            assert!(read_public(text).is_err() && SecretKey::read(text).is_err(), "{text}");
        }
    }

    /// As `docs/formats/package.md` has them: whoever changes this gives them a new version.
    #[test]
    fn keys_and_signatures_have_these_bytes() {
        let key = SecretKey(SigningKey::from_bytes(&[0xa5; 32]));
        let digits = "a5".repeat(32);
        assert_eq!(key.write(), format!("vouch-secret-key 1\n{digits}\n"));
        assert_eq!(write_public(&[0xa5; 32]), format!("vouch-public-key 1\n{digits}\n"));
        let body = file();
        let signed = sign(&body, &key, 3, Release::default()).unwrap();
        let (head, payload) = signed[body.len()..].split_at(16);
        assert_eq!(head[..12], *b"VSIG\x02\0\0\0\xd0\0\0\0");
        let (header, over_file) = payload.split_last_chunk::<64>().unwrap();
        assert_eq!(header.len(), 144);
        let image = debug::split(&body).unwrap().0;
        assert_eq!(
            header[..80],
            Header::signed(image, 3, &key.public(), |_| [0; 64]).to_bytes()[..80]
        );
        assert_eq!(header[80..], key.sign(&header[..80]));
        let covered = [&b"vouch file 1\0"[..], &package::sha256(&body)].concat();
        assert_eq!(*over_file, key.sign(&covered));
    }

    #[test]
    fn every_flipped_bit_of_a_signed_file_is_noticed() {
        let key = SecretKey(SigningKey::from_bytes(&[5; 32]));
        let signed = sign(&file(), &key, 3, Release::default()).unwrap();
        let header = verify(&signed, &key.public()).unwrap();
        assert_eq!((header.counter, header.signed), (3, true));
        // Readers of the image do not mind the signature.
        assert_eq!(debug::split(&signed).unwrap().0, debug::split(&file()).unwrap().0);
        for at in (0..signed.len() * 8).step_by(13) {
            let mut bad = signed.clone();
            bad[at / 8] ^= 1 << (at % 8);
            assert!(verify(&bad, &key.public()).is_err(), "bit {at}");
        }
        for bad in [file(), [&signed[..], &signed[signed.len() - 200..]].concat()] {
            assert!(verify(&bad, &key.public()).is_err());
        }
        let other = SecretKey(SigningKey::from_bytes(&[6; 32]));
        let wrong = verify(&signed, &other.public());
        let [signed_by, given] = [&key, &other].map(|key| package::key_id(&key.public()));
        assert_eq!(wrong, Err(SigningError::OtherKey { signed: signed_by, given }));
        // Signed anew by another, once.
        let again = sign(&signed, &other, 4, Release::default()).unwrap();
        assert_eq!(again.len(), signed.len());
        assert_eq!(verify(&again, &other.public()).map(|h| h.counter), Ok(4));
    }

    #[test]
    fn products_come_back_as_they_were_given() {
        for text in ["pump", "a", "0123456789abcdef", "00ff00ff00ff00ff00ff00ff00ff00ff"] {
            let product = read_product(text).unwrap();
            assert_eq!(show_product(&product).as_deref(), Some(text));
        }
        for text in
            ["", "0123456789abcdef0", "00ff00ff00ff00ff00ff00ff00ff00fg", "\u{e9}aaaaaaaaaaaaaaa"]
        {
            assert!(read_product(text).is_err(), "{text}");
        }
        assert_eq!(show_product(&[0; 16]), None);
    }

    /// A valid signature of one file's image with another's explanation.
    #[test]
    fn the_explanation_is_signed_too() {
        let key = SecretKey(SigningKey::from_bytes(&[5; 32]));
        let signed = sign(&file(), &key, 0, Release::default()).unwrap();
        let (body, payload) = signature(&signed).unwrap().unwrap();
        let added = debug::chunk(*b"XYZW", 1, b"hm");
        let mixed = [body, &added, &debug::chunk(MAGIC, VERSION, payload)].concat();
        assert_eq!(verify(&mixed, &key.public()), Err(SigningError::Explanation));
    }
}
