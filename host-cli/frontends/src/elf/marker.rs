//! Markers: what the program says of itself, in a section that is not loaded (`docs/formats/marker.md`).

use super::reader::Unreadable;

/// The sections that records are in: of Rust, and of C.
pub const SECTIONS: [&str; 2] = [".vouch", ".debug_vouch"];
/// The section of properties, which is not flashed: it need not be one that is loaded.
pub const ALWAYS: &str = ".vouch.always";
/// What the copy of a property in that section is called, before the property's own name.
pub const COPY: &str = "__vouch_always_";

const MAGIC: &[u8] = b"vouch";
const VERSION: u8 = 1;

/// What something is marked as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// A function that is a step.
    Step,
    /// A function that is called before the first step.
    Init,
    /// A function that must return true between any two steps.
    Always,
    /// A function or static that is an input.
    Input,
    /// A static that is a parameter.
    Param,
    /// A function that handles an interrupt.
    Interrupt,
}

impl Mark {
    fn of(number: u8) -> Option<Mark> {
        use Mark::*;
        let all = [Step, Init, Always, Input, Param, Interrupt];
        all.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// As the attribute is called.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Step => "step",
            Mark::Init => "init",
            Mark::Always => "always",
            Mark::Input => "input",
            Mark::Param => "param",
            Mark::Interrupt => "interrupt",
        }
    }
}

/// A mark that the source puts on a function or static, found in the linked file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    /// What is marked as what.
    pub mark: Mark,
    /// Where it is; 0 if the linker has left it out.
    pub address: u32,
    /// How urgent an interrupt is.
    pub priority: u8,
    /// Bits of an input or parameter; 0 if the marker does not tell.
    pub width: u32,
    /// Whether these have a sign.
    pub signed: bool,
    /// The smallest value of a parameter.
    pub low: i64,
    /// The largest value of a parameter.
    pub high: i64,
    /// Its name in the source, with the modules that it is in.
    pub name: String,
}

impl Marker {
    /// The last part of its name.
    pub fn short(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }
}

/// The markers of a section.
pub fn read(mut bytes: &[u8]) -> Result<Vec<Marker>, Unreadable> {
    const BUILD: &str = "build it with the `vouch-marker`, or `vouch.h`, of this version of vouch";
    let wrong = |what: String| Unreadable(what, BUILD);
    let mut markers: Vec<Marker> = vec![];
    loop {
        // Linkers fill gaps between what comes from different files.
        while let [0, rest @ ..] = bytes {
            bytes = rest;
        }
        if bytes.is_empty() {
            return Ok(markers);
        }
        let damaged = || wrong(format!("section `{}` does not hold markers", SECTIONS[0]));
        let after = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
        let ([version, length @ ..], rest) = after.split_first_chunk::<3>().ok_or_else(damaged)?;
        if *version != VERSION {
            let what =
                format!("the program has markers of version {version}; this is for {VERSION}");
            return Err(wrong(what));
        }
        let length = usize::from(u16::from_le_bytes(*length));
        let (record, rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
        let marker = marker(record).ok_or_else(damaged)?;
        // C files that include the same header say the same.
        if !markers.contains(&marker) {
            markers.push(marker);
        }
        bytes = rest;
    }
}

fn marker(record: &[u8]) -> Option<Marker> {
    let ([mark, priority, width, _], rest) = record.split_first_chunk::<4>()?;
    let (address, rest) = rest.split_first_chunk::<4>()?;
    let (low, rest) = rest.split_first_chunk::<8>()?;
    let (high, name) = rest.split_first_chunk::<8>()?;
    Some(Marker {
        mark: Mark::of(*mark)?,
        address: u32::from_le_bytes(*address) & if matches!(*mark, 4 | 5) { !0 } else { !1 },
        priority: *priority,
        width: u32::from(width & 127),
        signed: width & 128 != 0,
        low: i64::from_le_bytes(*low),
        high: i64::from_le_bytes(*high),
        name: std::str::from_utf8(name).ok()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(version: u8, mark: u8, name: &str) -> Vec<u8> {
        let mut bytes = b"vouch".to_vec();
        bytes.push(version);
        bytes.extend((24 + name.len() as u16).to_le_bytes());
        bytes.extend([mark, 64, 136, 0]);
        bytes.extend(0x0800_0101u32.to_le_bytes());
        bytes.extend((-2i64).to_le_bytes());
        bytes.extend(10i64.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes
    }

    #[test]
    fn records_are_read_one_after_the_other() {
        let twice = record(1, 6, "app::tick");
        let bytes = [record(1, 1, "app::step"), vec![0, 0], twice.clone(), twice, vec![0]].concat();
        let markers = read(&bytes).ok().unwrap();
        assert_eq!(markers.len(), 2);
        assert_eq!((markers[0].mark, markers[0].short()), (Mark::Step, "step"));
        let tick = &markers[1];
        assert_eq!((tick.mark, tick.address, tick.priority), (Mark::Interrupt, 0x0800_0100, 64));
        assert_eq!((tick.width, tick.signed, tick.low, tick.high), (8, true, -2, 10));
    }

    #[test]
    fn what_is_cut_short_or_of_another_version_is_not_read() {
        let whole = [record(1, 1, "step"), record(1, 5, "LIMIT")].concat();
        let first = record(1, 1, "step").len();
        for len in (1..whole.len()).filter(|len| *len != first) {
            assert!(read(&whole[..len]).is_err(), "{len}");
        }
        let Err(Unreadable(what, help)) = read(&record(2, 1, "step")) else {
            panic!("it was read")
        };
        assert!(what.contains("version 2"), "{what}");
        assert!(help.contains("vouch-marker"), "{help}");
        assert!(read(&record(1, 7, "step")).is_err());
    }
}
