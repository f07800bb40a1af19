//! Running programs, and reporting their progress.

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// The task was called in a way it does not understand.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Refuses arguments that a task has no use for.
pub fn no_arguments(task: &str, args: &[String]) -> Result<()> {
    match args.first() {
        Some(arg) => Err(Usage(format!("`{task}` takes no argument, but got `{arg}`.")).into()),
        None => Ok(()),
    }
}

/// The cargo that runs this program.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Runs a program to its end. It must succeed.
pub fn run(command: &mut Command) -> Result<()> {
    let code = exit_code(command)?;
    if code != 0 {
        bail!("`{}` ended with exit code {code}", line(command));
    }
    Ok(())
}

/// Runs a program to its end and returns its exit code.
pub fn exit_code(command: &mut Command) -> Result<i32> {
    let status =
        command.status().with_context(|| format!("`{}` cannot be started", line(command)))?;
    status.code().with_context(|| format!("`{}` was killed: {status}", line(command)))
}

/// Runs a program and returns what it prints. It must succeed.
pub fn output(command: &mut Command) -> Result<String> {
    let output =
        command.output().with_context(|| format!("`{}` cannot be started", line(command)))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed: {}", line(command), errors.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A program that runs while other things are done. What it says is shown when it has ended.
pub struct Beside {
    title: &'static str,
    program: Child,
    said: PathBuf,
    start: Instant,
}

impl Beside {
    /// Starts it; `said` is the file for what it says meanwhile.
    pub fn start(title: &'static str, command: &mut Command, said: &Path) -> Result<Beside> {
        let out = File::create(said).with_context(|| said.display().to_string())?;
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
        let started = command.spawn();
        let program = started.with_context(|| format!("`{}` cannot be started", line(command)))?;
        Ok(Beside { title, program, said: said.to_owned(), start: Instant::now() })
    }

    /// Waits for its end, which must be a success.
    pub fn join(mut self) -> Result<()> {
        let status = self.program.wait().context(self.title)?;
        eprint!("{}", String::from_utf8_lossy(&std::fs::read(&self.said)?));
        eprintln!("\n   {}, in parallel: {:.1} s", self.title, self.start.elapsed().as_secs_f32());
        if !status.success() {
            bail!("{} ended with {status}", self.title);
        }
        Ok(())
    }
}

impl Drop for Beside {
    /// Where something else failed, nobody waits for it. It may have ended.
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A command as one would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    words.join(" ")
}

/// A program with a limit of processor time, which other work on the machine does not eat.
pub fn limited(seconds: u64, program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -t {seconds}; exec \"$@\""), "sh"]);
    command.arg(program).args(args);
    command
}

/// Does something with each, so many at a time; what comes of it is in the order in which it was done.
pub fn each<T: Send, R: Send>(jobs: usize, all: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let queue = Mutex::new(all.into_iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(next) = queue.lock().ok().and_then(|mut queue| queue.next()) {
                    let result = work(next);
                    if let Ok(mut done) = done.lock() {
                        done.push(result);
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

/// Where a program is, if it can be found.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)))
        .find(|file| file.is_file())
}

/// Says what comes next.
pub fn heading(title: &str) {
    eprintln!("\n── {title}");
}

/// Does a part of a task under a heading, and says how long it took.
pub fn stage<T>(title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    heading(title);
    let result = work().with_context(|| title.to_owned())?;
    eprintln!("   {title}: {:.1} s", start.elapsed().as_secs_f32());
    Ok(result)
}
