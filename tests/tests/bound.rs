//! A model that was lifted from a program starts only with that program in flash: on the device's own library, with
//! memory as flash, and as the host tells it. `own_code.rs` has the same on emulated boards.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use vouch_core::image::{Image, ImageBuilder};
use vouch_device::boot::{Decision, Mode, Outcome, Policy, SelfCheck, Verdict, Why, check};
use vouch_device::code::{Bytes, Code};
use vouch_host::bind::{self, Other, Wanted};
use vouch_host::blast::{AlignedImage, certified, code};
use vouch_host::frontend::elf::reader::Elf;
use vouch_host::pipeline::Loaded;
use vouch_tests::bound::{flash, load};
use vouch_tests::machine::programs;
use vouch_tests::rng::Rng;

const M0: &str = "-mcpu=cortex-m0";
const M3: &str = "-mcpu=cortex-m3";

fn boot_with(image: &AlignedImage, what: &SelfCheck<'_>) -> Outcome {
    let view = image.view::<u16>().unwrap();
    let outcome = check(&view, what, &mut vec![0; 20_000], &mut || {});
    let starts = outcome.start(|permit| permit.confirm()).is_some();
    assert_eq!(starts, outcome.decision == Decision::Start);
    outcome
}

/// What a device with this flash does.
fn boot(image: &AlignedImage, start: u32, bytes: &[u8]) -> Outcome {
    let memory = Bytes { start, bytes };
    let what = SelfCheck {
        mode: Mode::RecheckOnly,
        code: Code::Required(&memory),
        ..SelfCheck::default()
    };
    boot_with(image, &what)
}

fn starts(image: &AlignedImage, start: u32, bytes: &[u8]) {
    let outcome = boot(image, start, bytes);
    assert_eq!((outcome.verdict, outcome.decision), (Verdict::Safe, Decision::Start));
}

fn refused(image: &AlignedImage, start: u32, bytes: &[u8]) {
    let outcome = boot(image, start, bytes);
    assert_eq!(outcome.verdict, Verdict::Unknown(Why::CodeDiffers));
    assert_eq!(outcome.decision, Decision::Refuse);
}

/// The addresses that an image is bound to.
fn bound(model: &Loaded) -> Vec<u32> {
    let program = bind::program(&model.image).unwrap().unwrap();
    program.spans.iter().flat_map(|span| span.start..span.start + span.len).collect()
}

fn pump(flags: &[&str], folder: &Path) -> PathBuf {
    programs::c("pump", flags, folder)
}

/// Each bit of the code that the pump's step consists of, one at a time; and bits of other code, which do not matter.
#[test]
fn every_changed_bit_of_bound_code_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for cpu in [M0, M3] {
        let elf = pump(&[cpu, "-Os"], folder.path());
        let model = load(&elf, "step", None, &Wanted::default());
        let (start, bytes) = flash(&elf);
        starts(&model.image, start, &bytes);
        let addresses = bound(&model);
        for address in &addresses {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[(address - start) as usize] ^= 1 << bit;
                refused(&model.image, start, &bytes);
                tried += 1;
            }
        }
        let others = (start..start + bytes.len() as u32).filter(|at| !addresses.contains(at));
        for address in others {
            let mut bytes = bytes.clone();
            bytes[(address - start) as usize] ^= 1;
            starts(&model.image, start, &bytes);
        }
    }
    assert!(tried >= 1000, "{tried}");
}

#[test]
fn another_build_or_place_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let levels = ["-O0", "-O1", "-Os", "-O2", "-O3"];
    let elves = levels.map(|level| pump(&[M3, level], folder.path()));
    let flashes = elves.each_ref().map(|elf| flash(elf));
    let mut others = 0;
    for (i, elf) in elves.iter().enumerate() {
        let model = load(elf, "step", None, &Wanted::default());
        let spec = bind::program(&model.image).unwrap();
        for (j, (start, bytes)) in flashes.iter().enumerate() {
            let file = std::fs::read(&elves[j]).unwrap();
            let on_host = bind::compare(spec.as_ref(), &model.code, &file);
            // Two levels may give the same code.
            let byte = |(start, bytes): &(u32, Vec<u8>), at: u32| {
                bytes.get((at - start) as usize).copied()
            };
            if bound(&model).iter().all(|at| byte(&flashes[i], *at) == byte(&flashes[j], *at)) {
                starts(&model.image, *start, bytes);
                assert_eq!(on_host, Ok(()));
                continue;
            }
            others += 1;
            refused(&model.image, *start, bytes);
            let Err(Other::Differs(pieces)) = on_host else { panic!("{on_host:?}") };
            assert!(pieces.iter().any(|piece| piece.name == "step"), "{pieces:?}");
        }
        // A function that was moved, and all of the program.
        let (start, bytes) = &flashes[i];
        let reader = Elf::read(&std::fs::read(elf).unwrap()).unwrap_or_else(|e| panic!("{}", e.0));
        let step = reader.function_named("step").unwrap();
        let range = (step.start - start) as usize..(step.end - start) as usize;
        for by in [2, 4, 16] {
            let mut moved = [&bytes[..], &[0xff; 64]].concat();
            moved.copy_within(range.clone(), range.start + by);
            refused(&model.image, *start, &moved);
        }
        refused(&model.image, start + 4, bytes);
        refused(&model.image, *start, &bytes[..(step.end - start) as usize - 1]);
        refused(&model.image, *start, &[]);
        let elsewhere =
            programs::c_at("pump", &[M3, levels[i]], 0x0800_0400, 0x2000_0000, folder.path());
        let (start, bytes) = flash(&elsewhere);
        refused(&model.image, start, &bytes);
        let file = std::fs::read(&elsewhere).unwrap();
        let on_host = bind::compare(spec.as_ref(), &model.code, &file);
        assert!(matches!(on_host, Err(Other::Differs(_))), "{on_host:?}");
    }
    assert!(others >= 14, "{others}");
}

/// What statics begin with is in flash, too, and so is what they are compared with.
#[test]
fn first_values_and_tables_are_bound() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in [M0, M3] {
        let elf = programs::c("level", &[cpu, "-O2"], folder.path());
        let model = load(&elf, "step", None, &Wanted::default());
        let names: Vec<&str> = model.code.iter().map(|piece| piece.name.as_str()).collect();
        assert!(["step", "rates", ".data"].iter().all(|name| names.contains(name)), "{names:?}");
        let (start, bytes) = flash(&elf);
        starts(&model.image, start, &bytes);
        for name in ["rates", ".data"] {
            let piece = model.code.iter().find(|piece| piece.name == name).unwrap();
            for at in piece.start..piece.start + piece.len {
                let mut bytes = bytes.clone();
                bytes[(at - start) as usize] ^= 0x10;
                refused(&model.image, start, &bytes);
            }
        }
        // Only what is asked for besides.
        let more = Wanted { cover: vec!["vouch_fail".into()], ..Wanted::default() };
        let covered = load(&elf, "step", None, &more);
        let more: Vec<&str> = covered.code.iter().map(|piece| piece.name.as_str()).collect();
        assert!(!names.contains(&"vouch_fail") && more.contains(&"vouch_fail"), "{more:?}");
        let all = Wanted { cover: vec!["all".into()], ..Wanted::default() };
        let all = load(&elf, "step", None, &all);
        assert_eq!(bound(&all).len(), bytes.iter().len(), "all of flash");
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            refused(&all.image, start, &bytes);
        }
    }
}

#[test]
fn the_host_names_the_function_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let elf = pump(&[M0, "-Os"], folder.path());
    let model = load(&elf, "step", None, &Wanted::default());
    let file = model.to_file();
    assert_eq!(code::read(&file).unwrap(), model.code);
    let spec = bind::program(&model.image).unwrap();
    let good = std::fs::read(&elf).unwrap();
    assert_eq!(bind::compare(spec.as_ref(), &model.code, &good), Ok(()));
    for name in ["step", "most"] {
        let piece = model.code.iter().find(|piece| piece.name == name).unwrap();
        let reader = Elf::read(&good).unwrap_or_else(|e| panic!("{}", e.0));
        let bytes = reader.in_flash(piece.start, piece.len).unwrap();
        let at = good.windows(bytes.len()).position(|w| w == bytes).unwrap();
        let mut bad = good.clone();
        bad[at + 1] ^= 1;
        let found = bind::compare(spec.as_ref(), &model.code, &bad);
        let Err(Other::Differs(pieces)) = &found else { panic!("{found:?}") };
        assert_eq!(pieces.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), [name]);
        assert!(found.unwrap_err().to_string().contains("CodeDiffers"));
    }
    assert_eq!(bind::compare(None, &[], &good), Err(Other::Unbound));
    assert!(matches!(bind::compare(spec.as_ref(), &[], b"hello"), Err(Other::NotAProgram(..))));
}

/// What is not bound, and who cannot look.
#[test]
fn the_policy_decides_about_models_that_are_not_bound() {
    let folder = tempfile::tempdir().unwrap();
    let elf = pump(&[M0, "-Os"], folder.path());
    let model = load(&elf, "step", None, &Wanted::default());
    let (start, bytes) = flash(&elf);
    let memory = Bytes { start, bytes: &bytes };
    let empty = Bytes { start, bytes: &[] };
    let builder = ImageBuilder::of(&model.image.view::<u16>().unwrap());
    let clauses = certified::clauses(&model.image).unwrap().unwrap();
    let unbound = ImageBuilder { program: None, ..builder }.build_as::<u16>().unwrap();
    let unbound = certified::attach(&AlignedImage::new(&unbound), &clauses).unwrap();
    // With a certificate and without, the binding stays.
    let bare = certified::detach(&model.image).unwrap();
    assert_eq!(bind::program(&bare).unwrap(), bind::program(&model.image).unwrap());
    let names: Vec<String> =
        model.image.view::<u16>().unwrap().properties().map(|p| p.name.into()).collect();
    let report: Vec<(&str, Policy)> =
        names.iter().map(|name| (name.as_str(), Policy::Report)).collect();
    let (differs, not_bound) = (Some(Why::CodeDiffers), Some(Why::Unbound));
    for (image, code, why) in [
        (&model.image, Code::Unseen, differs),
        (&model.image, Code::Optional(&memory), None),
        (&model.image, Code::Required(&memory), None),
        (&model.image, Code::Optional(&empty), differs),
        (&model.image, Code::Required(&empty), differs),
        (&unbound, Code::Unseen, None),
        (&unbound, Code::Optional(&memory), None),
        (&unbound, Code::Required(&memory), not_bound),
    ] {
        for policies in [&[][..], &report[..]] {
            let what = SelfCheck { code, policies, ..SelfCheck::default() };
            let outcome = boot_with(image, &what);
            match why {
                None => assert_eq!(outcome.decision, Decision::Start, "{code:?}"),
                Some(why) => {
                    assert_eq!(outcome.verdict, Verdict::Unknown(why), "{code:?}");
                    assert_eq!(outcome.decision, Decision::Refuse, "{code:?}");
                }
            }
        }
    }
}

/// Whatever bytes an image has: it is not an image, or it is refused, or its proof holds. Nothing panics, and the
/// watchdog is fed.
#[test]
fn damaged_images_do_not_start_with_other_code() {
    let folder = tempfile::tempdir().unwrap();
    let elf = pump(&[M0, "-Os"], folder.path());
    let model = load(&elf, "step", None, &Wanted { places: true, ..Wanted::default() });
    let (start, bytes) = flash(&elf);
    let memory = Bytes { start, bytes: &bytes };
    let view = model.image.view::<u16>().unwrap();
    let words = view.program().unwrap().words();
    let table = words.as_ptr().addr() - view.bytes().as_ptr().addr();
    let mut rng = Rng::new(18);
    let (mut read, mut fed) = (0, 0);
    for _ in 0..4000 {
        let mut damaged = model.image.to_vec();
        for _ in 0..1 + rng.below(3) {
            let at = table + rng.below(4 * words.len());
            match rng.below(3) {
                0 => damaged[at] ^= 1 << rng.below(8),
                1 => damaged[at] = 0xff,
                _ => damaged[at] = 0,
            }
        }
        let damaged = AlignedImage::new(&damaged);
        let Ok(view) = Image::<u16>::new_hashed(&damaged) else { continue };
        read += 1;
        let what = SelfCheck {
            mode: Mode::RecheckOnly,
            code: Code::Required(&memory),
            ..SelfCheck::default()
        };
        let outcome = check(&view, &what, &mut vec![0; 20_000], &mut || fed += 1);
        let program = view.program().unwrap();
        let covered =
            program.spans().eq(model.image.view::<u16>().unwrap().program().unwrap().spans());
        if outcome.decision == Decision::Start {
            assert!(
                covered && program.hash() == bind::program(&model.image).unwrap().unwrap().hash
            );
        } else {
            assert_eq!(outcome.verdict, Verdict::Unknown(Why::CodeDiffers));
        }
    }
    assert!(read > 500 && fed > read, "{read} {fed}");
}
