//! `vouch flash` and `vouch provision`: what a device keeps.

use super::args::{FlashArgs, ProvisionArgs};
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{keys, run};
use serde_json::json;
use std::time::Instant;
use vouch::deadline;
use vouch::report::text::size;
use vouch::signing::{self, fingerprint};
use vouch_core::link::store::StoreInfo;
use vouch_device::package::key_id;

/// `vouch flash`.
pub fn command(args: &FlashArgs, context: &mut Context) -> Result<u8, Failure> {
    let file = keys::read_bytes(&args.image)?;
    let (_, package) = signing::to_package(&file)
        .map_err(|e| Failure::new(Kind::Mismatch, format!("{}: {e}", args.image.display())))?;
    context.monitor.set_busy(true);
    let stored = to_the_end(context, |context| store(args, &package, context));
    context.monitor.set_busy(false);
    context.finish();
    let Done { board, info, instructions, seconds } = stored?;
    let Some(model) = info.model else {
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
        .print(&format!("{board} starts with this model from now on: {length} of {room}, {kind}"));
    context.print(&format!(
        "update number {}, security counter {}, {seconds:.1} s",
        model.sequence, model.counter
    ));
    Ok(0)
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
    /// What it took the device, if it can count that.
    instructions: Option<u64>,
    seconds: f64,
}

/// The dialogue with the device.
fn store(args: &FlashArgs, package: &[u8], context: &mut Context) -> Result<Done, Failure> {
    let mut client = run::connect(&args.device, context)?;
    let board = client.info().board.clone();
    context.stage(&format!("storing on {board}"));
    let start = Instant::now();
    let info = client.store(package, |sent, all| {
        context.advance(|| format!("{} of {}", size(sent as u64), size(all as u64)));
    })?;
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
        client.provision(&key)?;
        Ok::<_, Failure>(client.info().board.clone())
    });
    context.monitor.set_busy(false);
    context.finish();
    let board = set?;
    let id = fingerprint(&key_id(&key));
    if context.json {
        context::print(&json!({ "board": board, "key": id }).to_string());
    } else {
        context.print(&format!("{board} takes only models signed with key {id} from now on"));
    }
    Ok(0)
}
