//! What compilers for RISC-V define by the extensions that a processor has.

use super::Compiler;
use std::collections::{BTreeMap, BTreeSet};

/// What flags say of the processor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// As the compiler is called: `riscv32`, or another name, which leaves the number of bits open.
    named: String,
    arch: Option<String>,
    abi: Option<String>,
    /// `-mcmodel=medany`.
    anywhere: bool,
}

impl Flags {
    /// What is made for a target of this name: `riscv32-unknown-elf`.
    pub fn of_target(name: &str) -> Flags {
        let named = name.split('-').next().unwrap_or(name).to_string();
        Flags { named, ..Flags::default() }
    }

    /// Takes one flag.
    pub fn refine(&mut self, flag: &str) {
        if let Some(arch) = flag.strip_prefix("-march=") {
            self.arch = Some(arch.to_ascii_lowercase());
        } else if let Some(abi) = flag.strip_prefix("-mabi=") {
            self.abi = Some(abi.to_ascii_lowercase());
        } else if let Some(model) = flag.strip_prefix("-mcmodel=") {
            self.anywhere = model == "medany";
        }
    }

    /// The extensions, by their names, or the flag that is not one for 32 bits.
    fn extensions(&self) -> Result<BTreeSet<String>, String> {
        let default = if self.named == "riscv32" { "rv32imac" } else { "" };
        let arch = self.arch.clone().unwrap_or(default.to_string());
        let flag = if arch.is_empty() { self.named.clone() } else { format!("-march={arch}") };
        let Some(rest) = arch.strip_prefix("rv32") else { return Err(flag) };
        let mut parts = rest.split('_');
        let mut found = BTreeSet::new();
        let letters = parts.next().unwrap_or("").replace('g', "imafd");
        for letter in letters.chars() {
            match letter {
                'i' | 'e' | 'm' | 'a' | 'f' | 'd' | 'c' => found.insert(letter.to_string()),
                _ => return Err(flag),
            };
        }
        found.extend(parts.map(str::to_string));
        match self.abi.as_deref() {
            None | Some("ilp32" | "ilp32e" | "ilp32f" | "ilp32d") => Ok(found),
            Some(abi) => Err(format!("-mabi={abi}")),
        }
    }

    /// What is defined besides the types, and what is not.
    pub fn macros(
        &self,
        compiler: Compiler,
    ) -> Result<BTreeMap<&'static str, Option<String>>, String> {
        let extensions = self.extensions()?;
        let has = |name: &str| extensions.contains(name);
        let one = |is: bool| is.then(|| "1".to_string());
        let version = |is: bool| is.then(|| "2000000".to_string());
        let abi = self.abi.as_deref();
        let double = abi == Some("ilp32d") || abi.is_none() && has("d");
        let single = abi == Some("ilp32f") || abi.is_none() && has("f") && !has("d");
        let flen = if has("d") { Some("64") } else { has("f").then_some("32") };
        let mut all = BTreeMap::from([
            ("__riscv_mul", one(has("m"))),
            ("__riscv_div", one(has("m"))),
            ("__riscv_muldiv", one(has("m"))),
            ("__riscv_atomic", one(has("a"))),
            ("__riscv_compressed", one(has("c"))),
            ("__riscv_32e", one(has("e"))),
            ("__riscv_flen", flen.map(str::to_string)),
            ("__riscv_fdiv", one(has("f"))),
            ("__riscv_fsqrt", one(has("f"))),
            ("__riscv_float_abi_double", one(double)),
            ("__riscv_float_abi_single", one(single)),
            ("__riscv_float_abi_soft", one(!double && !single)),
            ("__riscv_cmodel_medany", one(self.anywhere)),
            ("__riscv_cmodel_medlow", one(!self.anywhere)),
            ("__riscv_i", version(has("i"))),
            ("__riscv_m", version(has("m"))),
            ("__riscv_a", version(has("a"))),
            ("__riscv_f", version(has("f"))),
            ("__riscv_d", version(has("d"))),
            ("__riscv_c", version(has("c"))),
        ]);
        if !has("a") {
            for name in LOCK_FREE {
                all.insert(name, Some("1".into()));
            }
            all.insert("__GCC_HAVE_SYNC_COMPARE_AND_SWAP_4", None);
            if compiler != Compiler::Gcc {
                all.insert("__GCC_HAVE_SYNC_COMPARE_AND_SWAP_1", None);
                all.insert("__GCC_HAVE_SYNC_COMPARE_AND_SWAP_2", None);
            }
        }
        Ok(all)
    }
}

/// What is 1 where there are no atomic instructions.
const LOCK_FREE: [&str; 9] = [
    "__GCC_ATOMIC_BOOL_LOCK_FREE",
    "__GCC_ATOMIC_CHAR_LOCK_FREE",
    "__GCC_ATOMIC_CHAR16_T_LOCK_FREE",
    "__GCC_ATOMIC_CHAR32_T_LOCK_FREE",
    "__GCC_ATOMIC_WCHAR_T_LOCK_FREE",
    "__GCC_ATOMIC_SHORT_LOCK_FREE",
    "__GCC_ATOMIC_INT_LOCK_FREE",
    "__GCC_ATOMIC_LONG_LOCK_FREE",
    "__GCC_ATOMIC_POINTER_LOCK_FREE",
];
