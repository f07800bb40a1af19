//! The example firmware `bound`: its own step is lifted from its own program, proved, stored, and looked at by the board that
//! runs it. Without `VOUCH_FIRMWARE_DIR` there is nothing to test.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vouch_core::image::ImageBuilder;
use vouch_device::boot::{Decision, Mode, SelfCheck, Verdict, Why, check};
use vouch_device::code::{Bytes, Code};
use vouch_host::bind::{self, Wanted};
use vouch_host::blast::{AlignedImage, certified};
use vouch_host::check::{self as host, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::elf::{Cell, Slot};
use vouch_host::ir::Word;
use vouch_host::judge::Question;
use vouch_host::pipeline::{self, Loaded, Origin};
use vouch_host::transport::qemu::Board;
use vouch_host::verdict;
use vouch_tests::bound::{boards, example, flash, is_allowed, own, place, run};
use vouch_tests::emulator::{Emulator, flash_with};
use vouch_tests::product;
use vouch_tests::rng::Rng;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
    }
    folder
}

/// A program with an engine in it is large; nothing of it but the step matters.
const SOON: Duration = Duration::from_secs(10);

fn verdict(elf: &Path) -> (verdict::Verdict, Loaded) {
    let start = Instant::now();
    let model = pipeline::load(elf, &pipeline::Options::default()).unwrap();
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    let verdict = host::check(&model, &request, by, &mut |_| {}).unwrap().judgement.verdict();
    let took = start.elapsed();
    eprintln!("{}: {verdict:?} in {took:?}", elf.display());
    assert!(took < SOON, "{took:?}");
    (verdict, model)
}

#[test]
fn firmware_with_an_engine_in_it_is_decided() {
    let Some(folder) = folder() else { return };
    for board in boards() {
        let (found, model) = verdict(&example(&folder, board));
        assert_eq!(found, verdict::Verdict::Safe, "{}", board.name);
        let names: Vec<&str> = model.cfa.vars.iter().map(|var| var.name.as_str()).collect();
        for name in ["TANK.state", "TANK.level", "TANK.fill", "TANK.drain", "LIMIT"] {
            assert!(names.contains(&name), "{}: {name} is not among {names:?}", board.name);
        }
    }
    let (found, _) = verdict(&folder.join("bound-broken-lm3s6965evb.elf"));
    assert_eq!(found, verdict::Verdict::Unsafe);
}

/// What a device with this flash does, as its library does it.
fn boot(image: &AlignedImage, start: u32, bytes: &[u8], limit: u64) -> (Verdict, Decision) {
    let memory = Bytes { start, bytes };
    let what = SelfCheck {
        mode: Mode::RecheckOnly,
        parameters: &[("LIMIT", limit)],
        code: Code::Required(&memory),
        ..SelfCheck::default()
    };
    let view = image.view::<u16>().unwrap();
    let outcome = check(&view, &what, &mut vec![0; 20_000], &mut || {});
    (outcome.verdict, outcome.decision)
}

/// Every bit of the bound code, and the code of another build.
#[test]
fn changed_bits_of_its_code_are_refused() {
    let Some(folder) = folder() else { return };
    let refused = (Verdict::Unknown(Why::CodeDiffers), Decision::Refuse);
    let mut tried = 0;
    for board in boards() {
        let elf = example(&folder, board);
        let model = own(&elf, &Wanted::default());
        let (start, bytes) = flash(&elf);
        assert_eq!(boot(&model.image, start, &bytes, 16), (Verdict::Safe, Decision::Start));
        let spec = bind::program(&model.image).unwrap().unwrap();
        let step = place(&elf, "bound::step").unwrap();
        assert!(spec.spans.iter().any(|s| s.start <= step.start && step.end <= s.start + s.len));
        for address in spec.spans.iter().flat_map(|span| span.start..span.start + span.len) {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[(address - start) as usize] ^= 1 << bit;
                assert_eq!(boot(&model.image, start, &changed, 16), refused, "{address:#x}");
                tried += 1;
            }
        }
        // Parameters: the ends of the range, and what is outside.
        for limit in [1, 20] {
            let outcome = boot(&model.image, start, &bytes, limit);
            assert_eq!(outcome, (Verdict::Safe, Decision::Start), "{limit}");
        }
        for limit in [0, 21, 255] {
            let (verdict, decision) = boot(&model.image, start, &bytes, limit);
            assert!(matches!(verdict, Verdict::Unknown(Why::OutOfRange(0))), "{verdict:?}");
            assert_eq!(decision, Decision::Refuse);
        }
        if board.name == "lm3s6965evb" {
            let (start, other) = flash(&folder.join("bound-broken-lm3s6965evb.elf"));
            assert_eq!(boot(&model.image, start, &other, 16), refused);
        }
    }
    assert!(tried >= 1000, "{tried}");
}

fn guarded(elf: &Path) -> Loaded {
    own(elf, &Wanted { places: true, ..Wanted::default() })
}

/// The flash of a board with an image stored.
fn product(board: &Board, elf: &Path, image: &[u8]) -> Vec<u8> {
    let models = product::models(board, image).expect("it fits");
    flash_with(board, elf, Some(&models))
}

fn starts(board: &Board, flash: &[u8]) {
    let text = run(board, flash);
    assert!(text.contains("decision: Start") && text.contains("application started"), "{text}");
    assert!(text.contains("500 steps, no alarm"), "{text}");
}

fn refuses(board: &Board, flash: &[u8], why: &str) {
    let text = run(board, flash);
    assert!(text.contains(why) && text.contains("decision: Refuse"), "{why}: {text}");
    assert!(!text.contains("application started"), "{text}");
}

#[test]
fn a_board_looks_at_its_own_code() {
    let Some(folder) = folder() else { return };
    let mut rng = Rng::new(5);
    for board in boards() {
        let elf = example(&folder, board);
        let model = guarded(&elf);
        let good = product(board, &elf, &model.image);
        starts(board, &good);
        let at = |address: u32| (address - board.base()) as usize;
        let spans = bind::program(&model.image).unwrap().unwrap().spans;
        let addresses: Vec<u32> =
            spans.iter().flat_map(|span| span.start..span.start + span.len).collect();
        for _ in 0..3 {
            let mut flash = good.clone();
            flash[at(addresses[rng.below(addresses.len())])] ^= 1 << rng.below(8);
            refuses(board, &flash, "CodeDiffers");
        }
        // What the device is configured with is not part of the code.
        let config = at(place(&elf, "bound::CONFIG").unwrap().start);
        for (limit, fits) in [(1, true), (20, true), (21, false), (0, false)] {
            let mut flash = good.clone();
            flash[config] = limit;
            if fits { starts(board, &flash) } else { refuses(board, &flash, "OutOfRange") }
        }
        // A model that is of other code, and one of none.
        let clauses = certified::clauses(&model.image).unwrap().unwrap();
        let spec = bind::program(&model.image).unwrap().unwrap();
        let hash = core::array::from_fn(|i| spec.hash[i] ^ u8::from(i == 31));
        let other = vouch_core::image::ProgramSpec { hash, ..spec };
        for (program, why) in [(Some(other), "CodeDiffers"), (None, "Unbound")] {
            let builder = ImageBuilder::of(&model.image.view::<u16>().unwrap());
            let image = ImageBuilder { program, ..builder }.build_as::<u16>().unwrap();
            let image = certified::attach(&AlignedImage::new(&image), &clauses).unwrap();
            refuses(board, &product(board, &elf, &image), why);
        }
    }
}

/// The variables of the model as they are in memory.
fn state(model: &Loaded, start: u32, bytes: &[u8]) -> Vec<Word> {
    let Origin::Program(binary) = &model.origin else { panic!("a program") };
    let value = |slot: &Slot| match slot {
        Slot::Memory(Cell::Ram(at), count) => {
            let bytes = &bytes[(at - start) as usize..][..*count as usize];
            bytes.iter().rev().fold(0, |value, byte| value << 8 | Word::from(*byte))
        }
        _ => 0,
    };
    binary.program.slots.iter().map(value).collect()
}

/// Bits of the tank are changed after a step, before the guard looks: what leaves the invariant is told at once.
#[test]
fn corruptions_of_a_running_board_are_noticed() {
    let Some(folder) = folder() else { return };
    let mut rng = Rng::new(11);
    for board in boards().filter(|board| board.name != "microbit") {
        let elf = example(&folder, board);
        let model = guarded(&elf);
        let flash = product(board, &elf, &model.image);
        let step = place(&elf, "bound::step").unwrap().start;
        let tank = place(&elf, "bound::TANK").unwrap();
        let limit = place(&elf, "bound::LIMIT").unwrap();
        assert_eq!(tank.end, limit.start, "they are read together");
        let is_allowed = |bytes: &[u8]| is_allowed(&model, &state(&model, tank.start, bytes));
        // The register that the address to return to is in.
        let link = if board.triple.starts_with("thumb") { 14 } else { 1 };
        for round in 0..4 {
            let mut emulator = Emulator::start(board, &flash, true);
            let mut debugger = emulator.debugger();
            debugger.stop_at(step);
            for _ in 0..=3 * round {
                debugger.run();
                assert!(debugger.stopped(Duration::from_secs(120)), "it steps");
                debugger.step_over(step);
            }
            let back = debugger.registers()[link] & !1;
            debugger.stop_at(back);
            debugger.run();
            assert!(debugger.stopped(Duration::from_secs(10)), "it returns");
            let before = debugger.read(tank.start, 5);
            assert!(is_allowed(&before), "{before:x?}");
            let bad = loop {
                let mut bad = before.clone();
                for _ in 0..1 + rng.below(3) {
                    bad[rng.below(4)] ^= 1 << rng.below(8);
                }
                if !is_allowed(&bad) {
                    break bad;
                }
            };
            debugger.write(tank.start, &bad).unwrap();
            debugger.forget(step);
            debugger.step_over(back);
            debugger.forget(back);
            debugger.run();
            let text = emulator.text_until("done", Duration::from_secs(120)).unwrap();
            assert!(text.contains("alarm: "), "{} {before:x?} {bad:x?}: {text}", board.name);
            assert!(!text.contains("no alarm"), "{text}");
        }
    }
}
