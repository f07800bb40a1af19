//! Images that are bound to the code of a program, and flash with that program in it.

use std::path::Path;
use vouch_core::ic3::Verdict;
use vouch_host::bind::{self, Wanted};
use vouch_host::blast::certified;
use vouch_host::engines::{Engine, Setup};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::frontend::elf::reader::Elf;
use vouch_host::pipeline::{self, Loaded};
use vouch_host::simplify::Passes;

/// The model of a program, bound to its code and with a proof in it.
pub fn load(elf: &Path, entry: &str, init: Option<&str>, wanted: &Wanted) -> Loaded {
    let init = init.map(str::to_owned);
    let elf_options = ElfOptions { entry: Some(entry.into()), init, ..ElfOptions::default() };
    let passes = wanted.places.then(Passes::none);
    let options = pipeline::Options { elf: elf_options, passes, ..pipeline::Options::default() };
    let mut model = pipeline::load(elf, &options).unwrap_or_else(|e| panic!("{e}"));
    bind::bind(&mut model, wanted).unwrap_or_else(|e| panic!("{e}"));
    let answer = Engine::default().run(&model.image, &Setup::default(), &mut |_| true).unwrap();
    assert!(answer.verdicts.iter().all(|v| *v == Verdict::Safe), "{:?}", answer.verdicts);
    model.image = certified::attach(&model.image, &answer.clauses).unwrap();
    model
}

/// What is in flash once the program was flashed, from the lowest address on; blank where nothing is.
pub fn flash(elf: &Path) -> (u32, Vec<u8>) {
    let elf = Elf::read(&std::fs::read(elf).unwrap()).unwrap_or_else(|e| panic!("{}", e.0));
    let segments = || elf.segments().iter().filter(|segment| !segment.bytes.is_empty());
    let start = segments().map(|s| s.load).min().unwrap();
    let end = segments().map(|s| s.load + s.bytes.len() as u32).max().unwrap();
    let mut bytes = vec![0xff; (end - start) as usize];
    for segment in segments() {
        let at = (segment.load - start) as usize;
        bytes[at..at + segment.bytes.len()].copy_from_slice(&segment.bytes);
    }
    (start, bytes)
}
