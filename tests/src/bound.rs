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
use vouch_host::frontend::c::COptions;
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::frontend::elf::reader::Elf;
use vouch_host::ir::Word;
use vouch_host::pipeline::{self, Loaded, Origin};
use vouch_host::signing;
use vouch_host::simplify::Passes;
use vouch_host::transport::qemu::{BOARDS, Board};

/// The model of a program, bound to its code and with a proof in it.
pub fn load(elf: &Path, entry: &str, init: Option<&str>, wanted: &Wanted) -> Loaded {
    let init = init.map(str::to_owned);
    load_with(elf, ElfOptions { entry: Some(entry.into()), init, ..ElfOptions::default() }, wanted)
}

/// The same of the example firmware, whose markers say what its step is.
pub fn own(elf: &Path, wanted: &Wanted) -> Loaded {
    load_with(elf, ElfOptions::default(), wanted)
}

fn load_with(elf: &Path, elf_options: ElfOptions, wanted: &Wanted) -> Loaded {
    let passes = wanted.places.then(Passes::for_guard);
    let options = pipeline::Options { elf: elf_options, passes, ..pipeline::Options::default() };
    let mut model = pipeline::load(elf, &options).unwrap_or_else(|e| panic!("{e}"));
    bind::bind(&mut model, wanted).unwrap_or_else(|e| panic!("{e}"));
    prove(&mut model);
    model
}

/// The model of a C file, bound to the program that it was compiled into.
pub fn load_source(
    file: &Path,
    c: COptions,
    elf: &Path,
    wanted: &Wanted,
) -> Result<Loaded, pipeline::LoadError> {
    let passes = wanted.places.then(Passes::for_guard);
    let options = pipeline::Options { c, passes, ..pipeline::Options::default() };
    let mut model = pipeline::load(file, &options)?;
    let program = Some(std::fs::read(elf).unwrap());
    bind::bind(&mut model, &Wanted { program, ..wanted.clone() })?;
    Ok(model)
}

/// Puts a proof into the image of a model.
pub fn prove(model: &mut Loaded) {
    let answer = Engine::default().run(&model.image, &Setup::default(), &mut |_| true).unwrap();
    assert!(answer.verdicts.iter().all(|v| *v == Verdict::Safe), "{:?}", answer.verdicts);
    model.image = certified::attach(&model.image, &answer.clauses).unwrap();
}

/// Whether a state fulfils the clauses of the certificate between two steps. It knows neither places nor the guard.
pub fn is_allowed(model: &Loaded, state: &[Word]) -> bool {
    let Origin::Program(binary) = &model.origin else { panic!("a program") };
    let step = binary.program.step.unwrap();
    let at = model.map.locations.iter().position(|l| *l == step).unwrap();
    let clauses = certified::clauses(&model.image).unwrap().unwrap();
    let holds = |lit: &u32| {
        let (var, bit) = model.map.bits[*lit as usize / 2];
        (state[var.index()] >> bit & 1 == 1) == lit.is_multiple_of(2)
    };
    clauses.iter().filter(|(l, _)| *l == at).all(|(_, lits)| lits.iter().any(holds))
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

/// Where a function or an object of a program lies.
pub fn place(elf: &Path, name: &str) -> Option<std::ops::Range<u32>> {
    let elf = Elf::read(&std::fs::read(elf).ok()?).ok()?;
    let object = elf.objects().iter().find(|object| object.shown() == name);
    elf.function_named(name).or(object).map(|symbol| symbol.start..symbol.end)
}

/// A model of something else that claims to be of so many bytes of a program, from a function on: to look at the code does not
/// depend on what the model is.
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

/// The same model, of no code.
pub fn unbound(image: &AlignedImage) -> AlignedImage {
    let clauses = certified::clauses(image).unwrap().unwrap_or_default();
    let builder = ImageBuilder::of(&image.view::<u16>().unwrap());
    let bare = ImageBuilder { program: None, ..builder }.build_as::<u16>().unwrap();
    certified::attach(&AlignedImage::new(&bare), &clauses).unwrap()
}

/// Prints what the self-check takes with more and less code to hash: the first argument is the folder of the firmware.
pub fn print(mut args: impl Iterator<Item = String>) -> ExitCode {
    let Some(folder) = args.next().map(PathBuf::from) else {
        eprintln!("bound FIRMWARE-FOLDER");
        return ExitCode::from(2);
    };
    println!("board\tguard\tcode_bytes\timage_bytes\tself_check\tguarded_step");
    for board in boards() {
        let elf = example(&folder, board);
        for (places, cover) in [(false, vec![]), (false, vec!["all".to_owned()]), (true, vec![])] {
            let model = own(&elf, &Wanted { cover, places, program: None });
            let Some(models) = product::models(board, &model.image) else { continue };
            let text = run(board, &flash_with(board, &elf, Some(&models)));
            let number = |before: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(before));
                line.and_then(|line| line.split(')').next()).unwrap_or("").to_owned()
            };
            let spec = bind::program(&model.image).unwrap().unwrap();
            let code: u32 = spec.spans.iter().map(|span| span.len).sum();
            let (check, step) = (number("cost: Some("), number("each step: Some("));
            let (name, guard, image) = (&board.name, u8::from(places), model.image.len());
            println!("{name}\t{guard}\t{code}\t{image}\t{check}\t{step}");
        }
    }
    ExitCode::SUCCESS
}

/// What [`boot`] is called with.
const USAGE: &str = "product BOARD FIRMWARE.elf IMAGE.vimg KEY.pub [NAME=VALUE | NAME^BIT]";

/// Boots an emulated board with a signed image in its flash, and passes on what it says. Before that a byte of a constant
/// can be set, or a bit of a function changed.
pub fn boot(args: impl Iterator<Item = String>) -> ExitCode {
    let args: Vec<String> = args.collect();
    match boot_with(&args) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn boot_with(args: &[String]) -> Result<String, String> {
    let [board, elf, image, key, change @ ..] = args else { return Err("".into()) };
    let board = BOARDS.iter().find(|b| b.name == *board).ok_or("there is no such board")?;
    let read = |path: &String| std::fs::read(path).map_err(|e| format!("{path}: {e}"));
    let key = String::from_utf8_lossy(&read(key)?).into_owned();
    let key = signing::read_public(&key).map_err(|e| e.to_string())?;
    let (_, package) = signing::to_package(&read(image)?).map_err(|e| e.to_string())?;
    let models = product::models_by(board, &key, &package).ok_or("the model does not fit")?;
    let mut flash = flash_with(board, Path::new(elf), Some(&models));
    for change in change {
        let (name, value, flips) = match (change.split_once('='), change.split_once('^')) {
            (Some((name, value)), _) => (name, value, false),
            (_, Some((name, bit))) => (name, bit, true),
            _ => return Err(format!("`{change}` is not a change")),
        };
        let value: u32 = value.parse().map_err(|e| format!("`{change}`: {e}"))?;
        let place = place(Path::new(elf), name).ok_or(format!("there is no `{name}`"))?;
        let at = place.start + if flips { value / 8 } else { 0 };
        let byte = at.checked_sub(board.base()).and_then(|at| flash.get_mut(at as usize));
        let byte = byte.filter(|_| place.contains(&at)).ok_or(format!("`{change}` is nowhere"))?;
        *byte = if flips { *byte ^ 1 << (value % 8) } else { value as u8 };
    }
    Ok(run(board, &flash))
}
