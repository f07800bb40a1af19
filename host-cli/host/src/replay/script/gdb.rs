//! As a script for gdb.

use super::{Story, shown};
use crate::frontend::elf::Source;
use crate::frontend::elf::isa::Isa;
use std::collections::BTreeSet;

/// A gdb script that repeats the run on the program, input by input.
pub fn write(story: &Story) -> String {
    let is_thumb = story.elf.isa != Isa::Rv32;
    let (link, result, bit) = if is_thumb { ("$lr", "$r0", " | 1") } else { ("$ra", "$a0", "") };
    let argument =
        |number: u32| if is_thumb { format!("$r{number}") } else { format!("$a{number}") };
    let stops: BTreeSet<u32> = story
        .calls
        .iter()
        .flat_map(|call| &call.reads)
        .filter_map(|read| match read.source {
            Source::Function(at) | Source::Load(at) | Source::Monitor(at) => Some(at),
            Source::Argument { .. } | Source::Stack { .. } | Source::Open => None,
        })
        .chain(story.failures.iter().copied())
        .collect();
    let mut text = format!(
        "# A run that breaks `{}`, found by vouch. Load the program into a board or an emulator, let it stop\n\
         # where its start-up code is done (`tbreak main`, `continue`), with interrupts disabled, and then:\n#\n\
         #     (gdb) source run.gdb\n#\n# It ends where the program fails.\n\
         set pagination off\nset confirm off\ndelete\nset $vouch_back = (unsigned)$pc\nset $vouch_sp = (unsigned)$sp\n\n\
         # Lets the program run to an address.\ndefine vouch_to\n  continue\n  if $pc != $arg0\n    \
         printf \"stopped at %#x, not at %#x: this is not the run\\n\", $pc, $arg0\n  end\nend\n\n\
         # Lets it run to a function that is an input, which returns this.\ndefine vouch_give\n  vouch_to $arg0\n  \
         set {result} = $arg1\n  set $pc = (unsigned){link} & ~1\nend\n\nbreak *$vouch_back\n",
        story.property
    );
    for at in stops {
        text += &format!("break *{at:#010x}\n");
    }
    let last = story.calls.len().saturating_sub(1);
    for (number, call) in story.calls.iter().enumerate() {
        let name = story.name(call.function);
        text += &format!("\n# Call {} is of {name}.\nset $sp = $vouch_sp\n", number + 1);
        for read in call.reads.iter().filter(|read| read.matters) {
            match read.source {
                Source::Argument { number: n, .. } => {
                    text += &format!("set {} = {:#x}\n", argument(n), read.value)
                }
                Source::Stack { at, .. } => {
                    text += &format!("set {{unsigned int}}($sp {at:+}) = {:#x}\n", read.value);
                }
                _ => {}
            }
        }
        text += &format!("set {link} = $vouch_back{bit}\nset $pc = {:#010x}\n", call.function);
        for read in &call.reads {
            match read.source {
                Source::Function(at) => {
                    let input = story.inputs.iter().find(|input| input.at == at);
                    let (width, signed) = input.map_or((32, false), |i| (i.width, i.signed));
                    let value = shown(read.value, width, signed);
                    text += &format!("vouch_give {at:#010x} {value}\n");
                }
                Source::Load(at) | Source::Monitor(at) => {
                    let place = story.elf.place(at);
                    text += &format!(
                        "vouch_to {at:#010x}\n# At {place} {:#x} must be read: put it where the load leaves it.\n\
                         printf \"%s reads {:#x} in the run\\n\", \"{at:#010x}\"\nstepi\n",
                        read.value, read.value
                    );
                }
                Source::Argument { .. } | Source::Stack { .. } | Source::Open => {}
            }
        }
        text += match number == last {
            true => "continue\n",
            false => "vouch_to $vouch_back\n",
        };
    }
    text += "\nif $pc == $vouch_back\n  printf \"the program does not fail\\n\"\nelse\n  \
             printf \"the program fails here:\\n\"\n  x/i $pc\n  backtrace\nend\n";
    text
}
