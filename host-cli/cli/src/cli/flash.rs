//! `vouch flash` and `vouch provision`: what a device keeps.

use super::args::ModelArgs;
use super::compile::{CodeArgs, SignArgs};
use super::context::{self, Context};
use super::device_args::DeviceArgs;
use super::failure::{Failure, Kind};
use super::{compile, keys, run};
use clap::{Args, ValueHint};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use vouch_core::image::ImageError;
use vouch_core::link::store::StoreInfo;
use vouch_device::package::key_id;
use vouch_host::blast::debug::DebugError;
use vouch_host::client::{Client, DeviceError};
use vouch_host::deadline;
use vouch_host::report::text::size;
use vouch_host::signing::{self, SigningError, fingerprint};
use vouch_host::transport::Target;
use vouch_host::transport::qemu::BOARDS;

/// Arguments of `flash`.
#[derive(Args, Debug)]
pub struct FlashArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub code: CodeArgs,
    #[command(flatten)]
    pub sign: SignArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Arguments of `provision`.
#[derive(Args, Debug)]
pub struct ProvisionArgs {
    /// The public key, as `vouch keygen` writes it
    #[arg(value_name = "KEY.pub", value_hint = ValueHint::FilePath)]
    pub key: PathBuf,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// `vouch flash`.
pub fn command(args: &FlashArgs, context: &mut Context) -> Result<u8, Failure> {
    let path = &args.model.model;
    let file = keys::read_bytes(path)?;
    if signing::is_about_key(&file).is_some() {
        nothing_compiled(args)?;
        if args.sign.sign.is_some() {
            return Err(Failure::usage(
                "a change of keys is signed when it is made, by a key that the device trusts\n\
                 help: leave `--sign` out, here and in the environment; `vouch rekey --sign KEY` signs it",
            ));
        }
        return change_keys(args, &file, context);
    }
    let file = match signing::to_package(&file) {
        Ok(_) => {
            nothing_compiled(args)?;
            file
        }
        Err(SigningError::File(DebugError::Image(ImageError::NotAnImage))) => {
            compile::compiled(args.model.clone(), &args.code, context)?.to_file()
        }
        Err(error) => return Err(unusable(path, &error)),
    };
    let (file, _) = args.sign.sign(file)?;
    let (header, package) = signing::to_package(&file).map_err(|e| unusable(path, &e))?;
    context.monitor.set_busy(true);
    let stored = to_the_end(context, |context| store(args, &package, context));
    context.monitor.set_busy(false);
    context.finish();
    let Done { board, info, instructions, seconds } = stored?;
    let Some(model) = info.model.filter(|model| model.hash == header.hash) else {
        let message = format!("{board} says that it has stored the model, but does not find it");
        return Err(Failure::new(Kind::Device, message));
    };
    if context.json {
        let text = json!({
            "board": board,
            "stored": true,
            "sequence": model.sequence,
            "counter": model.counter,
            "signed": model.signed,
            "confirmed": model.confirmed,
            "image_bytes": model.length,
            "package_bytes": package.len(),
            "room_bytes": info.capacity,
            "instructions": instructions,
            "time_s": seconds,
        });
        context::print(&text.to_string());
        return Ok(0);
    }
    let (length, room) = (size(model.length.into()), size(info.capacity.into()));
    let kind = if model.signed { "signed" } else { "unsigned" };
    context
        .print(&format!("{board} tries this model at its next start: {length} of {room}, {kind}"));
    context.print(&format!(
        "update number {}, security counter {}, {seconds:.1} s",
        model.sequence, model.counter
    ));
    Ok(0)
}

/// Refuses what is for sources and programs: the file is ready to be stored.
fn nothing_compiled(args: &FlashArgs) -> Result<(), Failure> {
    args.model.options().apply_to(&args.model.model, None)?;
    compile::without_code(&args.code)
}

/// Has a device trust a key, or not any more.
fn change_keys(args: &FlashArgs, package: &[u8], context: &mut Context) -> Result<u8, Failure> {
    context.monitor.set_busy(true);
    let changed = to_the_end(context, |context| {
        let mut client = run::connect(&args.device, context)?;
        let info = client.change_keys(package)?;
        Ok::<_, DeviceError>((client.info().board.clone(), info))
    });
    context.monitor.set_busy(false);
    context.finish();
    let (board, info) = changed.map_err(|e| explained(e, &args.device.target))?;
    let trusted: Vec<String> = info.keys.iter().flatten().map(fingerprint).collect();
    if context.json {
        context::print(&json!({ "board": board, "keys": trusted }).to_string());
    } else {
        context.print(&format!("{board} trusts {} from now on", trusted.join(", ")));
    }
    Ok(0)
}

/// Why a file cannot be stored.
fn unusable(path: &Path, error: &SigningError) -> Failure {
    Failure::new(Kind::Mismatch, format!("{}: {error}", path.display()))
}

/// What a device says that stores nothing. Whatever it gives as its reason, in QEMU some cannot.
fn explained(error: DeviceError, target: &Target) -> Failure {
    match (&error, target) {
        (DeviceError::Store { .. }, Target::Qemu(board)) if !board.qemu.writes_flash => {
            let name = &board.name;
            let others = BOARDS.iter().filter(|b| b.qemu.writes_flash);
            let others: Vec<String> = others.map(|b| format!("`qemu:{}`", b.name)).collect();
            let message = format!(
                "QEMU cannot write the flash of {name}: nothing can be stored on it there\n\
                 help: take {}, or `sim`",
                others.join(", ")
            );
            Failure::new(Kind::Device, message)
        }
        _ => error.into(),
    }
}

/// Has a dialogue that may tell the device when it is over.
fn to_the_end<T>(context: &mut Context, dialogue: impl FnOnce(&mut Context) -> T) -> T {
    let deadline = context.last_moments();
    deadline.enter(|| dialogue(context)).unwrap_or_else(|over| deadline::leave(over))
}

/// What became of a model that was to be stored.
struct Done {
    board: String,
    /// What the device has then.
    info: StoreInfo,
    /// What it cost the device, if it can count that.
    instructions: Option<u64>,
    seconds: f64,
}

/// The dialogue with the device.
fn store(args: &FlashArgs, package: &[u8], context: &mut Context) -> Result<Done, Failure> {
    let mut client = run::connect(&args.device, context)?;
    let done = send(args, package, context, &mut client);
    run::finish(client, done, context)
}

fn send(
    args: &FlashArgs,
    package: &[u8],
    context: &mut Context,
    client: &mut Client,
) -> Result<Done, Failure> {
    let board = client.info().board.clone();
    context.stage(&format!("storing on {board}"));
    let start = Instant::now();
    let info = client.store(package, |sent, all| {
        context.advance(|| format!("{} of {}", size(sent as u64), size(all as u64)));
    });
    let info = info.map_err(|e| explained(e, &args.device.target))?;
    let seconds = start.elapsed().as_secs_f64();
    let instructions = client.status()?.instructions;
    Ok(Done { board, info, instructions, seconds })
}

/// `vouch provision`.
pub fn provision(args: &ProvisionArgs, context: &mut Context) -> Result<u8, Failure> {
    let key = keys::public(&args.key)?;
    context.monitor.set_busy(true);
    let set = to_the_end(context, |context| {
        let mut client = run::connect(&args.device, context)?;
        let board = client.info().board.clone();
        let set = client.provision(&key).map(|()| board);
        run::finish(client, set, context)
    });
    context.monitor.set_busy(false);
    context.finish();
    let board = set.map_err(|e| explained(e, &args.device.target))?;
    let id = fingerprint(&key_id(&key));
    if context.json {
        context::print(&json!({ "board": board, "key": id }).to_string());
    } else {
        context.print(&format!("{board} takes only models signed with key {id} from now on"));
    }
    Ok(0)
}
