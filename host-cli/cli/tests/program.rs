//! Programs in machine code as users see them: what is replayed, what is not, and files of runs.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/machine")
}

/// A pump that fails, for a Cortex-M0.
fn pump(folder: &Path) -> PathBuf {
    let elf = folder.join("pump.elf");
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.current_dir(sources()).args(["-mthumb", "-mcpu=cortex-m0", "-Os", "-g", "-DBROKEN"]);
    gcc.args(["-ffreestanding", "-nostdlib", "-Wl,-T,link.x,-e,step", "pump.c", "io.c", "-lgcc"]);
    assert!(gcc.arg("-o").arg(&elf).status().unwrap().success());
    elf
}

fn vouch(folder: &Path, args: &[&str], path: Option<&Path>) -> Output {
    let mut vouch = Command::new(env!("CARGO_BIN_EXE_vouch"));
    vouch.current_dir(folder).args(args);
    path.map(|path| vouch.env("PATH", path));
    vouch.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn without_qemu_or_program_nothing_is_unsafe() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pump(folder);
    let check = ["check", "pump.elf", "--entry", "step"];
    let output = vouch(folder, &check, None);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("replayed on the program in QEMU (netduino2)"));
    let json = vouch(folder, &[&check[..], &["--json"]].concat(), None);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let mut properties = json["properties"].as_array().unwrap().iter();
    assert!(properties.any(|p| p["verdict"] == "unsafe" && p["replayed"] == "netduino2"), "{json}");

    let output = vouch(folder, &check, Some(folder));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.contains("not replayed: qemu-system-arm is not installed"), "{out}");
    assert!(out.contains("A run of the automaton, not of the program, that breaks"), "{out}");
    assert!(err.contains("help: install QEMU"), "{err}");

    let compile = ["compile", "pump.elf", "--entry", "step", "-o", "pump.vimg"];
    assert!(vouch(folder, &compile, None).status.success());
    let output = vouch(folder, &["check", "pump.vimg"], None);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("not replayed: the image does not hold the program"));
    assert!(text(&output.stderr).contains("vouch check FILE.elf"), "{}", text(&output.stderr));
}

#[test]
fn a_trace_is_replayed_on_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pump(folder);
    let check = ["check", "pump.elf", "--entry", "step", "--trace", "run.txt"];
    assert_eq!(vouch(folder, &check, None).status.code(), Some(1));
    let replay = ["replay", "pump.elf", "run.txt", "--entry", "step"];
    assert_eq!(vouch(folder, &replay, None).status.code(), Some(1));
    assert_eq!(vouch(folder, &replay, Some(folder)).status.code(), Some(3));
}

#[test]
fn runs_as_scripts_and_tests() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pump(folder);
    for file in ["run.gdb", "run.c", "run.rs"] {
        let check = ["check", "pump.elf", "--entry", "step", "--trace", file];
        let output = vouch(folder, &check, None);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    }
    // In C: it aborts if the bug is there, and only then.
    let run = |flags: &[&str]| {
        let (source, program) = (folder.join("run.c"), folder.join("run"));
        let mut gcc = Command::new("gcc");
        gcc.current_dir(sources()).args(["-Wall", "-Wextra", "-Werror", "-I."]).args(flags);
        gcc.arg(source).arg("pump.c").arg("-o").arg(&program);
        assert!(gcc.status().unwrap().success());
        Command::new(program).output().unwrap()
    };
    let broken = run(&["-DBROKEN"]);
    assert!(!broken.status.success());
    assert!(text(&broken.stderr).contains("vouch_fail is called"));
    assert_eq!(run(&[]).status.code(), Some(0));

    // In Rust: the same, with the step from C.
    let test = |flags: &[&str]| {
        let (object, archive) = (folder.join("pump.o"), folder.join("libpump.a"));
        let mut gcc = Command::new("gcc");
        gcc.current_dir(sources()).args(["-c", "-fexceptions", "-I.", "pump.c"]).args(flags);
        assert!(gcc.arg("-o").arg(&object).status().unwrap().success());
        let _ = std::fs::remove_file(&archive);
        assert!(Command::new("ar").arg("rc").args([&archive, &object]).status().unwrap().success());
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.current_dir(folder).args(["--edition", "2024", "--test", "run.rs", "-D", "warnings"]);
        rustc.args(["-L", ".", "-l", "static=pump", "-o", "tests"]);
        assert!(rustc.status().unwrap().success());
        Command::new(folder.join("tests")).output().unwrap()
    };
    let broken = test(&["-DBROKEN"]);
    assert!(!broken.status.success());
    assert!(text(&broken.stdout).contains("vouch_fail is called"), "{}", text(&broken.stdout));
    assert!(test(&[]).status.success());

    // In a debugger: it ends at the failure, and says so if there is none.
    let said = debug(folder, "pump.elf");
    assert!(said.contains("the program fails here"), "{said}");
    let script = std::fs::read_to_string(folder.join("run.gdb")).unwrap();
    let harmless = script.replace(" 129\n", " 0\n").replace(" 128\n", " 0\n");
    assert_ne!(script, harmless);
    std::fs::write(folder.join("run.gdb"), harmless).unwrap();
    let said = debug(folder, "pump.elf");
    assert!(!said.contains("the program fails here"), "{said}");
}

/// What a debugger says of the run when it is connected to an emulated board with a program.
fn debug(folder: &Path, program: &str) -> String {
    let socket = folder.join("gdb");
    let _ = std::fs::remove_file(&socket);
    let mut qemu = Command::new("qemu-system-arm");
    qemu.args(["-machine", "netduino2", "-nodefaults", "-display", "none", "-monitor", "none"]);
    qemu.arg("-S").arg("-gdb").arg(format!("unix:{},server=on,wait=off", socket.display()));
    qemu.arg("-device").arg(format!("loader,file={}", folder.join(program).display()));
    let mut qemu = qemu.spawn().unwrap();
    while !socket.exists() && qemu.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // Where start-up code would have come to.
    let start = "set $sp = 0x2001f000\nset $pc = 0x08001000\nset $xpsr = 0x01000000\n";
    let target = format!("target remote {}\n", socket.display());
    std::fs::write(folder.join("start.gdb"), format!("{target}{start}")).unwrap();
    let mut gdb = Command::new("gdb-multiarch");
    gdb.current_dir(folder).args(["-q", "-batch", "-x", "start.gdb", "-x", "run.gdb"]);
    let output = gdb.arg(program).output().unwrap();
    let _ = qemu.kill();
    let _ = qemu.wait();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn a_debugger_follows_programs_only() {
    let folder = tempfile::tempdir().unwrap();
    let model = "machine m { var x: bool = false; initial state S { else { x = true; } } \
                 property p: never x; }";
    std::fs::write(folder.path().join("m.vch"), model).unwrap();
    let output = vouch(folder.path(), &["check", "m.vch", "--trace", "m.gdb"], None);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let err = text(&output.stderr);
    assert!(err.contains("for runs of programs in machine code"), "{err}");
    for file in ["m.c", "m.rs"] {
        let output = vouch(folder.path(), &["check", "m.vch", "--trace", file], None);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(folder.path().join(file).exists());
    }
}

#[test]
fn what_means_nothing_for_a_model_is_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("idle.c"), "int main(void) { return 0; }").unwrap();
    for (option, value) in [("--always", "f"), ("--input", "x")] {
        let output = vouch(folder, &["check", "idle.c", option, value], None);
        assert_eq!(output.status.code(), Some(2));
        let message = text(&output.stderr);
        assert!(message.contains(&format!("`{option}` means nothing for idle.c")), "{message}");
    }
    std::fs::write(folder.join("idle.vch"), "machine m { initial state S {} }").unwrap();
    // A second model would be passed over, and the first one's verdict taken for both.
    let output = vouch(folder, &["check", "idle.vch", "idle.c"], None);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a second file means nothing for idle.vch"));
    for option in ["--interrupt", "--init"] {
        let output = vouch(folder, &["check", "idle.vch", option, "f"], None);
        let message = text(&output.stderr);
        assert!(message.contains(&format!("`{option}` means nothing")), "{message}");
    }
}

/// The pump's source, bound to the program that it was compiled into; and what is wrong with what is asked for.
#[test]
fn a_model_of_c_is_bound_to_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pump(folder);
    let source = sources().join("pump.c");
    let source = source.to_str().unwrap();
    let step = ["compile", source, "--entry", "step", "--loop", "--data-model", "arm32"];
    let with = |more: &[&str]| vouch(folder, &[&step[..], more].concat(), None);
    let output = with(&["--elf", "pump.elf", "-o", "c.vimg"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("bound to"), "{}", text(&output.stdout));
    let verify = |elf: &str| vouch(folder, &["verify", "c.vimg", "--elf", elf], None).status.code();
    assert_eq!(verify("pump.elf"), Some(0));
    let mut other = std::fs::read(folder.join("pump.elf")).unwrap();
    let table = other.windows(5).position(|bytes| bytes == [0, 20, 100, 30, 0]).unwrap();
    other[table + 1] += 1;
    std::fs::write(folder.join("other.elf"), other).unwrap();
    assert_eq!(verify("other.elf"), Some(5));

    let wrong: [(&[&str], &str); 6] = [
        (&["--elf", "nowhere.elf"], "cannot read nowhere.elf"),
        (&["--elf", source], "this is not an ELF file"),
        (&["--cover", "main"], "`--elf FIRMWARE.elf`"),
        (&["--guard"], "`--elf FIRMWARE.elf`"),
        (&["--elf", "pump.elf", "--cover", "nobody"], "no function, object or section `nobody`"),
        (&["--state-type", "state.txt"], "`.rs` for Rust, `.h` for C"),
    ];
    for (args, message) in wrong {
        let output = with(&[args, &["-o", "wrong.vimg"]].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(message), "{args:?}: {}", text(&output.stderr));
    }
    let model = sources().join("../../examples/watchdog.vch");
    let model = model.to_str().unwrap();
    let output = vouch(folder, &["compile", model, "--elf", "pump.elf", "-o", "w.vimg"], None);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("`--elf` is for C"), "{}", text(&output.stderr));
    let output = vouch(folder, &["compile", model, "--state-type", "w.h", "-o", "w.vimg"], None);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(std::fs::read_to_string(folder.join("w.h")).unwrap().contains("static inline void"));
}

/// A program is stored as its image is, bound to its code.
#[test]
fn programs_are_stored_with_what_they_are_bound_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    pump(folder);
    let sim = ["--target", "sim", "--flash-file", "flash.bin"];
    let on = |args: &[&str]| vouch(folder, &[args, &sim].concat(), None);
    assert!(vouch(folder, &["keygen", "-o", "key"], None).status.success());
    assert!(on(&["provision", "key.pub"]).status.success());
    let step = ["pump.elf", "--entry", "step"];
    let flashed = on(&[&["flash"], &step[..], &["--sign", "key", "--json"]].concat());
    assert_eq!(flashed.status.code(), Some(0), "{}", text(&flashed.stderr));
    let compile = [&["compile"], &step[..], &["-o", "pump.vimg"]].concat();
    assert!(vouch(folder, &compile, None).status.success());
    let stored = on(&["run", "pump.vimg", "--stored", "--json"]);
    let stored: serde_json::Value = serde_json::from_slice(&stored.stdout).unwrap();
    assert_eq!(
        stored["verdict"], "unknown",
        "what is broken needs the program to replay: {stored}"
    );
    let unknown = on(&[&["flash"], &step[..], &["--cover", "nothing"]].concat());
    assert!(!unknown.status.success() && text(&unknown.stderr).contains("`nothing`"));
}
