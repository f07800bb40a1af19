//! What compilers define by flags that have nothing to do with the processor.

use super::Compiler;

/// What flags say of the language and of optimisation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flags {
    /// The last `-O…`.
    optimize: String,
    /// `-fno-inline`.
    no_inline: bool,
    /// As `-std=` names it.
    pub standard: String,
    gnu_inline: bool,
    freestanding: bool,
    /// `-fpic` and `-fpie`, and how large what they lead to may be.
    pic: Option<u32>,
    pie: Option<u32>,
    finite: bool,
    fast: bool,
    /// What other flags define.
    others: Vec<(&'static str, &'static str)>,
}

impl Default for Flags {
    fn default() -> Flags {
        Flags {
            optimize: "-O0".into(),
            no_inline: false,
            standard: "gnu17".into(),
            gnu_inline: false,
            freestanding: false,
            pic: None,
            pie: None,
            finite: false,
            fast: false,
            others: vec![],
        }
    }
}

/// Flags that define something, and what.
const OTHERS: [(&str, &str, &str); 8] = [
    ("-fstack-protector", "__SSP__", "1"),
    ("-fstack-protector-all", "__SSP_ALL__", "2"),
    ("-fstack-protector-strong", "__SSP_STRONG__", "3"),
    ("-fexceptions", "__EXCEPTIONS", "1"),
    ("-fsanitize=address", "__SANITIZE_ADDRESS__", "1"),
    ("-fno-math-errno", "__NO_MATH_ERRNO__", "1"),
    ("-fno-signed-zeros", "__NO_SIGNED_ZEROS__", "1"),
    ("-frounding-math", "__ROUNDING_MATH__", "1"),
];

impl Flags {
    /// Takes one flag.
    pub fn refine(&mut self, flag: &str) {
        if let Some(other) = OTHERS.iter().find(|other| other.0 == flag) {
            self.others.push((other.1, other.2));
            return;
        }
        match flag {
            _ if flag.starts_with("-O") => {
                self.optimize = flag.into();
                (self.fast, self.finite) = (flag == "-Ofast", flag == "-Ofast");
            }
            "-fno-inline" => self.no_inline = true,
            "-finline" => self.no_inline = false,
            "-ansi" => self.standard = "c90".into(),
            "-fgnu89-inline" => self.gnu_inline = true,
            "-ffreestanding" | "-fno-hosted" => self.freestanding = true,
            "-fhosted" | "-fno-freestanding" => self.freestanding = false,
            "-fpic" | "-fPIC" => (self.pic, self.pie) = (Some(size(flag)), None),
            "-fpie" | "-fPIE" => (self.pic, self.pie) = (Some(size(flag)), Some(size(flag))),
            "-fno-pic" | "-fno-PIC" | "-fno-pie" | "-fno-PIE" => {
                (self.pic, self.pie) = (None, None);
            }
            "-ffast-math" => (self.fast, self.finite) = (true, true),
            "-fno-fast-math" => (self.fast, self.finite) = (false, false),
            "-ffinite-math-only" => self.finite = true,
            "-fno-finite-math-only" => self.finite = false,
            _ => {
                if let Some(standard) = flag.strip_prefix("-std=") {
                    self.standard = standard.into();
                }
            }
        }
    }

    /// Whether the language is C90.
    pub fn is_c90(&self) -> bool {
        const C90: [&str; 6] = ["c89", "c90", "gnu89", "gnu90", "iso9899:1990", "iso9899:199409"];
        C90.contains(&&*self.standard)
    }

    /// Whether it is C without what GNU adds.
    pub fn is_strict(&self) -> bool {
        !self.standard.starts_with("gnu")
    }

    /// What is defined, and what is not.
    pub fn macros(&self, compiler: Compiler) -> Vec<(&'static str, Option<String>)> {
        let one = |is: bool| is.then(|| "1".to_string());
        let optimizes = self.optimize != "-O0";
        let small = matches!(&*self.optimize, "-Os" | "-Oz");
        let plain = self.standard.trim_start_matches("gnu").trim_start_matches("iso9899:");
        let version = match plain.trim_start_matches('c') {
            "89" | "90" | "1990" => None,
            "199409" => Some("199409L"),
            "99" | "9x" | "1999" | "199x" => Some("199901L"),
            "11" | "1x" | "2011" => Some("201112L"),
            "2x" => Some("202000L"),
            "23" | "2024" => Some("202311L"),
            "2y" => Some("202400L"),
            _ => Some("201710L"),
        };
        let gnu_inline = self.gnu_inline || self.is_c90();
        let mut all = vec![
            ("__OPTIMIZE__", one(optimizes)),
            ("__OPTIMIZE_SIZE__", one(small)),
            ("__NO_INLINE__", one(!optimizes || self.no_inline)),
            ("__STDC_VERSION__", version.map(str::to_string)),
            ("__STDC_HOSTED__", Some(if self.freestanding { "0" } else { "1" }.into())),
            ("__STRICT_ANSI__", one(self.is_strict())),
            ("__GNUC_GNU_INLINE__", one(gnu_inline)),
            ("__GNUC_STDC_INLINE__", one(!gnu_inline)),
            ("__PIC__", self.pic.map(|size| size.to_string())),
            ("__pic__", self.pic.map(|size| size.to_string())),
            ("__PIE__", self.pie.map(|size| size.to_string())),
            ("__pie__", self.pie.map(|size| size.to_string())),
            ("__FAST_MATH__", one(self.fast)),
            ("__FINITE_MATH_ONLY__", Some(if self.finite { "1" } else { "0" }.into())),
        ];
        let is_late = version.is_some_and(|version| version >= "201112L");
        let has_utf = one(is_late || compiler != Compiler::Gcc);
        all.extend([("__STDC_UTF_16__", has_utf.clone()), ("__STDC_UTF_32__", has_utf)]);
        all.extend(self.others.iter().map(|(name, value)| (*name, Some(value.to_string()))));
        all
    }
}

/// What `__PIC__` is.
fn size(flag: &str) -> u32 {
    if flag.ends_with('C') || flag.ends_with('E') { 2 } else { 1 }
}
