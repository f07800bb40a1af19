//! The boards that there is firmware for: `boards.toml`.

use serde::Deserialize;
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

/// How QEMU emulates a board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emulation {
    /// QEMU's program for its processor.
    pub program: String,
    /// What makes that emulate it.
    pub arguments: Vec<String>,
    /// Whether firmware can write its flash there.
    pub writes_flash: bool,
}

/// A board that firmware is built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name in `boards.toml`, as in `qemu:NAME`.
    pub name: String,
    /// Its processor, for people.
    pub processor: String,
    /// What the firmware is compiled for.
    pub triple: String,
    /// RAM in bytes.
    pub ram: u32,
    /// The part of it that the firmware reserves for its stack.
    pub stack: u32,
    /// Flash in bytes.
    pub flash: u32,
    /// Where its flash for models is, which is the last part of its flash.
    pub models: Range<u32>,
    /// The linker script of its firmware, from the top of the project.
    pub layout: String,
    /// How it is emulated.
    pub qemu: Emulation,
}

impl Board {
    /// The file name of its firmware.
    pub fn elf(&self) -> String {
        format!("vouch-{}.elf", self.name)
    }

    /// Where its flash begins.
    pub fn base(&self) -> u32 {
        self.models.end - self.flash
    }

    /// Arguments that make QEMU emulate it with what is in a file, count instructions, and keep its
    /// windows closed.
    pub fn arguments(&self, kernel: &Path) -> Vec<OsString> {
        let fixed = ["-display", "none", "-monitor", "none", "-icount", "shift=0", "-kernel"];
        let words = self.qemu.arguments.iter().map(OsString::from);
        words.chain(fixed.map(OsString::from)).chain([kernel.into()]).collect()
    }
}

/// A row of the file.
#[derive(Deserialize)]
struct Row {
    name: String,
    processor: String,
    target: String,
    layout: String,
    ram: u32,
    stack: u32,
    flash: u32,
    models: u32,
    qemu: Option<Emulation>,
    #[serde(default)]
    variants: Vec<Variant>,
}

/// Another build of a board's firmware.
#[derive(Deserialize)]
struct Variant {
    suffix: String,
    features: Vec<String>,
}

#[derive(Deserialize)]
struct Table {
    board: Vec<Row>,
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    // The file is part of the program; a test sees to it that it can be read.
    let table: Result<Table, _> = toml::from_str(include_str!("../../boards.toml"));
    table.map_or_else(|_| vec![], |table| table.board)
});

/// The boards that QEMU emulates, the default one first.
pub static BOARDS: LazyLock<Vec<Board>> =
    LazyLock::new(|| TABLE.iter().filter_map(board).collect());

fn board(row: &Row) -> Option<Board> {
    let qemu = row.qemu.clone()?;
    // Flash begins at a multiple of its size.
    let base = row.models - row.models % row.flash;
    Some(Board {
        name: row.name.clone(),
        processor: row.processor.clone(),
        triple: row.target.clone(),
        ram: row.ram,
        stack: row.stack,
        flash: row.flash,
        models: row.models..base + row.flash,
        layout: row.layout.clone(),
        qemu,
    })
}

/// The board of this name.
pub fn find(name: &str) -> Option<&'static Board> {
    BOARDS.iter().find(|b| b.name == name)
}

/// The firmware for debug probes that runs on a chip: the variant with a link over a probe of the board that the chip's name
/// begins with.
pub fn for_chip(chip: &str) -> Option<String> {
    let chip = chip.to_lowercase();
    let row = TABLE.iter().find(|row| chip.starts_with(&row.name))?;
    let variant =
        row.variants.iter().find(|variant| variant.features.iter().any(|f| f == "rtt"))?;
    Some(format!("{}-{}", row.name, variant.suffix))
}

/// All names, each with `prefix` before it, for messages.
pub fn names(prefix: &str) -> String {
    let names: Vec<String> = BOARDS.iter().map(|b| format!("`{prefix}{}`", b.name)).collect();
    names.join(", ")
}
