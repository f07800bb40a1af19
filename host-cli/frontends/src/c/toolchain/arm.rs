//! What compilers for Arm define by the processor that they make code for, as `arm-none-eabi-gcc -dM -E` tells it.

use super::Compiler;
use std::collections::BTreeMap;

/// What one version of the architecture has.
struct Architecture {
    /// As `-march=` names it.
    name: &'static str,
    /// `__ARM_ARCH`.
    number: u32,
    /// What `__ARM_ARCH_…__` is called.
    own: &'static str,
    /// `A`, `R` or `M`.
    profile: Option<char>,
    /// Whether there are instructions other than Thumb.
    arm: bool,
    /// Which Thumb there is.
    thumb: u32,
    /// Coprocessor instructions.
    coproc: u32,
    dsp: bool,
    /// For how many bytes there are exclusive accesses, as a sum.
    ldrex: u32,
    idiv: Idiv,
}

/// With which instructions numbers can be divided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idiv {
    Never,
    Thumb,
    Always,
}

const fn classic(
    name: &'static str,
    number: u32,
    own: &'static str,
    coproc: u32,
    dsp: bool,
    ldrex: u32,
) -> Architecture {
    let (profile, arm, thumb, idiv) = (None, true, 1, Idiv::Never);
    Architecture { name, number, own, profile, arm, thumb, coproc, dsp, ldrex, idiv }
}

const fn small(
    name: &'static str,
    number: u32,
    own: &'static str,
    ldrex: u32,
    idiv: Idiv,
) -> Architecture {
    let (profile, arm, thumb, coproc, dsp) = (Some('M'), false, 1, 0, false);
    Architecture { name, number, own, profile, arm, thumb, coproc, dsp, ldrex, idiv }
}

const fn main_line(name: &'static str, number: u32, own: &'static str, dsp: bool) -> Architecture {
    let (profile, arm, thumb, coproc, ldrex) = (Some('M'), false, 2, 15, 7);
    Architecture { name, number, own, profile, arm, thumb, coproc, dsp, ldrex, idiv: Idiv::Always }
}

const fn large(name: &'static str, own: &'static str, profile: char, idiv: Idiv) -> Architecture {
    let (profile, arm, thumb, coproc, dsp) = (Some(profile), true, 2, 15, true);
    Architecture { name, number: 7, own, profile, arm, thumb, coproc, dsp, ldrex: 15, idiv }
}

const ARCHITECTURES: [Architecture; 20] = [
    classic("armv4t", 4, "4T", 1, false, 0),
    classic("armv5t", 5, "5T", 3, false, 0),
    classic("armv5te", 5, "5TE", 7, true, 0),
    classic("armv5tej", 5, "5TEJ", 7, true, 0),
    classic("armv6", 6, "6", 15, true, 4),
    classic("armv6j", 6, "6J", 15, true, 4),
    classic("armv6z", 6, "6Z", 15, true, 4),
    classic("armv6k", 6, "6K", 15, true, 15),
    classic("armv6kz", 6, "6KZ", 15, true, 15),
    small("armv6-m", 6, "6M", 0, Idiv::Never),
    small("armv6s-m", 6, "6M", 0, Idiv::Never),
    small("armv8-m.base", 8, "8M_BASE", 7, Idiv::Always),
    main_line("armv7-m", 7, "7M", false),
    main_line("armv7e-m", 7, "7EM", true),
    main_line("armv8-m.main", 8, "8M_MAIN", false),
    main_line("armv8.1-m.main", 8, "8M_MAIN", false),
    large("armv7-a", "7A", 'A', Idiv::Never),
    large("armv7ve", "7A", 'A', Idiv::Always),
    large("armv7-r", "7R", 'R', Idiv::Thumb),
    large("armv7-r+idiv", "7R", 'R', Idiv::Always),
];

/// Processors, and what they are.
const CORES: [(&str, &str); 41] = [
    ("arm7tdmi", "armv4t"),
    ("arm7tdmi-s", "armv4t"),
    ("arm920t", "armv4t"),
    ("arm926ej-s", "armv5tej+fp"),
    ("arm946e-s", "armv5te+fp"),
    ("arm966e-s", "armv5te+fp"),
    ("arm1136j-s", "armv6j"),
    ("arm1136jf-s", "armv6j+fp"),
    ("arm1176jz-s", "armv6kz"),
    ("arm1176jzf-s", "armv6kz+fp"),
    ("cortex-a5", "armv7-a+neon-fp16"),
    ("cortex-a7", "armv7ve+simd"),
    ("cortex-a8", "armv7-a+simd"),
    ("cortex-a9", "armv7-a+neon-fp16"),
    ("cortex-a12", "armv7ve+simd"),
    ("cortex-a15", "armv7ve+simd"),
    ("cortex-a17", "armv7ve+simd"),
    ("cortex-r4", "armv7-r"),
    ("cortex-r4f", "armv7-r+fp"),
    ("cortex-r5", "armv7-r+idiv+fp"),
    ("cortex-r7", "armv7-r+idiv+vfpv3-d16-fp16"),
    ("cortex-r8", "armv7-r+idiv+vfpv3-d16-fp16"),
    ("cortex-m0", "armv6s-m"),
    ("cortex-m0.small-multiply", "armv6s-m"),
    ("cortex-m0plus", "armv6s-m"),
    ("cortex-m0plus.small-multiply", "armv6s-m"),
    ("cortex-m1", "armv6s-m"),
    ("cortex-m1.small-multiply", "armv6s-m"),
    ("sc000", "armv6s-m"),
    ("cortex-m3", "armv7-m"),
    ("sc300", "armv7-m"),
    ("cortex-m4", "armv7e-m+fp"),
    ("cortex-m4f", "armv7e-m+fp"),
    ("cortex-m7", "armv7e-m+fp.dp"),
    ("cortex-m23", "armv8-m.base"),
    ("cortex-m33", "armv8-m.main+dsp+fp"),
    ("cortex-m35p", "armv8-m.main+dsp+fp"),
    ("star-mc1", "armv8-m.main+dsp+fp"),
    ("cortex-m52", "armv8.1-m.main+mve.fp+fp.dp"),
    ("cortex-m55", "armv8.1-m.main+mve.fp+fp.dp"),
    ("cortex-m85", "armv8.1-m.main+mve.fp+fp.dp"),
];

/// What a unit for floating-point numbers has: `__ARM_FP`, products with a sum, `__ARM_NEON_FP`.
const UNITS: [(&str, u32, bool, u32); 20] = [
    ("vfp", 12, false, 0),
    ("vfpv2", 12, false, 0),
    ("vfpv3", 12, false, 0),
    ("vfpv3-d16", 12, false, 0),
    ("vfpv3-fp16", 14, false, 0),
    ("vfpv3-d16-fp16", 14, false, 0),
    ("vfpv3xd", 4, false, 0),
    ("vfpv3xd-fp16", 4, false, 0),
    ("vfpv4", 14, true, 0),
    ("vfpv4-d16", 14, true, 0),
    ("fpv4-sp-d16", 4, true, 0),
    ("fpv5-sp-d16", 4, true, 0),
    ("fpv5-d16", 14, true, 0),
    ("fp-armv8", 14, true, 0),
    ("neon", 12, false, 4),
    ("neon-vfpv3", 12, false, 4),
    ("neon-fp16", 14, false, 6),
    ("neon-vfpv4", 14, true, 6),
    ("neon-fp-armv8", 14, true, 6),
    ("none", 0, false, 0),
];

/// How numbers are computed that have a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FloatAbi {
    Soft,
    SoftFp,
    Hard,
}

/// What flags say of the processor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flags {
    /// What the name of the target says.
    named: Option<String>,
    cpu: Option<String>,
    arch: Option<String>,
    fpu: Option<String>,
    float: FloatAbi,
    thumb: bool,
    aligned: bool,
    secure: bool,
    no_interwork: bool,
}

impl Default for Flags {
    fn default() -> Flags {
        Flags {
            named: None,
            cpu: None,
            arch: None,
            fpu: None,
            float: FloatAbi::Soft,
            thumb: false,
            aligned: false,
            secure: false,
            no_interwork: false,
        }
    }
}

/// A processor as it is found in the tables.
struct Processor {
    arch: &'static Architecture,
    dsp: bool,
    fpu: Option<&'static str>,
    /// Whether it computes with 16 bits, and with vectors.
    half: bool,
    mve: u32,
}

impl Flags {
    /// What is made for a target of this name: `thumbv7em-none-eabihf`.
    pub fn of_target(name: &str) -> Flags {
        let mut flags = Flags::default();
        let machine = name.split('-').next().unwrap_or(name);
        flags.thumb = machine.starts_with("thumb");
        let version = machine.trim_start_matches("thumb").trim_start_matches("arm");
        let arch = match version {
            "" => None,
            "v6m" => Some("armv6-m".to_string()),
            "v7m" => Some("armv7-m".into()),
            "v7em" => Some("armv7e-m".into()),
            "v8m.base" => Some("armv8-m.base".into()),
            "v8m.main" => Some("armv8-m.main".into()),
            "v8.1m.main" => Some("armv8.1-m.main".into()),
            "v7" | "v7a" => Some("armv7-a".into()),
            "v7r" => Some("armv7-r".into()),
            other => Some(format!("arm{other}")),
        };
        flags.named = arch;
        if name.ends_with("hf") {
            flags.float = FloatAbi::Hard;
        }
        flags
    }

    /// Takes one flag.
    pub fn refine(&mut self, flag: &str) {
        if let Some(cpu) = flag.strip_prefix("-mcpu=") {
            self.cpu = Some(cpu.to_ascii_lowercase());
        } else if let Some(arch) = flag.strip_prefix("-march=") {
            self.arch = Some(arch.to_ascii_lowercase());
        } else if let Some(fpu) = flag.strip_prefix("-mfpu=") {
            self.fpu = (fpu != "auto").then(|| fpu.to_ascii_lowercase());
        } else {
            match flag {
                "-mfloat-abi=soft" | "-msoft-float" => self.float = FloatAbi::Soft,
                "-mfloat-abi=softfp" => self.float = FloatAbi::SoftFp,
                "-mfloat-abi=hard" | "-mhard-float" => self.float = FloatAbi::Hard,
                "-mthumb" => self.thumb = true,
                "-marm" => self.thumb = false,
                "-mno-unaligned-access" => self.aligned = true,
                "-munaligned-access" => self.aligned = false,
                "-mcmse" => self.secure = true,
                "-mno-thumb-interwork" => self.no_interwork = true,
                "-mthumb-interwork" => self.no_interwork = false,
                _ => {}
            }
        }
    }

    /// The processor, or the flag that names one which nothing is known of.
    fn processor(&self) -> Result<Processor, String> {
        let (flag, name) = match (&self.arch, &self.cpu) {
            (Some(arch), _) => (format!("-march={arch}"), arch.clone()),
            (None, Some(cpu)) => {
                let (core, more) = match cpu.split_once('+') {
                    Some((core, more)) => (core, format!("+{more}")),
                    None => (&**cpu, String::new()),
                };
                let known = CORES.iter().find(|known| known.0 == core);
                let known = known.ok_or_else(|| format!("-mcpu={cpu}"))?;
                (format!("-mcpu={cpu}"), format!("{}{more}", known.1))
            }
            (None, None) => {
                let named = self.named.clone().unwrap_or("armv4t".into());
                (format!("--target={named}"), named)
            }
        };
        let mut words = name.split('+').peekable();
        let mut base = words.next().unwrap_or("").to_string();
        if words.peek() == Some(&"idiv") {
            words.next();
            base += "+idiv";
        }
        let arch = ARCHITECTURES.iter().find(|arch| arch.name == base);
        let arch = arch.ok_or_else(|| flag.clone())?;
        let mut found = Processor { arch, dsp: arch.dsp, fpu: None, half: false, mve: 0 };
        for word in words {
            if !found.extend(word) {
                return Err(flag);
            }
        }
        if let Some(fpu) = &self.fpu {
            let known = UNITS.iter().find(|unit| unit.0 == fpu);
            found.fpu = Some(known.ok_or_else(|| format!("-mfpu={fpu}"))?.0);
        }
        Ok(found)
    }

    /// What is defined besides the types, and what is not.
    pub fn macros(
        &self,
        compiler: Compiler,
    ) -> Result<BTreeMap<&'static str, Option<String>>, String> {
        let processor = self.processor()?;
        let Processor { arch, .. } = processor;
        let gcc = compiler == Compiler::Gcc;
        let thumb = self.thumb || !arch.arm;
        // All of the instruction set, or the part that the first Thumb has.
        let wide = !thumb || arch.thumb == 2;
        let baseline = arch.profile == Some('M') && arch.thumb == 1;
        let exclusive = match (thumb, arch.number, arch.ldrex) {
            (true, ..=6, _) => 0,
            (_, 8, 7) if !gcc => 15,
            (.., ldrex) => ldrex,
        };
        // Clang tells by the architecture, gcc by the instructions that it may use.
        let has = |number: u32| match gcc {
            true => wide && arch.number >= number,
            false => arch.number >= number && !(arch.number == 6 && baseline),
        };
        let mut all = BTreeMap::new();
        let mut set = |name: &'static str, value: Option<String>| {
            all.insert(name, value);
        };
        let one = |is: bool| is.then(|| "1".to_string());
        for name in OWN {
            let plain = name.trim_start_matches("__ARM_ARCH_").trim_end_matches("__");
            set(name, one(plain == arch.own || plain == "6ZK" && arch.own == "6KZ"));
        }
        set("__ARM_ARCH", Some(arch.number.to_string()));
        set("__ARM_ARCH_PROFILE", arch.profile.map(|c| (c as u32).to_string()));
        set("__ARM_ARCH_ISA_ARM", one(arch.arm));
        set("__ARM_ARCH_ISA_THUMB", Some(arch.thumb.to_string()));
        set("__ARM_32BIT_STATE", one(wide || !gcc));
        set("__thumb__", one(thumb));
        set("__THUMBEL__", one(thumb));
        set("__thumb2__", one(thumb && arch.thumb == 2));
        set("__THUMB_INTERWORK__", one(!self.no_interwork && (gcc || thumb)));
        set("__ARM_FEATURE_CLZ", one(has(5)));
        let saturates = if gcc { wide && (arch.number >= 6 || arch.dsp) } else { has(6) };
        set("__ARM_FEATURE_QBIT", one(saturates));
        set("__ARM_FEATURE_SAT", one(has(6)));
        set("__ARM_FEATURE_DSP", one(wide && processor.dsp));
        set("__ARM_FEATURE_SIMD32", one(wide && processor.dsp && arch.number >= 6));
        let divides = match arch.idiv {
            Idiv::Never => false,
            Idiv::Thumb => thumb,
            Idiv::Always => true,
        };
        set("__ARM_FEATURE_IDIV", one(divides));
        set("__ARM_ARCH_EXT_IDIV__", one(divides));
        set("__ARM_FEATURE_LDREX", (exclusive > 0).then(|| exclusive.to_string()));
        let cmse = if self.secure { "3" } else { "1" };
        let has_cmse = arch.profile == Some('M') && arch.number == 8;
        set("__ARM_FEATURE_CMSE", has_cmse.then(|| cmse.into()));
        if gcc {
            set("__ARM_FEATURE_UNALIGNED", one(wide && arch.number >= 6 && !self.aligned));
            let coproc = (wide && arch.coproc > 0).then(|| arch.coproc.to_string());
            set("__ARM_FEATURE_COPROC", coproc);
            set("__ARM_ASM_SYNTAX_UNIFIED__", one(thumb && arch.thumb == 2));
            set("__GCC_ASM_FLAG_OUTPUTS__", one(wide));
        } else {
            set("__ARM_FEATURE_DIRECTED_ROUNDING", one(arch.number >= 8));
            set("__ARM_FEATURE_NUMERIC_MAXMIN", one(arch.number >= 8));
        }
        // What is one instruction, or a loop around an exclusive access.
        let swaps = |bytes: u32| match gcc {
            true => exclusive & bytes != 0,
            false => exclusive != 0 && wide,
        };
        set("__GCC_HAVE_SYNC_COMPARE_AND_SWAP_1", one(swaps(1)));
        set("__GCC_HAVE_SYNC_COMPARE_AND_SWAP_2", one(swaps(2)));
        set("__GCC_HAVE_SYNC_COMPARE_AND_SWAP_4", one(swaps(4)));
        set("__GCC_HAVE_SYNC_COMPARE_AND_SWAP_8", one(swaps(8)));
        for (names, bytes) in LOCK_FREE {
            let is_free = exclusive & bytes != 0 && !(bytes == 8 && arch.profile == Some('M'));
            for name in names {
                set(name, Some(if is_free { "2" } else { "1" }.to_string()));
            }
        }
        self.floating(&processor, gcc, &mut set)?;
        Ok(all)
    }

    /// What is defined for numbers with a point.
    fn floating(
        &self,
        processor: &Processor,
        gcc: bool,
        set: &mut dyn FnMut(&'static str, Option<String>),
    ) -> Result<(), String> {
        let one = |is: bool| is.then(|| "1".to_string());
        let unit = match (self.float, processor.fpu) {
            (FloatAbi::Soft, _) => None,
            (_, Some(name)) => UNITS.iter().find(|unit| unit.0 == name && unit.1 > 0),
            (_, None) => None,
        };
        if self.float == FloatAbi::Hard && unit.is_none() {
            return Err("-mfloat-abi=hard".into());
        }
        let (mut bits, fused, neon) = unit.map_or((0, false, 0), |unit| (unit.1, unit.2, unit.3));
        if !gcc && fused {
            bits |= 2;
        }
        let twice = bits & 8 != 0;
        set("__SOFTFP__", one(unit.is_none()));
        set("__ARM_PCS", one(!gcc || self.float != FloatAbi::Hard));
        set("__ARM_PCS_VFP", one(self.float == FloatAbi::Hard));
        set("__ARM_FP", (bits > 0).then(|| bits.to_string()));
        set("__ARM_FEATURE_FMA", one(fused));
        set("__ARM_NEON", one(neon > 0));
        set("__ARM_NEON__", one(neon > 0));
        set("__ARM_NEON_FP", (neon > 0).then(|| neon.to_string()));
        let half = processor.half && unit.is_some();
        set("__ARM_FEATURE_FP16_SCALAR_ARITHMETIC", one(half));
        set("__ARM_FEATURE_MVE", (half && processor.mve > 0).then(|| processor.mve.to_string()));
        if gcc {
            set("__ARM_FP16_ARGS", one(half));
            set("__ARM_FP16_FORMAT_IEEE", one(half));
            set("__FP_FAST_FMAF", one(fused));
            set("__FP_FAST_FMA", one(fused && twice));
            set("__FP_FAST_FMAL", one(fused && twice));
            let iec = if twice { "2" } else { "0" };
            set("__GCC_IEC_559", Some(iec.into()));
            set("__GCC_IEC_559_COMPLEX", Some(iec.into()));
            let method = if half { "16" } else { "0" };
            set("__FLT_EVAL_METHOD__", Some(method.into()));
            set("__FLT_EVAL_METHOD_TS_18661_3__", Some(method.into()));
        } else {
            set("__ARM_VFPV2__", one(unit.is_some()));
            set("__ARM_VFPV3__", one(unit.is_some_and(|unit| !matches!(unit.0, "vfp" | "vfpv2"))));
            set("__ARM_VFPV4__", one(fused));
            let is_fifth = |name: &str| name.starts_with("fpv5") || name.ends_with("armv8");
            set("__ARM_FPV5__", one(unit.is_some_and(|unit| is_fifth(unit.0))));
        }
        Ok(())
    }
}

impl Processor {
    /// Takes what is said after a plus; whether that is known.
    fn extend(&mut self, word: &str) -> bool {
        let (name, number) = (self.arch.name, self.arch.number);
        let main_8 = name.ends_with("m.main");
        match word {
            "dsp" if main_8 => self.dsp = true,
            "nodsp" if main_8 => self.dsp = false,
            "nofp" => (self.fpu, self.half, self.mve) = (Some("none"), false, 0),
            "fp" => {
                self.half = name == "armv8.1-m.main";
                self.fpu = Some(match name {
                    _ if main_8 => "fpv5-sp-d16",
                    "armv7e-m" => "fpv4-sp-d16",
                    "armv7ve" => "vfpv4-d16",
                    _ if number == 7 && self.arch.arm => "vfpv3-d16",
                    _ if self.arch.arm => "vfpv2",
                    _ => return false,
                });
            }
            "fpv5" if name == "armv7e-m" => self.fpu = Some("fpv5-sp-d16"),
            "fp.dp" if name == "armv7e-m" || main_8 => {
                self.half = name == "armv8.1-m.main";
                self.fpu = Some("fpv5-d16");
            }
            "nofp.dp" if self.fpu == Some("fpv5-d16") => self.fpu = Some("fpv5-sp-d16"),
            "fp.sp" if name.starts_with("armv7-r") => self.fpu = Some("vfpv3xd"),
            "simd" if name == "armv7-a" => self.fpu = Some("neon"),
            "simd" if name == "armv7ve" => self.fpu = Some("neon-vfpv4"),
            "mve" | "mve.fp" if name == "armv8.1-m.main" => {
                (self.dsp, self.mve) = (true, if word == "mve" { 1 } else { 3 });
            }
            "nomve" => self.mve = 0,
            "nomve.fp" => self.mve = self.mve.min(1),
            // These change nothing that is defined.
            "mp" | "sec" | "pacbti" | "nopacbti" => {}
            _ => {
                let known = UNITS.iter().find(|unit| unit.0 == word && word != "none");
                let Some(unit) = known.filter(|_| self.arch.arm) else { return false };
                self.fpu = Some(unit.0);
            }
        }
        true
    }
}

/// One of them is defined.
const OWN: [&str; 18] = [
    "__ARM_ARCH_4T__",
    "__ARM_ARCH_5T__",
    "__ARM_ARCH_5TE__",
    "__ARM_ARCH_5TEJ__",
    "__ARM_ARCH_6__",
    "__ARM_ARCH_6J__",
    "__ARM_ARCH_6Z__",
    "__ARM_ARCH_6K__",
    "__ARM_ARCH_6KZ__",
    "__ARM_ARCH_6ZK__",
    "__ARM_ARCH_6M__",
    "__ARM_ARCH_7M__",
    "__ARM_ARCH_7EM__",
    "__ARM_ARCH_7A__",
    "__ARM_ARCH_7R__",
    "__ARM_ARCH_8M_BASE__",
    "__ARM_ARCH_8M_MAIN__",
    "__ARM_ARCH_8_1M_MAIN__",
];

/// What is said of types of so many bytes.
const LOCK_FREE: [(&[&str], u32); 4] = [
    (&["__GCC_ATOMIC_BOOL_LOCK_FREE", "__GCC_ATOMIC_CHAR_LOCK_FREE"], 1),
    (&["__GCC_ATOMIC_SHORT_LOCK_FREE", "__GCC_ATOMIC_CHAR16_T_LOCK_FREE"], 2),
    (
        &[
            "__GCC_ATOMIC_INT_LOCK_FREE",
            "__GCC_ATOMIC_LONG_LOCK_FREE",
            "__GCC_ATOMIC_POINTER_LOCK_FREE",
            "__GCC_ATOMIC_CHAR32_T_LOCK_FREE",
            "__GCC_ATOMIC_WCHAR_T_LOCK_FREE",
        ],
        4,
    ),
    (&["__GCC_ATOMIC_LLONG_LOCK_FREE"], 8),
];
