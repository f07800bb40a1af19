//! Flags for models in C.

use super::interrupt::Interrupt;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::ffi::OsString;
use vouch_host::frontend::c::{COptions, Checks, DataModel, DeclaredOnly, Macro};

/// Arguments with `-include FILE`, which compilers take, as a flag that can be had here.
pub fn as_flags(args: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    args.map(|arg| if arg == "-include" { "--include-file".into() } else { arg })
}

/// What only C needs.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "C")]
pub struct CArgs {
    /// Sizes of types: ilp32, lp64, arm32 (unsigned char, short enums), arm32-int-enums, arm32-signed-char,
    /// arm32-int-enums-signed-char, riscv32 [default: that of the compile command, or ilp32]
    #[arg(long, env = "VOUCH_DATA_MODEL", hide_env = true, value_name = "MODEL")]
    pub data_model: Option<DataModel>,
    /// A function that handles an interrupt: it may run between two steps, and before each access of the step to
    /// what both use. The priority is that of the interrupt controller (0 to 255): smaller numbers interrupt
    /// larger ones; without one it is 0. Can be repeated
    #[arg(long = "interrupt", env = "VOUCH_INTERRUPT", hide_env = true)]
    #[arg(value_name = "HANDLER[:PRIORITY]", value_delimiter = ',')]
    pub interrupts: Vec<Interrupt>,
    /// The function that is run [default: main; for ELF files it must be named]
    #[arg(long, env = "VOUCH_ENTRY", hide_env = true, value_name = "FUNCTION")]
    pub entry: Option<String>,
    /// The function that is called once before; for ELF files before the first step (`--entry` names the one that is a
    /// step)
    #[arg(long, env = "VOUCH_INIT", hide_env = true, value_name = "FUNCTION")]
    pub init: Option<String>,
    /// A function that a scheduler calls: again and again, in any order with other tasks and the entry function, if one
    /// is named, each to its end. Can be repeated
    #[arg(long = "task", env = "VOUCH_TASK", hide_env = true, value_name = "FUNCTION")]
    #[arg(value_delimiter = ',')]
    pub tasks: Vec<String>,
    /// Call the entry function again and again, with new arguments and inputs each time
    #[arg(long = "loop", env = "VOUCH_LOOP", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub repeat: bool,
    /// Check also: bounds, div, shift, null, heap, all (separated by commas)
    #[arg(long, env = "VOUCH_CHECKS", hide_env = true, value_name = "LIST")]
    #[arg(default_value = "")]
    pub checks: Checks,
    /// How deep recursion is followed; beyond, the verdict is unknown [default: 24; `check` tries 3, 8,
    /// 24 and 64]
    #[arg(long, env = "VOUCH_RECURSION", hide_env = true, value_name = "DEPTH")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub recursion: Option<u32>,
    /// How many blocks of the heap a call of `malloc` may have in use at once; beyond, the verdict is unknown
    #[arg(long, env = "VOUCH_BLOCKS", hide_env = true, value_name = "COUNT")]
    #[arg(default_value_t = COptions::default().blocks)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub blocks: u32,
    /// Look for included files here too; can be repeated
    #[arg(long, short = 'I', env = "VOUCH_INCLUDE", hide_env = true, value_name = "FOLDER")]
    #[arg(value_delimiter = ',')]
    pub include: Vec<String>,
    /// Define a macro, as in DEBUG or SIZE=8; can be repeated
    #[arg(long, short = 'D', env = "VOUCH_DEFINE", hide_env = true, value_name = "MACRO")]
    pub define: Vec<String>,
    /// Undefine a macro, after all that are defined; can be repeated
    #[arg(long, short = 'U', env = "VOUCH_UNDEFINE", hide_env = true, value_name = "MACRO")]
    pub undefine: Vec<String>,
    /// Include a file before the first line (also: -include FILE); can be repeated
    #[arg(long = "include-file", env = "VOUCH_INCLUDE_FILE")]
    #[arg(hide_env = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub forced: Vec<String>,
    /// Read the host's headers, with its macros, instead of those that come with vouch
    #[arg(long, env = "VOUCH_HOST_HEADERS", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub host_headers: bool,
    /// Another file of the program, compiled on its own and linked; can be repeated (`check` and `lint` take
    /// further files without this flag)
    #[arg(long = "unit", env = "VOUCH_UNIT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub units: Vec<String>,
    /// A compilation database: tells how files are compiled, and which others the entry function needs
    #[arg(long, env = "VOUCH_COMPILE_COMMANDS", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub compile_commands: Option<String>,
    /// What functions do that are declared only, besides returning any value: havoc (change what they are
    /// given in any way) or nothing
    #[arg(long, env = "VOUCH_DECLARED_ONLY", hide_env = true, value_name = "MODE")]
    #[arg(default_value = "havoc")]
    pub declared_only: DeclaredOnly,
    /// A file that describes registers: their names, and which keep what is written (docs/c.md); or an SVD file, which
    /// gives names. Can be repeated
    #[arg(long, env = "VOUCH_REGISTERS", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub registers: Vec<String>,
}

impl CArgs {
    /// Handlers of interrupts and their priorities.
    pub fn interrupts(&self) -> Vec<(String, u8)> {
        let all = self.interrupts.iter();
        all.map(|Interrupt(name, priority)| (name.clone(), *priority)).collect()
    }

    /// As the front end wants it.
    pub fn options(&self) -> COptions {
        let define = self.define.iter().cloned().map(Macro::Define);
        let undefine = self.undefine.iter().cloned().map(Macro::Undefine);
        let mut steps = self.entry.iter().chain(&self.tasks).cloned();
        COptions {
            interrupts: self.interrupts(),
            model: self.data_model.unwrap_or_default(),
            model_is_given: self.data_model.is_some(),
            entry: steps.next().unwrap_or(COptions::default().entry),
            tasks: steps.collect(),
            init: self.init.clone(),
            repeat: self.repeat || !self.tasks.is_empty(),
            checks: self.checks,
            recursion: self.recursion.unwrap_or(COptions::default().recursion),
            blocks: self.blocks,
            copies: COptions::default().copies,
            include: self.include.clone(),
            macros: define.chain(undefine).collect(),
            forced: self.forced.clone(),
            host_headers: self.host_headers,
            units: self.units.clone(),
            compile_commands: self.compile_commands.clone(),
            declared_only: self.declared_only,
            registers: self.registers.clone(),
        }
    }
}
