//! `vouch compile`: source text to an image, with its sizes and how it fits the boards; and, if asked,
//! with a proof in it.

use super::args::{AskArgs, CodeArgs, CompileArgs};
use super::ask::ask;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{bound, files, keys, plan, verdict};
use serde_json::json;
use std::path::{Path, PathBuf};
use vouch_core::certificate::Check;
use vouch_device::package::{Release, key_id};
use vouch_host::bind::{self, Wanted};
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

/// Runs `vouch compile`; returns the exit code.
pub fn command(args: &CompileArgs, context: &mut Context) -> Result<u8, Failure> {
    let mut model_args = args.model.clone();
    if args.code.guard {
        // The bits stay those of the program.
        model_args.passes = Some(Passes::for_guard());
    }
    if args.code.state_type.is_some() {
        model_args.passes = Some(Passes::none());
    }
    let mut model = files::load(&model_args, context)?;
    code(&args.code, &mut model)?;
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
    let mut bytes = model.to_file();
    let mut inputs: Vec<&Path> = vec![&args.model.model];
    let mut signed = None;
    if let Some(path) = &args.sign {
        let key = keys::secret(path)?;
        let product = args.product.unwrap_or_default();
        let release = Release { product, firmware: args.firmware_version };
        bytes = signing::sign(&bytes, &key, args.counter, release)
            .map_err(|e| Failure::new(Kind::Mismatch, e.to_string()))?;
        signed = Some(signing::fingerprint(&key_id(&key.public())));
        inputs.push(path);
    }
    files::write(&output, &bytes, &inputs)?;
    if let Some(path) = &args.code.state_type {
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
        context.print(&format!("signed with key {key}, security counter {}", args.counter));
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

/// Binds the image to the program that the model was lifted from, or that it was compiled into.
fn code(args: &CodeArgs, model: &mut Loaded) -> Result<(), Failure> {
    let is_source = matches!(model.origin, Origin::Source(_));
    let is_program = matches!(model.origin, Origin::Program(_));
    let program = match &args.elf {
        Some(path) if is_source => {
            let read =
                read::file(path).map_err(|source| LoadError::Read { path: path.clone(), source });
            Some(read?)
        }
        Some(_) => {
            return Err(Failure::usage(
                "`--elf` is for C only: it names the program that the source is compiled into\n\
                 help: leave it out; a program that is the model itself is always bound",
            ));
        }
        None => None,
    };
    if is_program || program.is_some() {
        let wanted = Wanted { cover: args.cover.clone(), places: args.guard, program };
        if !args.unbound {
            bind::bind(model, &wanted)?;
        }
        return Ok(());
    }
    let options = [(args.unbound, "--unbound"), (args.guard, "--guard")];
    let options = options.into_iter().chain([(!args.cover.is_empty(), "--cover")]);
    match options.into_iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::usage(format!(
            "`{option}` is for linked programs (ELF): only they have code that an image can be bound to\n\
             help: {}",
            match is_source {
                true => "name the program that this source is compiled into: `--elf FIRMWARE.elf`",
                false => "leave it out",
            }
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
