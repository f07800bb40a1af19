//! Images that are bound to the code of a program, and flash with that program in it.

use crate::emulator::{Emulator, flash_with};
use crate::product;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use vouch_core::ic3::Verdict;
use vouch_core::image::{ImageBuilder, Isa, ProgramSpec, Span};
use vouch_host::bind::{self, Wanted};
use vouch_host::blast::{AlignedImage, certified};
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

/// Boards whose programs can be read: not what ARMv7E-M adds.
pub fn boards() -> impl Iterator<Item = &'static Board> {
    BOARDS.iter().filter(|board| board.name != "mps2-an386")
}

/// The step of the example firmware.
pub const STEP: &str = "bound::step";

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

/// A model of something else that claims to be of so many bytes of a program, from a function on. Lifting a whole firmware with
/// the engine in it takes too long; to look at the code does not depend on what the model is.
pub fn claim(image: &AlignedImage, elf: &Path, function: &str, len: u32) -> AlignedImage {
    let elf = Elf::read(&std::fs::read(elf).unwrap()).unwrap_or_else(|e| panic!("{}", e.0));
    let entry = elf.function_named(function).unwrap().start;
    let bytes = elf.in_flash(entry, len).unwrap();
    let program = ProgramSpec {
        isa: Isa::Armv6M,
        lifter: 1,
        entry,
        hash: vouch_device::package::sha256(&bytes),
        spans: vec![Span { start: entry, len }],
        steps: vec![],
        places: vec![],
    };
    let clauses = certified::clauses(image).unwrap().unwrap_or_default();
    let builder = ImageBuilder::of(&image.view::<u16>().unwrap());
    let bare = ImageBuilder { program: Some(program), ..builder }.build_as::<u16>().unwrap();
    certified::attach(&AlignedImage::new(&bare), &clauses).unwrap()
}

/// Prints what the self-check takes with more and less code to hash: the first argument is the folder of the firmware.
pub fn print(mut args: impl Iterator<Item = String>) -> ExitCode {
    let Some(folder) = args.next().map(PathBuf::from) else {
        eprintln!("bound FIRMWARE-FOLDER");
        return ExitCode::from(2);
    };
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/precharge.vch");
    let image = product::image(&model, true);
    println!("board\tcode_bytes\tself_check");
    for board in boards() {
        let elf = example(&folder, board);
        for len in [64, 64 + 2048, 64 + 8192] {
            let models = product::models(board, &claim(&image, &elf, STEP, len)).unwrap();
            let text = run(board, &flash_with(board, &elf, Some(&models)));
            let cost = text.lines().find_map(|line| line.strip_prefix("cost: Some("));
            let cost = cost.and_then(|line| line.split(')').next()).unwrap_or("");
            println!("{}\t{len}\t{cost}", board.name);
        }
    }
    ExitCode::SUCCESS
}
