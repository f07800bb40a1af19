//! Data models: what compilers for a target take for granted of types.

/// What the compiler for the target takes for granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DataModel {
    /// 32-bit x86: `long` and pointers have 32 bits, `char` is signed.
    #[default]
    Ilp32,
    /// 64-bit x86: `long` and pointers have 64 bits, `char` is signed.
    Lp64,
    /// Bare-metal Arm: as `Ilp32`, but `long long` is aligned to 8 bytes.
    Arm(Arm),
    /// Bare-metal RISC-V: likewise, with unsigned `char` and a `long double` of 16 bytes.
    Riscv32,
}

/// What compilers for Arm differ in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arm {
    /// Whether `char` is signed: `-fsigned-char`.
    pub signed_char: bool,
    /// Whether enumerations are as large as `int` instead of as small as their values allow: `-fno-short-enums`.
    pub int_enums: bool,
}

impl DataModel {
    /// That of `arm-none-eabi-gcc`.
    pub const ARM32: DataModel = DataModel::Arm(Arm { signed_char: false, int_enums: false });

    /// All of them.
    const ALL: [DataModel; 7] = [
        DataModel::Ilp32,
        DataModel::Lp64,
        DataModel::ARM32,
        DataModel::Arm(Arm { signed_char: false, int_enums: true }),
        DataModel::Arm(Arm { signed_char: true, int_enums: false }),
        DataModel::Arm(Arm { signed_char: true, int_enums: true }),
        DataModel::Riscv32,
    ];

    /// As the command line names it.
    pub fn name(self) -> &'static str {
        match self {
            DataModel::Ilp32 => "ilp32",
            DataModel::Lp64 => "lp64",
            DataModel::Arm(Arm { signed_char: false, int_enums: false }) => "arm32",
            DataModel::Arm(Arm { signed_char: false, int_enums: true }) => "arm32-int-enums",
            DataModel::Arm(Arm { signed_char: true, int_enums: false }) => "arm32-signed-char",
            DataModel::Arm(Arm { signed_char: true, int_enums: true }) => {
                "arm32-int-enums-signed-char"
            }
            DataModel::Riscv32 => "riscv32",
        }
    }

    /// Whether it is one of Arm.
    pub fn is_arm(self) -> bool {
        matches!(self, DataModel::Arm(_))
    }

    /// Whether `char` is signed.
    pub fn signed_char(self) -> bool {
        match self {
            DataModel::Ilp32 | DataModel::Lp64 => true,
            DataModel::Arm(arm) => arm.signed_char,
            DataModel::Riscv32 => false,
        }
    }

    /// Whether enumerations are as small as their values allow.
    pub fn short_enums(self) -> bool {
        matches!(self, DataModel::Arm(Arm { int_enums: false, .. }))
    }
}

impl std::str::FromStr for DataModel {
    type Err = String;
    fn from_str(text: &str) -> Result<DataModel, String> {
        let known = DataModel::ALL.into_iter().find(|model| model.name() == text);
        known.ok_or_else(|| {
            let names = DataModel::ALL.map(DataModel::name).join(", ");
            format!("unknown data model `{text}`; one of {names}")
        })
    }
}
