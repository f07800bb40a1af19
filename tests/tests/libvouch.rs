//! The static library for C: example firmware, built with GCC and run in QEMU.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use vouch_core::guard::{At, Guard};
use vouch_core::image::Image;
use vouch_tests::bound::claim;
use vouch_tests::rng::Rng;
use vouch_tests::{maker, product};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The library for the Cortex-M3, as `cargo xtask libvouch` builds it.
fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = root().join("target/libvouch");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.current_dir(root().join("libvouch")).env_remove("RUSTFLAGS");
        cargo.args(["build", "--quiet", "--release", "--locked", "--target", "thumbv7m-none-eabi"]);
        run(cargo.arg("--target-dir").arg(&target));
        target.join("thumbv7m-none-eabi/release/libvouch.a")
    })
}

/// Builds an example.
fn example(name: &str, flags: &[String], folder: &Path) -> PathBuf {
    let elf = folder.join(format!("{name}.elf"));
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.current_dir(root().join("libvouch/example"));
    gcc.args(["-mcpu=cortex-m3", "-mthumb", "-Os", "-g", "-Wall", "-Wextra", "-Werror"]);
    gcc.args(["-ffreestanding", "-nostdlib", "-ffunction-sections", "-fdata-sections"]);
    gcc.args(["-Wl,--gc-sections,-z,noexecstack", "-I../include", "-T", "link.ld"]).args(flags);
    gcc.args([&format!("{name}.c"), "board.c", "model.S"]).arg(library());
    run(gcc.args(["-lgcc", "-o"]).arg(&elf));
    elf
}

/// What an example says in QEMU.
fn said(elf: &Path) -> Vec<String> {
    let mut qemu = Command::new("timeout");
    qemu.args([
        "60",
        "qemu-system-arm",
        "-M",
        "lm3s6965evb",
        "-display",
        "none",
        "-monitor",
        "none",
    ]);
    qemu.args(["-semihosting", "-serial", "stdio", "-kernel"]).arg(elf).stdin(Stdio::null());
    run(&mut qemu).lines().map(str::to_owned).collect()
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// A location, a state that the invariant allows there, and one that it does not.
fn states(bytes: &[u8]) -> Option<(usize, Vec<u8>, Vec<u8>)> {
    let image = Image::<u16>::new_checked(bytes).unwrap();
    let guard = Guard::new(&image, image.certificate().unwrap());
    let count = (image.header.state_bits as usize).div_ceil(8).max(1);
    let mut rng = Rng::new(1);
    for location in 1..image.locations() {
        let (mut good, mut bad) = (None, None);
        for _ in 0..10_000 {
            let bits: Vec<u8> = (0..count).map(|_| rng.bits() as u8).collect();
            let slot = if guard.holds(At { location, bits: &bits }).is_ok() {
                &mut good
            } else {
                &mut bad
            };
            slot.get_or_insert(bits);
        }
        if let (Some(good), Some(bad)) = (good, bad) {
            return Some((location, good, bad));
        }
    }
    None
}

fn list(bytes: &[u8]) -> String {
    bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// A step of the model from such a state, and a bit that it leaves as it does not have to be.
struct Step {
    edge: usize,
    location: usize,
    before: Vec<u8>,
    inputs: Vec<u8>,
    to: usize,
    after: Vec<u8>,
    other: Vec<u8>,
}

/// Bytes to evaluate an edge in.
const SCRATCH: usize = 512;

fn step(bytes: &[u8]) -> Step {
    let image = Image::<u16>::new_checked(bytes).unwrap();
    let guard = Guard::new(&image, image.certificate().unwrap());
    let count = (image.header.state_bits as usize).div_ceil(8).max(1);
    let mut rng = Rng::new(2);
    for _ in 0..1_000_000 {
        let edge = rng.below(image.edges());
        let (location, to) = image.ends(edge);
        let before: Vec<u8> = (0..count).map(|_| rng.bits() as u8).collect();
        let inputs: Vec<u8> = (0..16).map(|_| rng.bits() as u8).collect();
        let (mut after, mut scratch) = (vec![0; count], [0; SCRATCH]);
        let at = At { location, bits: &before };
        if guard.holds(at).is_err()
            || guard.take(edge, at, &inputs, &mut after, &mut scratch).is_err()
        {
            continue;
        }
        let Some(bit) = image.location(to).live.first().map(|bit| usize::from(*bit)) else {
            continue;
        };
        let mut other = after.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        return Step { edge, location, before, inputs, to, after, other };
    }
    panic!("the model makes no step");
}

/// A safe example whose certificate a product checks.
fn image() -> Vec<u8> {
    product::image(&root().join("examples/flight-failsafe.vch"), true).to_vec()
}

#[test]
fn a_product_in_c_starts_by_a_certificate_and_is_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = image();
    let (location, good, bad) = states(&bytes).expect("the invariant says something");
    let flags = |image: &[u8]| {
        let model = file(folder.path(), "model.img", image);
        let states = [("GOOD", list(&good)), ("BAD", list(&bad))];
        let mut flags = vec![format!("-DMODEL=\"{model}\""), format!("-DLOCATION={location}")];
        flags.extend(states.map(|(name, list)| format!("-D{name}={list}")));
        flags
    };
    let all = said(&example("boot", &flags(&bytes), folder.path()));
    let alarm: u32 = all[2].strip_prefix("guard ").unwrap().parse().unwrap();
    assert!((2..=3).contains(&alarm), "{all:?}");
    let rest = ["start", "verdict 1", "reason 0", "fed 1"];
    assert_eq!(all[..2], ["application started", "guard 0"], "{all:?}");
    assert_eq!(all[3..], rest, "{all:?}");
    // Steps: one of the model's, one that ends elsewhere, one along no edge, one with too little memory.
    let Step { edge, location, before, inputs, to, after, other } = step(&bytes);
    let model = file(folder.path(), "model.img", &bytes);
    let lists = [("GOOD", &before), ("BAD", &bad), ("INPUTS", &inputs), ("AFTER", &after)];
    let lists = lists.into_iter().chain([("OTHER", &other)]);
    let numbers = [("LOCATION", location), ("EDGE", edge), ("TO", to), ("SCRATCH", SCRATCH)];
    let mut steps = vec![format!("-DMODEL=\"{model}\"")];
    steps.extend(lists.map(|(name, bytes)| format!("-D{name}={}", list(bytes))));
    steps.extend(numbers.map(|(name, number)| format!("-D{name}={number}")));
    let all = said(&example("boot", &steps, folder.path()));
    assert_eq!(all[3..7], ["step 0", "step 6", "step 4", "step 7"], "{all:?}");
    // A parameter that the model does not have.
    let mut other = flags(&bytes);
    other.extend(["-DNAME=\"nothing\"".into(), "-DVALUE=1".into()]);
    let all = said(&example("boot", &other, folder.path()));
    assert_eq!(all[..3], ["refuse", "verdict 3", "reason 3"], "{all:?}");
    // Damage.
    let mut damaged = bytes.clone();
    let last = damaged.len() - 9;
    damaged[last] ^= 4;
    let all = said(&example("boot", &flags(&damaged), folder.path()));
    assert_eq!(all[..3], ["refuse", "verdict 3", "reason 100"], "{all:?}");
    // A model that is not safe has no certificate.
    let broken = product::image(&root().join("examples/flight-failsafe-broken.vch"), true);
    let all = said(&example("boot", &flags(&broken), folder.path()));
    assert_eq!(all[..3], ["refuse", "verdict 3", "reason 5"], "{all:?}");
}

#[test]
fn a_product_in_c_looks_at_its_own_code() {
    let folder = tempfile::tempdir().unwrap();
    let image = product::image(&root().join("examples/flight-failsafe.vch"), true);
    let build = |name: &str, image: &[u8], looks: bool| {
        let model = file(folder.path(), "model.img", image);
        let mut flags = vec![format!("-DMODEL=\"{model}\"")];
        flags.extend(looks.then(|| "-DCODE=0x40000".to_owned()));
        example(name, &flags, folder.path())
    };
    // The model comes after the code, which is the same with another.
    let bound = claim(&image, &build("boot", &image, true), "main", 64);
    let all = said(&build("boot", &bound, true));
    assert_eq!((all[0].as_str(), all[3].as_str()), ("application started", "start"), "{all:?}");
    // Not bound; bound to code that differs in what `main` says to the library; nobody looks.
    let all = said(&build("boot", &image, true));
    assert_eq!(all[..3], ["refuse", "verdict 3", "reason 11"], "{all:?}");
    let other = claim(&image, &build("boot", &image, false), "main", 64);
    let all = said(&build("boot", &other, true));
    assert_eq!(all[..3], ["refuse", "verdict 3", "reason 10"], "{all:?}");
    let all = said(&build("boot", &other, false));
    assert_eq!(all[..3], ["refuse", "verdict 3", "reason 10"], "{all:?}");
    assert_eq!(said(&build("checker", &bound, false)), ["certificate 10"]);
}

#[test]
fn the_checker_alone_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for (name, expected) in
        [("flight-failsafe", "certificate 0"), ("flight-failsafe-broken", "certificate 5")]
    {
        let image = product::image(&root().join(format!("examples/{name}.vch")), true);
        let model = file(folder.path(), "model.img", &image);
        let all = said(&example("checker", &[format!("-DMODEL=\"{model}\"")], folder.path()));
        assert_eq!(all, [expected], "{name}");
    }
}

/// The package for CMake finds header and library by the name of the processor; another processor is told what to do.
#[test]
fn cmake_finds_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let out = folder.join("out");
    let library_folder = out.join("lib/thumbv7m-none-eabi");
    std::fs::create_dir_all(&library_folder).unwrap();
    std::fs::copy(library(), library_folder.join("libvouch.a")).unwrap();
    for part in ["cmake", "include"] {
        std::os::unix::fs::symlink(root().join("libvouch").join(part), out.join(part)).unwrap();
    }
    let image = product::image(&root().join("examples/flight-failsafe.vch"), true);
    let model = file(folder, "model.img", &image);
    let project = format!(
        "cmake_minimum_required(VERSION 3.18)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
project(checker C ASM)
find_package(vouch REQUIRED PATHS {out}/cmake NO_DEFAULT_PATH)
set(example {example})
add_executable(checker.elf ${{example}}/checker.c ${{example}}/board.c ${{example}}/model.S)
target_compile_definitions(checker.elf PRIVATE MODEL=\"{model}\")
target_compile_options(checker.elf PRIVATE -mcpu=cortex-m3 -mthumb -Os -ffreestanding -ffunction-sections)
target_link_options(checker.elf PRIVATE -mcpu=cortex-m3 -mthumb -nostdlib -Wl,--gc-sections -T ${{example}}/link.ld)
target_link_libraries(checker.elf PRIVATE vouch::vouch gcc)
",
        out = out.display(),
        example = root().join("libvouch/example").display(),
    );
    file(folder, "CMakeLists.txt", project.as_bytes());
    let configure = |processor: &str| {
        let mut cmake = Command::new("cmake");
        cmake.arg("-S").arg(folder).arg("-B").arg(folder.join(processor));
        cmake.arg(format!("-DCMAKE_SYSTEM_PROCESSOR={processor}")).args(["-G", "Unix Makefiles"]);
        cmake
    };
    run(&mut configure("cortex-m3"));
    run(Command::new("cmake").arg("--build").arg(folder.join("cortex-m3")));
    assert_eq!(said(&folder.join("cortex-m3/checker.elf")), ["certificate 0"]);
    for (processor, message) in
        [("cortex-m0", "`cargo xtask libvouch` builds it"), ("z80", "set VOUCH_TARGET")]
    {
        let output = configure(processor).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(!output.status.success() && said.contains(message), "{processor}: {said}");
    }
}

#[test]
fn a_product_in_c_stores_a_signed_model() {
    let folder = tempfile::tempdir().unwrap();
    let image = image();
    let key = file(folder.path(), "key", &maker::public());
    let header = vouch_device::package::HEADER_LEN;
    let try_with = |package: &[u8]| {
        let model = file(folder.path(), "model.pkg", package);
        let flags = [
            format!("-DMODEL=\"{model}\""),
            format!("-DKEY=\"{key}\""),
            format!("-DHEADER={header}"),
        ];
        said(&example("store", &flags, folder.path()))
    };
    let good = maker::package(&image, 1);
    let done = [
        "open 0",
        "provision 0",
        "begin 0",
        "write 0",
        "finish 0",
        "application started",
        "boot 0",
        "start",
    ];
    assert_eq!(try_with(&good), done);
    // One bit of the image: the hash differs when all has come, and nothing starts.
    let mut damaged = good.clone();
    damaged[header + 100] ^= 1;
    let all = try_with(&damaged);
    assert_eq!(all[4..], ["finish 10", "boot 2", "refuse"], "{all:?}");
    // Another's signature is refused before anything is written.
    let other = ed25519_dalek::SigningKey::from_bytes(&[9; 32]);
    let all = try_with(&maker::package_by(&other, &image, 1));
    assert_eq!(all[2], "begin 13", "{all:?}");
    assert_eq!(all.last().unwrap(), "refuse", "{all:?}");
}
