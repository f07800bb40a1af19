//! `vouch compile`: source text to an image, with its sizes and how it fits the boards; and, if asked,
//! with a proof in it.

use super::args::{AskArgs, ModelArgs};
use super::ask::ask;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{bound, files, keys, plan, verdict};
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use serde_json::json;
use std::path::{Path, PathBuf};
use vouch_core::certificate::Check;
use vouch_device::package::{Product, Release, key_id};
use vouch_host::bind::Wanted;
use vouch_host::blast::certified::{self, Effort};
use vouch_host::check::{self, By, Checked, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::glue;
use vouch_host::pipeline::{IMAGE_EXTENSION, LoadError, Loaded, Origin};
use vouch_host::read;
use vouch_host::report::text::size;
use vouch_host::signing;
use vouch_host::simplify::Passes;
use vouch_host::verdict::Verdict;

/// Arguments of `compile`.
#[derive(Args, Debug)]
pub struct CompileArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The image's file [default: the model's name with .vimg, in the current folder]
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub sign: SignArgs,
    /// Prove all properties here and put the invariant into the image, so that a device can check it
    /// instead of searching for one; nothing is written if something is not proved
    #[arg(long, env = "VOUCH_WITH_CERTIFICATE", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub with_certificate: bool,
    /// Prove it for this value of a parameter only; can be repeated
    #[arg(long, env = "VOUCH_BIND", hide_env = true, value_name = "PARAMETER=VALUE")]
    #[arg(value_delimiter = ',', requires = "with_certificate")]
    pub bind: Vec<String>,
    #[command(flatten)]
    pub code: CodeArgs,
    /// Write a struct with the model's variables that packs them for the guard, as Rust (`.rs`) or C (`.h`); the model
    /// is not simplified then
    #[arg(
        long,
        env = "VOUCH_STATE_TYPE",
        hide_env = true,
        value_name = "FILE",
        conflicts_with = "passes",
        help_heading = "Code"
    )]
    pub state_type: Option<PathBuf>,
}

/// Whose an image is.
#[derive(Args, Debug)]
pub struct SignArgs {
    /// Sign the image with this secret key
    #[arg(long, env = "VOUCH_SIGN", hide_env = true, value_name = "KEY")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub sign: Option<PathBuf>,
    /// The security counter of a signed image: devices refuse a lower one than they had before
    #[arg(long, env = "VOUCH_COUNTER", hide_env = true, value_name = "NUMBER")]
    #[arg(default_value_t = 0)]
    pub counter: u32,
    /// The product that a signed image is for: 1 to 16 characters, or 32 hexadecimal digits. Devices that know their
    /// own take no other
    #[arg(long, env = "VOUCH_PRODUCT", hide_env = true, value_name = "ID", requires = "sign")]
    #[arg(value_parser = signing::read_product)]
    pub product: Option<Product>,
    /// The version of the firmware that a signed image is for, for people
    #[arg(long, env = "VOUCH_FIRMWARE_VERSION", hide_env = true, value_name = "NUMBER")]
    #[arg(default_value_t = 0, requires = "sign")]
    pub firmware_version: u32,
}

impl SignArgs {
    /// The file, signed if that is asked for, and the key's fingerprint.
    pub fn sign(&self, file: Vec<u8>) -> Result<(Vec<u8>, Option<String>), Failure> {
        let Some(path) = &self.sign else { return Ok((file, None)) };
        let key = keys::secret(path)?;
        let product = self.product.unwrap_or_default();
        let release = Release { product, firmware: self.firmware_version };
        let signed = signing::sign(&file, &key, self.counter, release)
            .map_err(|e| Failure::new(Kind::Mismatch, e.to_string()))?;
        Ok((signed, Some(signing::fingerprint(&key_id(&key.public())))))
    }
}

/// What of the program an image is bound to.
#[derive(Args, Debug)]
#[command(next_help_heading = "Code")]
pub struct CodeArgs {
    /// The linked program that this source is compiled into: the image is bound to the functions in it that the model
    /// was made of (C only)
    #[arg(
        long,
        env = "VOUCH_ELF",
        hide_env = true,
        value_name = "PROGRAM",
        conflicts_with = "unbound"
    )]
    pub elf: Option<PathBuf>,
    /// Bind this function, object or section of the program, too, besides all that the step depends on: the vector
    /// table, the main loop, or `all`; can be repeated (ELF, or C with `--elf`)
    #[arg(long, env = "VOUCH_COVER", hide_env = true, value_name = "SYMBOL")]
    #[arg(value_delimiter = ',')]
    pub cover: Vec<String>,
    /// Do not bind the image to the program: devices take it whatever code they have (ELF only)
    #[arg(long, env = "VOUCH_UNBOUND", hide_env = true, conflicts_with = "cover")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub unbound: bool,
    /// Tell the device where the program's variables are, so that its guard reads them by itself; the model is
    /// hardly simplified then (ELF, or C with `--elf`)
    #[arg(long, env = "VOUCH_GUARD", hide_env = true, conflicts_with_all = ["unbound", "passes"])]
    #[arg(value_parser = FalseyValueParser::new())]
    pub guard: bool,
}

/// Runs `vouch compile`; returns the exit code.
pub fn command(args: &CompileArgs, context: &mut Context) -> Result<u8, Failure> {
    let mut model_args = args.model.clone();
    if args.state_type.is_some() {
        model_args.passes = Some(Passes::none());
    }
    let mut model = compiled(model_args, &args.code, context)?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None => {
            let stem = args.model.model.file_stem().unwrap_or("model".as_ref());
            PathBuf::from(stem).with_extension(IMAGE_EXTENSION)
        }
    };
    let effort = match args.with_certificate {
        true => match certify(args, &mut model, context)? {
            Ok(effort) => Some(effort),
            Err(code) => return Ok(code),
        },
        false => None,
    };
    let sizes = plan::sizes(&model.image)
        .map_err(|e| Failure::new(Kind::Mismatch, format!("the image cannot be used: {e}")))?;
    let fits = plan::fits(&sizes, effort.as_ref().map(|effort| effort.memory_bytes));
    let (bytes, signed) = args.sign.sign(model.to_file())?;
    let mut inputs: Vec<&Path> = vec![&args.model.model];
    inputs.extend(args.sign.sign.as_deref());
    files::write(&output, &bytes, &inputs)?;
    if let Some(path) = &args.state_type {
        inputs.push(&output);
        state_type(path, &model, &inputs)?;
    }
    if context.json {
        let hash: String = model.digest.iter().map(|b| format!("{b:02x}")).collect();
        let outcome = super::verdict::outcome_of(&model);
        let text = json!({
            "model": model.cfa.name,
            "source_sha256": hash,
            "output": output.display().to_string(),
            "file_bytes": bytes.len(),
            "sizes": sizes,
            "properties": model.cfa.properties.len(),
            "parameters": model.map.params.len(),
            "boards": fits,
            "signed": signed,
            "bound": bound::to_json(&model),
            "certificate": effort.map(|e| json!({
                "bytes": e.table_bytes,
                "memory_bytes": e.memory_bytes,
                "propagations": e.propagations,
            })),
            "warnings": outcome.warnings,
        });
        context::print(&text.to_string());
        return Ok(0);
    }
    let file = size(bytes.len() as u64);
    context.print(&format!(
        "{}: {} ({file} with its explanation)",
        model.cfa.name,
        output.display()
    ));
    if let Some(key) = signed {
        context.print(&format!("signed with key {key}, security counter {}", args.sign.counter));
    }
    if let Some(text) = bound::summary(&model) {
        context.print(&text);
    }
    if !context.quiet {
        context.print(&plan::show_sizes(&sizes));
        context.print(&plan::show_fits(&fits));
        if let Some(Effort { table_bytes, memory_bytes, propagations }) = effort {
            let (table, memory) = (size(table_bytes as u64), size(memory_bytes as u64));
            context.print(&format!(
                "certificate of {table}; checking it takes {memory} of memory and {propagations} \
                 propagated literals"
            ));
        }
    }
    Ok(0)
}

/// The model, bound to what it is proved of.
pub fn compiled(
    mut args: ModelArgs,
    code: &CodeArgs,
    context: &mut Context,
) -> Result<Loaded, Failure> {
    if code.guard {
        // The bits stay those of the program.
        args.passes.get_or_insert_with(Passes::for_guard);
    }
    let mut model = files::load(&args, context)?;
    bind(code, &mut model)?;
    Ok(model)
}

/// Binds the image to the program that the model was lifted from, or that it was compiled into.
fn bind(args: &CodeArgs, model: &mut Loaded) -> Result<(), Failure> {
    let is_source = matches!(model.origin, Origin::Source(_));
    let is_program = matches!(model.origin, Origin::Program(_));
    if !is_source && !is_program {
        return without_code(args);
    }
    let program = match &args.elf {
        Some(_) if is_program => return Err(only_c()),
        Some(path) => {
            let read =
                read::file(path).map_err(|source| LoadError::Read { path: path.clone(), source });
            Some(read?)
        }
        None => None,
    };
    if is_source && program.is_none() {
        return only_bound(
            args,
            "name the program that this source is compiled into: `--elf FIRMWARE.elf`",
        );
    }
    let wanted = Wanted { cover: args.cover.clone(), places: args.guard, program };
    if !args.unbound {
        vouch_host::bind::bind(model, &wanted)?;
    }
    Ok(())
}

/// Refuses what is about code, for a model that has none.
pub fn without_code(args: &CodeArgs) -> Result<(), Failure> {
    match args.elf {
        Some(_) => Err(only_c()),
        None => only_bound(args, "leave it out"),
    }
}

fn only_c() -> Failure {
    Failure::usage(
        "`--elf` is for C only: it names the program that the source is compiled into\n\
         help: leave it out; a program that is the model itself is always bound",
    )
}

/// Refuses what needs a program.
fn only_bound(args: &CodeArgs, help: &str) -> Result<(), Failure> {
    let options =
        [(args.unbound, "--unbound"), (args.guard, "--guard"), (!args.cover.is_empty(), "--cover")];
    match options.into_iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::usage(format!(
            "`{option}` is for linked programs (ELF): only they have code that an image can be bound to\n\
             help: {help}"
        ))),
    }
}

/// Writes the struct that a guard is asked about.
fn state_type(path: &Path, model: &Loaded, inputs: &[&Path]) -> Result<(), Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let Some(language) = glue::Language::of(extension) else {
        return Err(Failure::usage(format!(
            "`--state-type {}`: no language has such files\nhelp: `.rs` for Rust, `.h` for C",
            path.display()
        )));
    };
    let Some(text) = glue::glue(model, language) else {
        return Err(Failure::usage(
            "the image was simplified when it was compiled: its bits are not those of the source\n\
             help: compile it from the source, with `--state-type`",
        ));
    };
    files::write(path, text.as_bytes(), inputs)
}

/// Proves the model and puts the invariant into its image; or the exit code, if it is not proved.
fn certify(
    args: &CompileArgs,
    model: &mut Loaded,
    context: &mut Context,
) -> Result<Result<Effort, u8>, Failure> {
    let question = ask(model, &AskArgs { property: None, bind: args.bind.clone() })?;
    let bindings = model.numbered(&question.bindings);
    let request = Request {
        deadline: context.deadline().clone(),
        last_moments: context.last_moments(),
        ..Request::new(question)
    };
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    let mut outcome = verdict::outcome_of(model);
    outcome.engine = Some(Engine::default().name().into());
    outcome.target = Some("host".into());
    context.stage("proving");
    let checked = check::check(model, &request, by, &mut |progress| {
        context.follow(model, &request.question, &outcome, progress);
    })?;
    let Checked { judgement, answer, time, .. } = checked;
    context.finish();
    if judgement.verdict() != Verdict::Safe {
        outcome.time_s = Some(time.as_secs_f64());
        verdict::add_stats(&mut outcome, &answer.stats);
        verdict::add_judgement(&mut outcome, model, None, &judgement, &answer);
        let code = verdict::show(context, &outcome);
        context.note(
            "not all properties are proved: no image is written\nhelp: `vouch check` shows why; \
             without `--with-certificate` the image is written anyway",
        );
        return Ok(Err(code));
    }
    let image = certified::attach_fewer(&model.image, &answer.clauses, &bindings);
    model.image = image.map_err(|e| Failure::new(Kind::Limit, e.to_string()))?;
    // What the validator here believes, the device's checker must believe too.
    let unusable = |why: String| {
        let message = format!("the certificate cannot be checked on a device: {why}");
        Failure::new(Kind::Limit, message)
    };
    match certified::check(&model.image, &bindings) {
        Ok((Check::Valid, effort)) => Ok(Ok(effort)),
        Ok((Check::Invalid(flaw), _)) => Err(unusable(certified::describe(flaw))),
        Ok((Check::Capacity | Check::Running | Check::Interrupted, _)) => {
            Err(unusable("it needs too much memory".into()))
        }
        Err(error) => Err(unusable(error.to_string())),
    }
}
