//! Programs of csmith, an independent generator: <https://github.com/csmith-project/csmith>.

use super::Program;
use std::process::Command;
use std::sync::OnceLock;

/// Small programs, without what is refused on purpose.
const FLAGS: [&str; 7] =
    ["--max-funcs", "3", "--max-block-depth", "2", "--no-float", "--no-volatiles", "--no-argc"];

/// Where Debian puts its header.
const INCLUDE: &str = "-I/usr/include/csmith";

/// The program of a seed. Its names of file scope get a suffix, its main function another name, and its
/// checksum is a sum.
pub fn generate(seed: u64, suffix: &str) -> Result<Program, String> {
    // It leaves a file where it runs, with the sizes of the host's types.
    let mut csmith = Command::new("csmith");
    csmith.current_dir(std::env::temp_dir()).args(FLAGS).args(["--seed", &seed.to_string()]);
    let output = csmith.output();
    let output = output.map_err(|e| format!("csmith: {e}"))?;
    let sum = format!("crc32_context{suffix}");
    let mut text = format!(
        "unsigned long long {sum};\nstatic void transparent_crc{suffix}(uint64_t value, char *name, \
         int flag) {{\n    {sum} = {sum} * 31 + value;\n}}\n"
    );
    let mut packed = false;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match line {
            "#pragma pack(1)" => packed = true,
            "#pragma pack(pop)" => packed = false,
            "};" if packed => text += "} __attribute__((packed));\n",
            _ if line.starts_with('#') => {}
            _ => {
                rename(line, suffix, &mut text);
                text += "\n";
            }
        }
    }
    Ok(Program { seed, text, entry: format!("run{suffix}"), sum })
}

/// Adds a line with its names of file scope, which are those that csmith makes up, and `main`.
fn rename(line: &str, suffix: &str, text: &mut String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for part in line.split_inclusive(|c| !is_word(c)) {
        let word = part.trim_end_matches(|c| !is_word(c));
        let rest = &part[word.len()..];
        let number = |prefix: &str| {
            let digits = word.strip_prefix(prefix).unwrap_or_default();
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        };
        let made_up = ["g_", "func_", "S", "U"].into_iter().any(number);
        match word {
            "main" => *text += &format!("run{suffix}"),
            "__undefined" | "transparent_crc" | "crc32_context" => {
                *text += &format!("{word}{suffix}")
            }
            _ if made_up => *text += &format!("{word}{suffix}"),
            _ => *text += word,
        }
        *text += rest;
    }
}

/// What all programs need, without directives: the functions that keep arithmetic defined.
pub fn prelude() -> Result<String, String> {
    static TEXT: OnceLock<Result<String, String>> = OnceLock::new();
    TEXT.get_or_init(preprocess).clone()
}

fn preprocess() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let header = folder.path().join("csmith.h");
    std::fs::write(&header, include_str!("csmith.h")).map_err(|e| e.to_string())?;
    let output = Command::new("gcc").args(["-E", "-P", "-x", "c", INCLUDE]).arg(&header).output();
    let output = output.map_err(|e| format!("gcc: {e}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
