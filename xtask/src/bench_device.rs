//! `cargo xtask bench-device` and `bench-update`: what the self-check at boot, the guard and an update
//! cost on the emulated boards.
//!
//! The programs that measure are in `tests/tools/src/bin`; here they get firmware and models, and their
//! tables a head.

use crate::record::{self, Kept};
use crate::{boards, figures, firmware, project, setup, shell};
use anyhow::Result;

/// Boots every example that is meant to be safe on every board, with a certificate and without.
pub fn boot(args: &[String]) -> Result<()> {
    let head = format!(
        "# cargo xtask bench-device [MODEL…]; QEMU with -icount shift=0; {}\n\
         # firmware/examples/guarded.rs with the model stored in flash and read in place; counts repeat\n\
         # verdict: `not in time` after twenty minutes of wall-clock time, in which a busy machine emulates\n\
         # thousands of millions of instructions; `too large` for the flash; method: Proof in mode\n\
         # certificate is a proof that starts from the certificate, because the checker does not fit\n\
         # signature, validation, check: instructions until the stored package is believed, its image\n\
         # validated, its certificate re-checked or a proof found; check_bytes: RAM of the latter\n\
         # guard_invariant, guard_step: instructions each time; flips: of a live bit between two steps,\n\
         # noticed by the invariant at once or within 16 steps; step_flips: during a step, noticed by the\n\
         # step check; jumps: to another location, noticed by the invariant\n",
        record::build()?
    );
    run("bench-device", "selfcheck", "device.tsv", &head, args)
}

/// Updates every board that can write its flash with every example that is meant to be safe.
pub fn update(args: &[String]) -> Result<()> {
    let head = format!(
        "# cargo xtask bench-update [MODEL…]; {}\n\
         # a device that has the model stored is given it again, signed and with its certificate\n\
         # to_device, to_host: bytes on the line, from the first request of the update to the last answer,\n\
         # with framing, answers and the log; QEMU loses none, so nothing is sent twice\n\
         # pages_erased, words_programmed: of 1024 and 4 bytes, in a model of NOR flash as large as the board's\n\
         # instructions: of the device in its store (erasing, programming, checking the signatures), in QEMU\n\
         # with -icount shift=0, where flash is ready at once; without receiving and sending; they repeat on riscv-virt, and but\n\
         # for some ticks of their timers on the others\n\
         # line_seconds: computed, not measured: both ways at 115200 baud, ten bits a byte, without pauses\n\
         # lm3s6965evb: QEMU does not let it write its flash\n",
        record::build()?
    );
    run("bench-update", "update", "update.tsv", &head, args)
}

/// Boots the example that looks at its own code, with more and less of it to look at, with its guard and without.
pub fn bound(args: &[String]) -> Result<()> {
    shell::no_arguments("bench-bound", args)?;
    let head = format!("{BOUND}# {}\n", record::build()?);
    setup::run()?;
    firmware::build(&boards::emulated())?;
    let package =
        ["run", "--quiet", "--release", "--package", "vouch-tools", "--bin", "bound", "--"];
    let mut command = shell::cargo();
    command.current_dir(project::root()).args(package).arg(project::firmware_out());
    shell::stage("bound.tsv", || record::rows("bound.tsv", &head, Kept::Nothing, &mut command))
}

const BOUND: &str = "\
# cargo xtask bench-bound; QEMU with -icount shift=0; firmware/examples/bound.rs with the model of its own step\n\
# code_bytes: what the model is bound to, the step alone or with all that is flashed (--cover all)\n\
# self_check: instructions of the whole self-check with its certificate\n\
# guard: whether the model tells where the variables are (--guard), which only joins locations\n\
# guarded_step: instructions of one step of the application, with the guard if there is one\n";

fn run(task: &str, program: &str, table: &str, head: &str, args: &[String]) -> Result<()> {
    let safe = |model: &String| !model.ends_with("-broken.vch");
    let models = match args {
        [] => project::examples()?.into_iter().filter(safe).collect(),
        _ => args.to_vec(),
    };
    project::all_there(task, &models)?;
    setup::run()?;
    firmware::build(&boards::emulated())?;
    let package =
        ["run", "--quiet", "--release", "--package", "vouch-tools", "--bin", program, "--"];
    let mut command = shell::cargo();
    command.current_dir(project::root()).args(package).arg(project::firmware_out()).args(&models);
    let kept = match args {
        [] => Kept::Nothing,
        models => Kept::OtherModels(models),
    };
    shell::stage(table, || record::rows(table, head, kept, &mut command))?;
    figures::write(table)
}
