//! Compares steps of programs with their automata: `steps FILE ENTRY [INIT] [COUNT] [SEED]`, `-` for no INIT.

#[cfg(unix)]
fn main() {
    use vouch_host::frontend::elf::ElfOptions;
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, entry, rest @ ..] = &args[..] else {
        eprintln!("usage: steps FILE ENTRY [INIT] [COUNT] [SEED]");
        std::process::exit(2);
    };
    let init = rest.first().filter(|init| *init != "-").cloned();
    let number = |at: usize, default: u64| rest.get(at).map_or(Ok(default), |n| n.parse());
    let (Ok(count), Ok(seed)) = (number(1, 1000), number(2, 1)) else {
        eprintln!("COUNT and SEED are numbers");
        std::process::exit(2);
    };
    let options = ElfOptions { entry: Some(entry.clone()), init, ..ElfOptions::default() };
    let compared =
        vouch_tests::machine::compare(std::path::Path::new(file), &options, count as usize, seed);
    match compared {
        Ok(compared) => println!("{entry}: {compared:?}"),
        Err(what) => {
            println!("{entry}: {what}");
            std::process::exit(1);
        }
    }
}

#[cfg(not(unix))]
fn main() {}
