//! Images that are bound to the code of a program, and flash with that program in it.

use crate::emulator::{Emulator, flash_with};
use crate::product;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use vouch_core::ic3::Verdict;
use vouch_host::bind::{self, Wanted};
use vouch_host::blast::certified;
use vouch_host::engines::{Engine, Setup};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::frontend::elf::reader::Elf;
use vouch_host::pipeline::{self, Loaded};
use vouch_host::simplify::Passes;
use vouch_host::transport::qemu::{BOARDS, Board};

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

/// Boards whose example can be lifted: not what ARMv7E-M adds, and for RISC-V lifting its jump table does not end.
pub fn boards() -> impl Iterator<Item = &'static Board> {
    BOARDS.iter().filter(|board| ["microbit", "lm3s6965evb"].contains(&board.name.as_str()))
}

/// The example firmware of a board.
pub fn example(folder: &Path, board: &Board) -> PathBuf {
    folder.join(format!("bound-{}.elf", board.name))
}

/// A busy machine may emulate slowly.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the example firmware says with this flash.
pub fn run(board: &Board, flash: &[u8]) -> String {
    let mut emulator = Emulator::start(board, flash, false);
    emulator.text_until("done", PATIENCE).expect("it comes to its end")
}

/// Functions of the example that are bound besides the step, to have more bytes to hash.
const MORE: [&[&str]; 3] =
    [&[], &["bound::started"], &[".vector_table", "bound::__cortex_m_rt_main"]];

/// Prints what the self-check takes with more and less code to hash: the first argument is the folder of the firmware.
pub fn print(mut args: impl Iterator<Item = String>) -> ExitCode {
    let Some(folder) = args.next().map(PathBuf::from) else {
        eprintln!("bound FIRMWARE-FOLDER");
        return ExitCode::from(2);
    };
    println!("board\tcode_bytes\tspans\timage_bytes\tself_check");
    for board in boards() {
        let elf = example(&folder, board);
        for more in MORE {
            // Not every board has each of them.
            let file = std::fs::read(&elf).unwrap();
            let reader = Elf::read(&file).unwrap_or_else(|e| panic!("{}", e.0));
            let has = |name: &&&str| {
                let section = reader.sections().iter().any(|s| s.name == **name);
                section || reader.function_named(name).is_some()
            };
            let cover = more.iter().filter(has).map(|name| (*name).into()).collect();
            let model = load(&elf, "bound::step", None, &Wanted { cover, places: false });
            let spec = bind::program(&model.image).unwrap().unwrap();
            let bytes: u32 = spec.spans.iter().map(|span| span.len).sum();
            let models = product::models(board, &model.image).unwrap();
            let text = run(board, &flash_with(board, &elf, Some(&models)));
            let cost = text.lines().find_map(|line| line.strip_prefix("cost: Some("));
            let cost = cost.and_then(|line| line.split(')').next()).unwrap_or("");
            let (spans, image) = (spec.spans.len(), model.image.len());
            println!("{}\t{bytes}\t{spans}\t{image}\t{cost}", board.name);
        }
    }
    ExitCode::SUCCESS
}
