//! `cargo xtask glitch`: each instruction that a boot executes which must refuse, replaced by a no-operation,
//! one at a time, in QEMU.
//!
//! The campaign is a program in the tests' package, which gets all arguments. What is tried whole, of a board
//! and a kind of boot, is put into the record.

use crate::record::{self, Kept};
use crate::{boards, firmware, project, setup, shell};
use anyhow::Result;

const USAGE: &str = "glitch [--board lm3s6965evb|microbit|riscv-virt|mps2-an386] \
                     [--sample N] [--kind KIND] [--function TEXT] [--jobs J]";
const BOARDS: [&str; 4] = ["lm3s6965evb", "microbit", "riscv-virt", "mps2-an386"];

/// Runs the campaign on the chosen boards, and records it unless it is only a part.
pub fn task(args: &[String]) -> Result<()> {
    let mut named = Vec::new();
    for pair in args.chunks(2) {
        match pair {
            [option, board] if option == "--board" => named.push(board.clone()),
            [_, _] => {}
            _ => return Err(shell::Usage(USAGE.into()).into()),
        }
    }
    let built = if named.is_empty() { BOARDS.map(String::from).to_vec() } else { named.clone() };
    let built: Result<Vec<_>> = built.iter().map(|name| boards::named(name)).collect();
    setup::run()?;
    firmware::build(&built?)?;
    let program = ["run", "--quiet", "--package", "vouch-tools", "--bin", "glitch", "--"];
    let mut command = shell::cargo();
    command.current_dir(project::root()).args(program).arg(project::firmware_out()).args(args);
    let part = args.iter().any(|a| ["--sample", "--function"].contains(&a.as_str()));
    if part {
        return shell::run(&mut command);
    }
    let head = format!(
        "# cargo xtask glitch [--board B] [--kind K], each row on the firmware of the commit in its last column; {}\n\
         # boots that must refuse, of firmware/examples and of the firmware; each instruction that is\n\
         # executed is replaced by a no-operation, one at a time\n\
         # forged: signed by another key in the name of the right one; tampered: not the image that was\n\
         # signed; stranger: signed by another key; unsigned; old: below the counter; product: for another\n\
         # one; broken: signed, and breaks a property; miscertified: the same with the certificate of\n\
         # another model; trial: the same as broken, not confirmed yet; recoded: of other code; unbound: of\n\
         # none; second-key: asked to set a first key where there is one; forged-key: asked to trust a key,\n\
         # in the name of one that is; bypasses: accepted, confirmed or started; misreports: refused, and\n\
         # said something else; hangs: came to no end, which is left to a watchdog\n\
         # what writes flash is tried on mps2-an386 instead of lm3s6965evb, whose flash QEMU cannot write\n\
         # where fewer are tried than executed, it is every n-th of them (--sample)\n",
        record::compiler()?
    );
    // Hours, which need not be in one piece.
    let kept = Kept::UntilReplaced(2);
    shell::stage("glitch.tsv", || record::rows("glitch.tsv", &head, kept, &mut command))
}
