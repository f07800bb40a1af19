//! What a compile command makes code for: the data model, and what its compiler defines before the first line.

mod arm;
mod flags;
mod riscv;
#[cfg(test)]
mod tests;

use super::model::Arm;
use super::preprocess::Macro;
use super::{DataModel, headers};
use std::collections::BTreeMap;

/// Whose macros there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compiler {
    #[default]
    Gcc,
    Clang,
    /// That of Arm, which is Clang with a few macros more.
    ArmClang,
}

/// What is defined before the first line of a unit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Predefined {
    /// The compiler.
    pub compiler: Compiler,
    /// What flags change of that.
    pub changes: Vec<Macro>,
    /// Whether there is nothing: `-undef`.
    pub nothing: bool,
    /// Whether three characters may mean one: `-trigraphs`.
    pub trigraphs: bool,
}

impl Predefined {
    /// Definitions for the preprocessor.
    pub fn text(&self, model: DataModel) -> String {
        if self.nothing {
            return String::new();
        }
        let text = headers::target(model, self.compiler != Compiler::Gcc);
        let lines = text.lines().filter_map(|line| match line.split(' ').nth(1) {
            Some("__CHAR_UNSIGNED__") if model.signed_char() => None,
            Some("__ARM_SIZEOF_MINIMAL_ENUM") => Some(match model.short_enums() {
                true => "#define __ARM_SIZEOF_MINIMAL_ENUM 1",
                false => "#define __ARM_SIZEOF_MINIMAL_ENUM 4",
            }),
            _ => Some(line),
        });
        lines.flat_map(|line| [line, "\n"]).collect()
    }
}

/// What a command says of all that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toolchain {
    compiler: Compiler,
    processor: Processor,
    /// A flag that no data model is for.
    odd: Option<String>,
    signed_char: Option<bool>,
    short_enums: Option<bool>,
    arm: arm::Flags,
    riscv: riscv::Flags,
    pub common: flags::Flags,
    /// The device of an AVR.
    device: Option<String>,
    nothing: bool,
    trigraphs: Option<bool>,
}

/// What code is made for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Processor {
    X86 {
        bits: u32,
    },
    Arm,
    Riscv,
    /// A name that nothing is known of.
    Other(String),
}

/// Flags that give types another layout or another meaning than a data model has, each with its values.
const ODD: [&str; 21] = [
    "-ftrivial-auto-var-init",
    "-finput-charset",
    "-fpack-struct",
    "-fshort-wchar",
    "-fshort-double",
    "-funsigned-bitfields",
    "-fno-signed-bitfields",
    "-fsso-struct",
    "-fsingle-precision-constant",
    "-fexec-charset",
    "-fwide-exec-charset",
    "-fwchar-type",
    "-mms-bitfields",
    "-malign-double",
    "-mlong-double-",
    "-m96bit-long-double",
    "-m128bit-long-double",
    "-mstructure-size-boundary",
    "-mabi=apcs",
    "-mabi=atpcs",
    "-mbig-endian",
];

impl Toolchain {
    /// That of a compiler, by its path.
    pub fn of_compiler(path: &str) -> Toolchain {
        let name = program(path);
        let is_version = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        match name.rsplit_once('-') {
            // `arm-none-eabi-gcc`, but not `gcc-12`.
            Some((target, last)) if !is_version(last) => {
                let mut found = Toolchain::of(compiler(last), Processor::Other(name.to_string()));
                match last.ends_with("++") {
                    true => found.processor = Processor::Other(name.to_string()),
                    false => found.name(target, name),
                }
                found
            }
            Some((compiler, _)) => Toolchain::of_compiler(compiler),
            None => Toolchain::of(
                compiler(name),
                match name {
                    "armclang" => Processor::Arm,
                    "gcc" | "cc" | "clang" | "c99" | "icx" => Processor::X86 { bits: 64 },
                    _ => Processor::Other(name.to_string()),
                },
            ),
        }
    }

    fn of(compiler: Compiler, processor: Processor) -> Toolchain {
        Toolchain {
            compiler,
            processor,
            odd: None,
            signed_char: None,
            short_enums: None,
            arm: arm::Flags::default(),
            riscv: riscv::Flags::default(),
            common: flags::Flags::default(),
            device: None,
            nothing: false,
            trigraphs: None,
        }
    }

    /// Code is made for the target of this name; `what` is said of one that nothing is known of.
    pub fn name(&mut self, target: &str, what: &str) {
        self.processor = processor(target).unwrap_or(Processor::Other(what.to_string()));
        if self.processor == Processor::Arm {
            self.arm = arm::Flags::of_target(target);
        }
        self.riscv = riscv::Flags::of_target(target);
    }

    /// What language the file is taken to be in.
    pub fn language(&mut self, name: &str) {
        if !matches!(name, "c" | "none" | "cpp-output") {
            self.odd = Some(format!("-x {name}"));
        }
    }

    /// What a flag says besides.
    pub fn refine(&mut self, flag: &str) {
        self.common.refine(flag);
        if matches!(self.processor, Processor::X86 { .. }) && flag.starts_with("-mcpu=cortex-") {
            self.processor = Processor::Arm;
        }
        match (flag, &mut self.processor) {
            ("-undef", _) => self.nothing = true,
            ("-trigraphs", _) => self.trigraphs = Some(true),
            ("-m32", Processor::X86 { bits }) => *bits = 32,
            ("-m64", Processor::X86 { bits }) => *bits = 64,
            ("-mx32", Processor::X86 { .. }) => self.odd = Some(flag.to_string()),
            ("-fsigned-char" | "-fno-unsigned-char", _) => self.signed_char = Some(true),
            ("-funsigned-char" | "-fno-signed-char", _) => self.signed_char = Some(false),
            ("-fshort-enums", _) => self.short_enums = Some(true),
            ("-fno-short-enums", _) => self.short_enums = Some(false),
            ("-mabi=aapcs-linux", Processor::Arm) => {
                self.short_enums = Some(self.short_enums == Some(true));
            }
            // The default, which can be asked for.
            ("-mlittle-endian" | "-fno-short-wchar" | "-fno-pack-struct", _) => {}
            ("-ftrivial-auto-var-init=uninitialized", _) => {}
            _ if flag.contains("-charset=") && flag.to_ascii_lowercase().ends_with("=utf-8") => {}
            (_, Processor::Other(name)) if name.starts_with("avr") => {
                let device = flag.strip_prefix("-mmcu=").map(str::to_ascii_lowercase);
                self.device = device.or(self.device.take());
            }
            _ if ODD.iter().any(|odd| flag.starts_with(odd)) => self.odd = Some(flag.to_string()),
            (_, Processor::Arm) => self.arm.refine(flag),
            (_, Processor::Riscv) => self.riscv.refine(flag),
            _ => {}
        }
    }

    /// The data model, or why there is none.
    pub fn model(&self) -> Result<DataModel, String> {
        let none = |what: &str| Err(format!("there is no data model for `{what}`"));
        if let Some(flag) = &self.odd {
            return Err(format!("`{flag}` changes what a program means, and is not modelled"));
        }
        match &self.processor {
            Processor::X86 { .. } if self.signed_char == Some(false) => none("-funsigned-char"),
            Processor::X86 { .. } if self.short_enums == Some(true) => none("-fshort-enums"),
            Processor::X86 { bits: 32 } => Ok(DataModel::Ilp32),
            Processor::X86 { .. } => Ok(DataModel::Lp64),
            Processor::Arm => {
                if let Err(flag) = self.arm.macros(self.compiler) {
                    return Err(format!("nothing is known of what `{flag}` is for"));
                }
                Ok(DataModel::Arm(Arm {
                    signed_char: self.signed_char.unwrap_or(false),
                    // Clang takes them for as large as `int`, also without an operating system.
                    int_enums: !self.short_enums.unwrap_or(self.compiler == Compiler::Gcc),
                }))
            }
            Processor::Riscv if self.signed_char == Some(true) => none("-fsigned-char"),
            Processor::Riscv if self.short_enums == Some(true) => none("-fshort-enums"),
            Processor::Riscv => match self.riscv.macros(self.compiler) {
                Ok(_) => Ok(DataModel::Riscv32),
                Err(flag) => none(&flag),
            },
            Processor::Other(name) if name.ends_with("++") => {
                Err(format!("`{name}` compiles it as C++"))
            }
            Processor::Other(name) => none(name),
        }
    }

    /// What is defined before the first line.
    pub fn predefined(&self) -> Predefined {
        let mut all: Vec<(&str, Option<String>)> = self.common.macros(self.compiler);
        let own = match &self.processor {
            Processor::Arm => self.arm.macros(self.compiler),
            Processor::Riscv => self.riscv.macros(self.compiler),
            _ => Ok(BTreeMap::new()),
        };
        all.extend(own.into_iter().flatten());
        let is_x86 = matches!(self.processor, Processor::X86 { .. });
        if !is_x86 {
            // Whatever data model is chosen for it, this is no PC.
            all.extend(PC.map(|name| (name, None)));
        }
        let device = self.device.as_deref().map(avr);
        if let Some(device) = &device {
            all.push(("__AVR", Some("1".into())));
            all.push(("__AVR__", Some("1".into())));
            all.push((device, Some("1".into())));
        }
        if self.compiler != Compiler::Gcc && matches!(self.processor, Processor::X86 { .. }) {
            // Others are in the file that they begin with.
            let clang = [
                ("__clang__", "1"),
                ("__clang_major__", "14"),
                ("__clang_minor__", "0"),
                ("__clang_patchlevel__", "6"),
                ("__llvm__", "1"),
                ("__GNUC__", "4"),
                ("__GNUC_MINOR__", "2"),
                ("__GNUC_PATCHLEVEL__", "1"),
            ];
            all.extend(clang.map(|(name, value)| (name, Some(value.to_string()))));
        }
        if self.compiler == Compiler::ArmClang {
            let version = Some("6160001".to_string());
            all.push(("__ARMCC_VERSION", version.clone()));
            all.push(("__ARMCOMPILER_VERSION", version));
        }
        let changes = all.into_iter().map(|(name, value)| match value {
            Some(value) => Macro::Define(format!("{name}={value}")),
            None => Macro::Undefine(name.to_string()),
        });
        let strict = self.common.is_strict();
        Predefined {
            compiler: self.compiler,
            changes: if self.nothing { vec![] } else { changes.collect() },
            nothing: self.nothing,
            trigraphs: self.trigraphs.unwrap_or(strict),
        }
    }
}

/// What only compilers for PCs define.
const PC: [&str; 6] = ["__i386", "__i386__", "__x86_64", "__x86_64__", "__amd64", "__amd64__"];

/// What tells the device of an AVR: `__AVR_ATmega328P__` of `atmega328p`.
fn avr(device: &str) -> String {
    const FAMILIES: [(&str, &str); 4] =
        [("atmega", "ATmega"), ("attiny", "ATtiny"), ("atxmega", "ATxmega"), ("at", "AT")];
    let family = FAMILIES.iter().find(|family| device.starts_with(family.0));
    let (name, rest) = family.map_or(("", device), |(start, name)| (*name, &device[start.len()..]));
    format!("__AVR_{name}{}__", rest.to_ascii_uppercase())
}

/// Whose macros a compiler of this name has.
fn compiler(name: &str) -> Compiler {
    match name {
        "armclang" => Compiler::ArmClang,
        _ if name.starts_with("clang") => Compiler::Clang,
        _ => Compiler::Gcc,
    }
}

/// The name of a program.
pub fn program(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// What is meant by the name of a target.
fn processor(name: &str) -> Option<Processor> {
    let is_arm = ["arm", "thumb"].iter().any(|start| name.starts_with(start));
    let is_odd = ["armeb", "thumbeb"].iter().any(|start| name.starts_with(start));
    match name {
        // With other sizes or layouts.
        _ if is_odd || ["mingw", "windows", "cygwin", "x32"].iter().any(|n| name.contains(n)) => {
            None
        }
        _ if name.starts_with("x86_64") => Some(Processor::X86 { bits: 64 }),
        _ if name.starts_with('i') && name.contains("86") => Some(Processor::X86 { bits: 32 }),
        _ if name.starts_with("riscv") && !name.contains("linux") => Some(Processor::Riscv),
        // With an operating system there are other macros.
        _ if is_arm && !name.contains("linux") => Some(Processor::Arm),
        _ => None,
    }
}
