//! Why a boot must refuse, and how one is seen that has not.

use super::case;
use std::path::{Path, PathBuf};
use vouch_device::ram::RamFlash;
use vouch_device::{Store, Trust};
use vouch_host::transport::qemu::Board;

/// Why a boot must refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The signature is by another key, under the name of the right one.
    Forged,
    /// The image is not the one that was signed.
    Tampered,
    /// The package is signed by another key and says so.
    Stranger,
    /// There is no signature.
    Unsigned,
    /// The counter says that it is too old.
    Old,
    /// The package is for another product.
    Product,
    /// All is right but the model: it breaks a property.
    Broken,
    /// The same with a certificate, which is not one of this model.
    Miscertified,
    /// The same as an update that is on trial.
    Trial,
    /// The model is of other code than the board runs.
    Recoded,
    /// The model is of no code, and has to be.
    Unbound,
    /// Somebody wants to set the first key where there is one.
    SecondKey,
    /// Somebody wants a key to be trusted, in the name of a key that is.
    ForgedKey,
}

/// All of them.
pub const KINDS: [Kind; 13] = [
    Kind::Forged,
    Kind::Tampered,
    Kind::Stranger,
    Kind::Unsigned,
    Kind::Old,
    Kind::Product,
    Kind::Broken,
    Kind::Miscertified,
    Kind::Trial,
    Kind::Recoded,
    Kind::Unbound,
    Kind::SecondKey,
    Kind::ForgedKey,
];

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// The example whose model is of no code.
    Guarded,
    /// The example whose model is of its own code.
    Bound,
    /// The reference firmware, which answers at its port.
    Session,
}

impl Program {
    pub(super) fn file(self, folder: &Path, board: &Board) -> PathBuf {
        let name = match self {
            Program::Guarded => "guarded",
            Program::Bound => "bound",
            Program::Session => "vouch",
        };
        folder.join(format!("{name}-{}.elf", board.name))
    }
}

/// What only a slot has whose model has passed its trial.
const CONFIRMED: &[u8] = b"VOUCH: It Was Confirmed!";

impl Kind {
    /// As it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Forged => "forged",
            Kind::Tampered => "tampered",
            Kind::Stranger => "stranger",
            Kind::Unsigned => "unsigned",
            Kind::Old => "old",
            Kind::Product => "product",
            Kind::Broken => "broken",
            Kind::Miscertified => "miscertified",
            Kind::Trial => "trial",
            Kind::Recoded => "recoded",
            Kind::Unbound => "unbound",
            Kind::SecondKey => "second-key",
            Kind::ForgedKey => "forged-key",
        }
    }

    /// Whether it can be tried on a board. What ends in something that is written needs flash that can be, which the
    /// Cortex-M3 in QEMU lacks: a Cortex-M4 takes its place there.
    pub fn is_for(self, board: &Board) -> bool {
        let writes = matches!(self, Kind::Trial | Kind::SecondKey | Kind::ForgedKey);
        if writes { board.qemu.writes_flash } else { board.name != "mps2-an386" }
    }

    pub(super) fn program(self) -> Program {
        match self {
            Kind::Recoded | Kind::Unbound => Program::Bound,
            Kind::SecondKey | Kind::ForgedKey => Program::Session,
            _ => Program::Guarded,
        }
    }

    /// What a boot says that refuses for this reason.
    pub(super) fn refusal(self) -> &'static str {
        match self {
            Kind::Broken | Kind::Miscertified => "decision: Refuse",
            Kind::Trial => "trial of precharge: Unsafe",
            Kind::Recoded => "self-check: Unknown(CodeDiffers)",
            Kind::Unbound => "self-check: Unknown(Unbound)",
            Kind::SecondKey => "Refused(Store(Provisioned))",
            Kind::ForgedKey => "Refused(Store(Signature))",
            _ => "no model: ",
        }
    }

    /// Whether a boot has said what one that refuses does not. What is looked for is what no constant of the firmware
    /// has beside it: with an instruction skipped it may print them all.
    pub(super) fn is_bypass(self, text: &str) -> bool {
        let is_signed = matches!(self, Kind::Broken | Kind::Miscertified | Kind::Trial);
        match self.program() {
            Program::Guarded => {
                let accepted = !is_signed && says(text, "model: precharge, ");
                accepted || says(text, "application started: precharge")
            }
            Program::Bound => says(text, "start 1"),
            Program::Session => false,
        }
    }

    /// Whether a boot that has refused said something else before.
    pub(super) fn is_misreport(self, text: &str) -> bool {
        // A model that was selected without its trial is checked nevertheless.
        let selected = self == Kind::Trial && says(text, "model: precharge, ");
        selected || says(text, "decision: Start") || says(text, "decision: Degraded")
    }

    /// Whether the flash for models, as a boot has left it, shows that it did not refuse.
    pub(super) fn is_bypass_in(self, models: &[u8]) -> bool {
        let has = |what: &[u8]| models.windows(what.len()).any(|bytes| bytes == what);
        match self {
            Kind::Trial => has(CONFIRMED) && is_confirmed(models),
            Kind::SecondKey | Kind::ForgedKey => has(case::thief().verifying_key().as_bytes()),
            _ => false,
        }
    }
}

/// Whether the next start would find a model that has passed its trial: the mark alone is not enough, as a processor that is
/// lost may copy it anywhere.
fn is_confirmed(models: &[u8]) -> bool {
    let mut flash = RamFlash::new(vec![u32::MAX; models.len() / 4]);
    flash.bytes_mut().copy_from_slice(models);
    Store::new(flash, Trust::Signed).find().is_ok_and(|stored| stored.confirmed)
}

/// Whether a line begins so.
fn says(text: &str, start: &str) -> bool {
    text.lines().any(|line| line.starts_with(start))
}
