//! Sections, and what start-up code does with the variables in them: those that it is known to leave alone begin with whatever is in
//! memory, and of those that have a name of the program's own nobody knows here.

use super::attribute::Attributes;
use crate::c::start::Start;

/// Parts of names that toolchains and projects give to memory which keeps what it has over a reset.
const LEFT_ALONE: [&str; 17] = [
    "noinit",
    "no_init",
    "no-init",
    "uninit",
    "un_init",
    "noload",
    "no_load",
    "nozero",
    "no_zero",
    "noclear",
    "persist",
    "retain",
    "retention",
    "preserve",
    "backup",
    "bkp",
    "eeprom",
];

/// Sections that are never written.
const IN_FLASH: [&str; 5] = ["rodata", "srodata", "constdata", "text", "progmem"];

/// Sections that every linker script has start-up code fill.
const FILLED: [&str; 7] = ["data", "bss", "sdata", "sbss", "tdata", "tbss", "init_array"];

impl Attributes {
    /// It lies in a section of this name.
    pub(super) fn in_section(&mut self, name: &str) {
        self.start = self.start.max(start(name));
        // As Arm's linkers have it: `.ARM.__at_0x20001000`.
        if let Some((_, address)) = name.split_once("__at_") {
            let digits = address.trim_start_matches("0x").trim_start_matches("0X");
            let radix = if digits.len() < address.len() { 16 } else { 10 };
            self.at = u64::from_str_radix(digits, radix).ok().or(self.at);
        }
    }

    /// It lies at an address of its own.
    pub(super) fn lies_at(&mut self, address: u64) {
        self.start = self.start.max(Start::Unknown);
        self.at = Some(address);
    }
}

/// What a variable in a section begins with.
fn start(section: &str) -> Start {
    let name = section.to_ascii_lowercase();
    let first = name.strip_prefix('.').and_then(|rest| rest.split(['.', '$']).next());
    match first.unwrap_or("") {
        first if IN_FLASH.contains(&first) => Start::Initial,
        _ if LEFT_ALONE.iter().any(|part| name.contains(part)) => Start::Any,
        first if FILLED.contains(&first) => Start::Initial,
        _ => Start::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_start_up_code_does() {
        let left = ".noinit .noinit.log .uninit .uninitialized_data .persistent .bss.noinit .retained \
                    .RetentionRam .bss.NoInit .noload .data.$NOLOAD .backup_sram .bkpsram .rtc_noinit .eeprom";
        assert!(left.split_whitespace().all(|name| start(name) == Start::Any));
        let filled = ".data .bss .data.$RAM2 .bss.buffers .rodata.retained .progmem.data .text";
        assert!(filled.split_whitespace().all(|name| start(name) == Start::Initial));
        let unknown = [".ccmram", ".fastrun", ".dma_buffer", "RW_IRAM2", ".data_ccm", ".sram4"];
        assert!(unknown.iter().all(|name| start(name) == Start::Unknown));
    }

    #[test]
    fn names_may_have_an_address() {
        let at = |name: &str| {
            let mut attributes = Attributes::default();
            attributes.in_section(name);
            (attributes.at, attributes.start)
        };
        assert_eq!(at(".ARM.__at_0x20001000"), (Some(0x2000_1000), Start::Unknown));
        assert_eq!(at(".bss.ARM.__at_0x24000000"), (Some(0x2400_0000), Start::Initial));
        assert_eq!(at(".bss"), (None, Start::Initial));
    }
}
