//! Programs in machine code: lifted, proved or refuted, and compared step by step with QEMU.
#![cfg(unix)]

use std::path::Path;
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::judge::Question;
use vouch_host::pipeline;
use vouch_host::verdict::Verdict;
use vouch_tests::machine::random::{self, Machine};
use vouch_tests::machine::{compare, programs};
use vouch_tests::rng::Rng;

fn options(init: Option<&str>) -> ElfOptions {
    let init = init.map(str::to_owned);
    ElfOptions { entry: Some("step".into()), init, ..ElfOptions::default() }
}

fn verdict(elf: &Path, options: &ElfOptions) -> Verdict {
    let options = pipeline::Options { elf: options.clone(), ..pipeline::Options::default() };
    let model = pipeline::load(elf, &options).unwrap_or_else(|e| panic!("{}: {e}", elf.display()));
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    check::check(&model, &request, by, &mut |_| {}).unwrap().judgement.verdict()
}

/// The right verdict, and the same steps as in QEMU.
fn agrees(elf: &Path, options: &ElfOptions, expected: Verdict) {
    assert_eq!(verdict(elf, options), expected, "{}", elf.display());
    let compared = compare(elf, options, 120, 1).unwrap_or_else(|e| panic!("{e}"));
    assert!(compared.returned > 40, "{}: {compared:?}", elf.display());
}

fn c(name: &str, init: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-O0", "-Os", "-O2"] {
            let options = options(init);
            agrees(&programs::c(name, &[cpu, level], folder.path()), &options, Verdict::Safe);
            let broken = programs::c(name, &[cpu, level, "-DBROKEN"], folder.path());
            assert_eq!(verdict(&broken, &options), Verdict::Unsafe, "{}", broken.display());
        }
    }
}

#[test]
fn a_pump_in_c() {
    c("pump", None);
}

/// An index that is folded into an address, and the lowest bits of an address on the stack.
#[test]
fn addresses_as_compilers_compute_them() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-Os", "-O2"] {
            let build = |flags: &[&str]| {
                programs::c("address", &[&[cpu, level], flags].concat(), folder.path())
            };
            agrees(&build(&[]), &options(None), Verdict::Safe);
            assert_eq!(verdict(&build(&["-DBROKEN"]), &options(None)), Verdict::Unsafe);
        }
    }
}

/// Machines that nobody has written, in C and in Rust: whatever a compiler makes of them, the verdict is that of a search through their
/// states. `cargo xtask soak --kind machines` tries every build of others.
#[test]
fn random_machines() {
    let folder = tempfile::tempdir().unwrap();
    let builds = random::builds();
    let mut rng = Rng::new(17);
    for seed in 0..8 {
        let machine = Machine::new(seed);
        for build in [&builds[0], &builds[rng.between(1, 15)], &builds[rng.between(16, 30)]] {
            random::check(seed, &machine, build, folder.path())
                .unwrap_or_else(|e| panic!("machine {seed}: {e}"));
        }
    }
}

/// Crates as they are published. `cargo xtask bench-elf` has more of them.
#[test]
fn machines_of_crates() {
    let names = ["dcf77", "midi", "minicbor"];
    for fault in [false, true] {
        let folder = programs::crates(&names, "thumbv6m-none-eabi", fault);
        for elf in names.map(|name| folder.join(name)) {
            let options = options(Some("init"));
            match fault {
                false => agrees(&elf, &options, Verdict::Safe),
                true => assert_eq!(verdict(&elf, &options), Verdict::Unsafe, "{}", elf.display()),
            }
        }
    }
}

/// What vouch's own firmware decides, as it is linked: which bytes from the line are a frame, and which package is taken.
#[test]
fn decisions_of_vouch_itself() {
    for fault in [false, true] {
        let folder = programs::crates(&["frames", "decide"], "thumbv6m-none-eabi", fault);
        let checksum = "vouch_core::link::frame::checksum".to_owned();
        let frames = ElfOptions { inputs: vec![checksum], ..options(Some("init")) };
        for (name, options) in [("frames", frames), ("decide", options(Some("init")))] {
            let elf = folder.join(name);
            match fault {
                false => agrees(&elf, &options, Verdict::Safe),
                true => assert_eq!(verdict(&elf, &options), Verdict::Unsafe, "{name}"),
            }
        }
    }
}

/// What clang makes of C: it uses other instructions than GCC, and has no marks on RISC-V that tell where code begins.
#[test]
fn programs_by_clang() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32-none-elf"] {
        for level in ["-Oz", "-O2"] {
            for name in ["pump", "level", "address", "table"] {
                let good = programs::clang(name, target, &[level], folder.path());
                let options = options(None);
                assert_eq!(verdict(&good, &options), Verdict::Safe, "{}", good.display());
                let broken = programs::clang(name, target, &[level, "-DBROKEN"], folder.path());
                assert_eq!(verdict(&broken, &options), Verdict::Unsafe, "{}", broken.display());
            }
        }
    }
}

/// A computed jump belongs to the order of instructions also where only one target is known so far: else a loop that
/// it closes is not seen to be one, and run for ever.
#[test]
fn a_task_that_never_returns() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for (flag, expected) in [("-DGOOD", Verdict::Safe), ("-DBROKEN", Verdict::Unsafe)] {
            let task = programs::c("task", &[cpu, "-Os", flag], folder.path());
            assert_eq!(verdict(&task, &options(None)), expected, "{}", task.display());
        }
    }
}

/// A jump into a row of jumps; a return under the condition under which registers were restored.
#[test]
fn jumps_of_armv7m() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["branches", "ends"] {
        for (flag, expected) in [("-DGOOD", Verdict::Safe), ("-DBROKEN", Verdict::Unsafe)] {
            let elf = programs::c(name, &["-mcpu=cortex-m3", "-Os", flag], folder.path());
            match expected {
                Verdict::Safe => agrees(&elf, &options(None), expected),
                _ => assert_eq!(verdict(&elf, &options(None)), expected, "{}", elf.display()),
            }
        }
    }
}

/// Callers extend arguments that are narrower than a register; in Rust an enum has no values but its own.
#[test]
fn arguments_have_the_values_of_their_types() {
    let (folder, options) = (tempfile::tempdir().unwrap(), options(None));
    for (level, which) in
        [("-O0", "-DALL"), ("-O2", "-DALL"), ("-O0", "-DOTHERS"), ("-O2", "-DOTHERS")]
    {
        let build = |flags: &[&str]| {
            let all = [&["-mcpu=cortex-m3", level, which], flags].concat();
            programs::c("narrow", &all, folder.path())
        };
        agrees(&build(&[]), &options, Verdict::Safe);
        assert_eq!(verdict(&build(&["-DBROKEN"]), &options), Verdict::Unsafe);
        // Without debug information nobody knows how wide they are, and GCC looks only if it does not optimise.
        if level == "-O2" {
            assert_eq!(verdict(&build(&["-g0"]), &options), Verdict::Unsafe);
        }
        for target in ["thumbv6m-none-eabi", "riscv32-none-elf"] {
            let flags = [level, which, "-fshort-enums"];
            let clang = programs::clang("narrow", target, &flags, folder.path());
            agrees(&clang, &options, Verdict::Safe);
        }
    }
    for target in ["thumbv6m-none-eabi", "riscv32imac-unknown-none-elf"] {
        for level in ["-Copt-level=0", "-Copt-level=s"] {
            let build = |flags: &[&str]| {
                programs::rust("narrow", target, &[&[level], flags].concat(), folder.path())
            };
            agrees(&build(&[]), &options, Verdict::Safe);
            assert_eq!(verdict(&build(&["--cfg=broken"]), &options), Verdict::Unsafe);
        }
    }
}

/// So do those for which no register is left.
#[test]
fn arguments_on_the_stack() {
    let (folder, options) = (tempfile::tempdir().unwrap(), options(None));
    for level in ["-O0", "-O2"] {
        for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
            agrees(&programs::c("fifth", &[cpu, level], folder.path()), &options, Verdict::Safe);
            let broken = programs::c("fifth", &[cpu, level, "-DBROKEN"], folder.path());
            assert_eq!(verdict(&broken, &options), Verdict::Unsafe, "{}", broken.display());
        }
        for target in ["thumbv7m-none-eabi", "riscv32-none-elf"] {
            let elf = programs::clang("fifth", target, &[level], folder.path());
            agrees(&elf, &options, Verdict::Safe);
        }
    }
}

/// No bit of the stack's address is known but the lowest three.
#[test]
fn where_the_stack_lies() {
    let folder = tempfile::tempdir().unwrap();
    for bit in 4..32 {
        for is in [0, 1] {
            let (bit, is) = (format!("-DBIT={bit}"), format!("-DIS={is}"));
            let elf = programs::c("where", &["-mcpu=cortex-m3", "-O1", &bit, &is], folder.path());
            let bytes = std::fs::read(&elf).unwrap();
            let lifted = vouch_host::frontend::elf::lift(&bytes, "where", &options(None), false);
            let why = format!("{:?}", lifted.err());
            assert!(why.contains("depends on where the stack lies"), "{bit}: {why}");
        }
    }
}

/// Calls of what does nothing are left out by a compiler that sees it.
#[test]
fn functions_that_do_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (case, name) in [(0, None), (1, Some("vouch_fail")), (2, Some("vouch_input_u8"))] {
        let flags = ["-mcpu=cortex-m3", "-O1", "-DALONE", &format!("-DCASE={case}")];
        let elf = programs::c("empty", &flags, folder.path());
        let bytes = std::fs::read(&elf).unwrap();
        let lifted = vouch_host::frontend::elf::lift(&bytes, "empty", &options(None), false);
        let why = lifted.err().map(|e| format!("{e:?}"));
        match (name, why) {
            (None, None) => {}
            (Some(name), Some(why)) => {
                assert!(why.contains(&format!("`{name}` does nothing")), "{why}");
            }
            (_, why) => panic!("{case}: {why:?}"),
        }
    }
}

/// The linker makes one function of two that do the same, and debug information knows the parameters of the other one alone.
#[test]
fn arguments_of_a_function_that_was_folded() {
    let folder = tempfile::tempdir().unwrap();
    let elf = programs::c("folded", &["-mcpu=cortex-m3", "-O2"], folder.path());
    assert_eq!(verdict(&elf, &options(None)), Verdict::Unsafe);
}

/// What is inlined is not called, so that nothing would fail.
#[test]
fn a_failure_that_was_inlined() {
    let folder = tempfile::tempdir().unwrap();
    for (name, level) in [("narrow", "-O1"), ("narrow", "-Os"), ("pump", "-O2"), ("level", "-Os")] {
        let flags = ["-mcpu=cortex-m3", level, "-flto", "-DBROKEN", "-DALL"];
        let elf = programs::c(name, &flags, folder.path());
        let bytes = std::fs::read(&elf).unwrap();
        match vouch_host::frontend::elf::lift(&bytes, name, &options(None), false) {
            Ok(_) => assert_eq!(verdict(&elf, &options(None)), Verdict::Unsafe, "{name} {level}"),
            Err(e) => assert!(format!("{e:?}").contains("was inlined"), "{name} {level}: {e:?}"),
        }
    }
}

/// Compilers change what functions take that are called from the same file alone: then the first register has not the first parameter.
#[test]
fn arguments_that_a_compiler_left_out() {
    let folder = tempfile::tempdir().unwrap();
    for (level, name) in [("-O0", "part"), ("-O2", "part.constprop.0")] {
        let elf = programs::c("left_out", &["-mcpu=cortex-m3", level], folder.path());
        let options = ElfOptions { entry: Some(name.into()), ..options(Some("init")) };
        assert_eq!(verdict(&elf, &options), Verdict::Unsafe, "{name}");
    }
}

/// A pointer in a loop that may be missing.
#[test]
fn two_pieces_in_c() {
    c("chain", None);
}

#[test]
fn a_list_in_c() {
    c("walk", None);
}

#[test]
fn a_part_of_an_address_where_nobody_looks() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        let good = programs::c("leftover", &[cpu, "-Os"], folder.path());
        assert_eq!(verdict(&good, &options(None)), Verdict::Safe, "{}", good.display());
        let broken = programs::c("leftover", &[cpu, "-Os", "-DBROKEN"], folder.path());
        assert_ne!(verdict(&broken, &options(None)), Verdict::Safe, "{}", broken.display());
    }
}

/// GCC keeps values in registers that a function in the same file does not write, also if that is an input.
#[test]
fn inputs_in_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-O0", "-O2", "-O3"] {
            let build = |flags: &[&str]| {
                let all = [&[cpu, level, "-DALONE"], flags].concat();
                programs::c("same", &all, folder.path())
            };
            agrees(&build(&[]), &options(None), Verdict::Safe);
            assert_eq!(verdict(&build(&["-DBROKEN"]), &options(None)), Verdict::Unsafe);
        }
    }
}

/// One instruction that writes two statics.
#[test]
fn neighbours_in_c() {
    c("pairs", None);
}

/// Pointers in statics that are not the same in all steps.
#[test]
fn pointers_that_change_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(Some("init"));
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-O0", "-Os"] {
            agrees(&programs::c("pointers", &[cpu, level], folder.path()), &options, Verdict::Safe);
            let broken = programs::c("pointers", &[cpu, level, "-DBROKEN"], folder.path());
            assert_eq!(verdict(&broken, &options), Verdict::Unsafe, "{}", broken.display());
        }
    }
}

/// Bytes that are a pointer at times, and something else at others.
#[test]
fn pointers_in_unions_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(Some("init"));
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-O0", "-O2"] {
            let good = programs::c("variant", &[cpu, level], folder.path());
            assert_eq!(verdict(&good, &options), Verdict::Safe, "{}", good.display());
            let broken = programs::c("variant", &[cpu, level, "-DBROKEN"], folder.path());
            assert_eq!(verdict(&broken, &options), Verdict::Unsafe, "{}", broken.display());
            // From arbitrary states most steps leave what is modelled: the union is not a pointer there.
            compare(&good, &options, 200, 1).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

/// What is read where nothing of the program is may be anything; what is written there may be RAM.
#[test]
fn values_of_calibration() {
    let (folder, options) = (tempfile::tempdir().unwrap(), options(None));
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-O0", "-O2"] {
            let build = |flags: &[&str]| {
                let all = [&[cpu, level], flags].concat();
                programs::c("information", &all, folder.path())
            };
            assert_eq!(verdict(&build(&[]), &options), Verdict::Safe);
            assert_eq!(verdict(&build(&["-DBROKEN"]), &options), Verdict::Unsafe);
            let bytes = std::fs::read(build(&["-DWRITES"])).unwrap();
            let lifted = vouch_host::frontend::elf::lift(&bytes, "information", &options, false);
            let why = format!("{:?}", lifted.err());
            assert!(why.contains("0x1ffff7b8 is neither in a section nor a peripheral"), "{why}");
        }
    }
}

/// Loops that become locations, a pointer in a static, a table of functions, an array on the stack.
#[test]
fn a_queue_in_c() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-O0", "-Os"] {
            let options = options(Some("init"));
            agrees(&programs::c("queue", &[cpu, level], folder.path()), &options, Verdict::Safe);
            let broken = programs::c("queue", &[cpu, level, "-DBROKEN"], folder.path());
            assert_ne!(verdict(&broken, &options), Verdict::Safe, "{}", broken.display());
        }
    }
}

#[test]
fn a_door_in_rust() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["thumbv6m-none-eabi", "thumbv7m-none-eabi"] {
        for level in ["-Copt-level=z", "-Copt-level=3"] {
            let door = programs::rust("door", target, &[level], folder.path());
            agrees(&door, &options(None), Verdict::Safe);
            let broken = programs::rust("door", target, &[level, "--cfg=broken"], folder.path());
            assert_eq!(verdict(&broken, &options(None)), Verdict::Unsafe, "{}", broken.display());
        }
    }
}

/// What waits is a state that the compiler makes, in bytes of which only it knows what they are.
#[test]
fn an_async_function_in_rust() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(Some("init"));
    for (target, level) in [("thumbv7m-none-eabi", "s"), ("riscv32imac-unknown-none-elf", "3")] {
        let build = |flags: &[&str]| {
            let level = format!("-Copt-level={level}");
            programs::rust(
                "async",
                target,
                &[&[&*level, "-Clink-arg=-uinit"], flags].concat(),
                folder.path(),
            )
        };
        assert_eq!(verdict(&build(&[]), &options), Verdict::Safe, "{target}");
        assert_eq!(verdict(&build(&["--cfg=broken"]), &options), Verdict::Unsafe);
    }
}

#[test]
fn a_door_for_risc_v() {
    let folder = tempfile::tempdir().unwrap();
    let target = "riscv32imac-unknown-none-elf";
    let door = programs::rust("door", target, &["-Copt-level=s"], folder.path());
    agrees(&door, &options(None), Verdict::Safe);
    let broken = programs::rust("door", target, &["-Copt-level=s", "--cfg=broken"], folder.path());
    assert_eq!(verdict(&broken, &options(None)), Verdict::Unsafe);
}

/// What is refused says why, where, and a way out.
fn refused(elf: &Path, options: ElfOptions, part: &str) {
    let options = pipeline::Options { elf: options, ..pipeline::Options::default() };
    match pipeline::load(elf, &options) {
        Ok(_) => panic!("{} is not refused: {part}", elf.display()),
        Err(error) => {
            let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(part), "{text}");
            assert!(text.contains("help:"), "{text}");
        }
    }
}

#[test]
fn what_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let build = |name: &str, flags: &[&str]| {
        programs::c(name, &[&["-mcpu=cortex-m0", "-Os"], flags].concat(), folder.path())
    };
    let pump = build("pump", &[]);
    let entry = |entry: &str| ElfOptions { entry: Some(entry.into()), ..ElfOptions::default() };
    refused(&pump, ElfOptions::default(), "a program has many functions");
    refused(&pump, entry("stop"), "the program has no function `stop`");
    let inputs = vec!["speed".to_owned()];
    refused(&pump, ElfOptions { inputs, ..options(None) }, "no symbol `speed`");
    refused(&build("pump", &["-s"]), options(None), "no symbols");
    refused(&build("pump", &["-r", "-nostartfiles"]), options(None), "not linked");
    let text = folder.path().join("text.elf");
    std::fs::write(&text, "model pump").unwrap();
    refused(&text, options(None), "not an ELF file");
    std::fs::write(&text, &std::fs::read(&pump).unwrap()[..200]).unwrap();
    refused(&text, options(None), "cannot be read");
    let odd = |what: &str| build("odd", &[&format!("-DODD={what}")]);
    refused(&odd("1"), options(None), "is used outside of the step, too: by `handler`");
    refused(&odd("9"), options(None), "`shared` is used outside of the step, too: by `handler`");
    refused(&odd("8"), options(None), "`put` is used outside of the step, too: by `handler`");
    refused(&odd("2"), options(None), "calls itself");
    refused(&odd("3"), options(None), "the address of a local variable is stored");
    refused(&odd("4"), options(None), "is in flash and is written");
    refused(&odd("5"), options(None), "supervisor");
    refused(&odd("6"), options(None), "neither in a section nor a peripheral");
    refused(&odd("7"), options(None), "which object an address is in");
}

/// Programs for other processors say for which they are, and what would do.
#[test]
fn processors_that_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let arm = [
        ("-mcpu=cortex-m4", "ARMv7E-M, which has instructions for DSP"),
        ("-mcpu=cortex-m33", "the program is for ARMv8-M"),
        ("-mcpu=cortex-m23", "the program is for ARMv8-M"),
        ("-mcpu=cortex-a9", "the program is for ARM architecture"),
    ];
    for (cpu, part) in arm {
        refused(&programs::c("pump", &[cpu, "-Os"], folder.path()), options(None), part);
    }
    // Of a file only the beginning is read that says for what it is.
    let program = std::fs::read(programs::c("pump", &["-mcpu=cortex-m3"], folder.path())).unwrap();
    let changed = folder.path().join("changed.elf");
    for (at, byte, part) in [
        (4, 2, "the program is for a 64-bit processor"),
        (5, 2, "cannot be read"),
        (18, 83, "the program is for AVR"),
        (18, 94, "the program is for Xtensa"),
        (18, 3, "the program is for x86"),
        (18, 7, "the program is for machine 7 of ELF"),
    ] {
        let mut bytes = program.clone();
        bytes[at] = byte;
        std::fs::write(&changed, bytes).unwrap();
        refused(&changed, options(None), part);
    }
}

/// What others may write at any time can be declared to be anything.
#[test]
fn a_static_that_is_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-mcpu=cortex-m0", "-Os", "-DODD=1"];
    let elf = programs::c("odd", &flags, folder.path());
    let inputs = vec!["shared".to_owned()];
    let declared = ElfOptions { inputs, ..options(None) };
    assert_eq!(verdict(&elf, &declared), Verdict::Unsafe);
}
