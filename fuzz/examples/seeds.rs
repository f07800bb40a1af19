//! Writes the seeds of a target into a folder: `seeds TARGET FOLDER`.

use std::path::Path;
use vouch_fuzz::Target;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder] = &args[..] else {
        return Err(std::io::Error::other("seeds TARGET FOLDER"));
    };
    let target = Target::named(name).ok_or(std::io::Error::other("no such target"))?;
    for (i, seed) in (target.seeds)().iter().enumerate() {
        std::fs::write(Path::new(folder).join(format!("seed-{i}")), seed)?;
    }
    Ok(())
}
