//! A program that runs alongside this one and ends with it, however this one ends.
//!
//! Nobody can clean up after having been killed. So there is a shell between the two: it ends the program
//! when the pipe from here is closed, which the system does in any case.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Starts its arguments after the first, and when standard input ends removes the folder that is the first
/// and ends the program. A process in the background has no
/// standard input of its own: hence the copy. When the program ends by itself, nobody must end whatever
/// has its number then: hence the last line.
#[cfg(unix)]
const KEEPER: &str = "folder=$1; shift; exec 3<&0; \"$@\" </dev/null 3<&- & child=$!; \
                      { cat <&3 >/dev/null; rm -rf -- \"$folder\"; kill -9 $child; } 2>/dev/null & keeper=$!; \
                      wait $child; status=$?; kill $keeper 2>/dev/null; exit $status";

/// A running program.
#[derive(Debug)]
pub struct Companion(Child);

/// Where a program is: at the path given, or in a folder of `PATH`.
pub fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_path_buf());
    }
    let file = |folder: PathBuf| {
        let plain = folder.join(program);
        let suffixed = plain.with_extension(std::env::consts::EXE_EXTENSION);
        [plain, suffixed].into_iter().find(|path| path.is_file())
    };
    std::env::split_paths(&std::env::var_os("PATH")?).find_map(file)
}

/// Waits until a program has ended. One that takes longer, or that is to stop, is killed: there is no status then.
pub fn wait(
    child: &mut Child,
    limit: Duration,
    is_stopped: impl Fn() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit || is_stopped() {
            // Whether it can be ended or not, nobody waits for it any longer.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Companion {
    /// Starts a program that [`find`] has found; what it complains about goes to a file. `folder` is
    /// removed with it, also by somebody else if this process is killed.
    pub fn start<A: AsRef<OsStr>>(
        program: &Path,
        args: impl IntoIterator<Item = A>,
        complaints: File,
        folder: &Path,
    ) -> io::Result<Companion> {
        let mut command = command(program, folder);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(complaints);
        command.spawn().map(Companion)
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // Both fail only if it has ended already.
        #[cfg(not(unix))]
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
fn command(program: &Path, folder: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/bin/sh");
    // Ctrl-C at the terminal is for us: a board must live to be told to stop.
    command.args(["-c", KEEPER, "sh"]).args([folder, program]).process_group(0);
    command
}

#[cfg(not(unix))]
fn command(program: &Path, _: &Path) -> Command {
    Command::new(program)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str, folder: &Path) -> Companion {
        let complaints = File::create(folder.join("stderr")).unwrap();
        let shell = find(Path::new("sh")).unwrap();
        let own = folder.join("own");
        std::fs::create_dir_all(own.join("deeper")).unwrap();
        Companion::start(&shell, ["-c", script], complaints, &own).unwrap()
    }

    fn soon(what: impl Fn() -> bool) -> bool {
        let start = Instant::now();
        while !what() && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        what()
    }

    #[test]
    fn how_it_ends_is_known_and_what_it_says_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut companion = start("echo no >&2; exit 7", folder.path());
        // `wait` would close the pipe first, and the program would be ended.
        let start = Instant::now();
        while companion.ended().is_none() && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(companion.ended().unwrap().code(), Some(7));
        drop(companion);
        assert_eq!(std::fs::read_to_string(folder.path().join("stderr")).unwrap(), "no\n");
    }

    #[test]
    fn it_ends_when_its_owner_is_dropped_and_when_the_pipe_breaks() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("pid");
        let script = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", mark.display());
        for dropped in [true, false] {
            let mut companion = start(&script, folder.path());
            assert!(soon(|| mark.exists()), "it has started");
            let process = std::fs::read_to_string(&mark).unwrap();
            let process = Path::new("/proc").join(process.trim());
            std::fs::remove_file(&mark).unwrap();
            assert!(companion.ended().is_none());
            if dropped {
                drop(companion);
            } else {
                // As when this process is killed: nothing runs here, but the pipe is closed.
                drop(companion.0.stdin.take());
                std::mem::forget(companion);
            }
            assert!(soon(|| !process.exists() || !Path::new("/proc/self").exists()));
            assert!(soon(|| !folder.path().join("own").exists()), "its folder goes with it");
        }
    }

    #[test]
    fn programs_are_found_where_a_shell_finds_them() {
        assert!(find(Path::new("sh")).is_some());
        assert!(find(Path::new("no-such-program")).is_none());
        assert!(find(Path::new("/no/such/sh")).is_none());
    }
}
