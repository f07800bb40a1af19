//! `vouch run`: have a device prove or refute, and validate here what it says.

use super::args::RunArgs;
use super::ask::ask;
use super::context::Context;
use super::device_args::DeviceArgs;
use super::failure::Failure;
use super::files;
use super::verdict::{self, Answered};
use std::time::Instant;
use vouch_core::ic3::Verdict;
use vouch_host::blast::certified;
use vouch_host::check::{self, By, CheckError, Found, Request};
use vouch_host::client::{Client, DeviceError, LineQuality, Patience};
use vouch_host::engines::Engine;
use vouch_host::pipeline::Loaded;
use vouch_host::report::json::{Device, Outcome};
use vouch_host::report::text::size;
use vouch_host::verdict::Reason;

/// Runs `vouch run`; returns the exit code.
pub fn command(args: &RunArgs, context: &mut Context) -> Result<u8, Failure> {
    let start = Instant::now();
    let model = files::load(&args.model, context)?;
    let question = ask(&model, &args.ask)?;
    context.monitor.set_so_far(verdict::open(&model, &question));
    let request = Request {
        budget: args.proof.budget.unwrap_or(0),
        validate: !args.proof.no_validate,
        deadline: context.deadline().clone(),
        last_moments: context.last_moments(),
        shorten: (!args.proof.first_run).then_some(start),
        ..Request::new(question)
    };
    let mut outcome = verdict::outcome_of(&model);
    outcome.engine = Some(Engine::Ic3Cfa.name().into());
    outcome.target = Some(args.device.target.to_string());
    context.monitor.set_busy(true);
    // What is found when it is over is still fetched, if the device is quick about it.
    let found =
        context.last_moments().enter(|| on_device(args, &model, &request, &mut outcome, context));
    let found = found.unwrap_or_else(|over| Err(DeviceError::Ended(over).into()));
    context.monitor.set_busy(false);
    let found = match found {
        Ok(found) => found,
        // The device said clearly that it cannot: nothing is known, and that is an answer.
        Err(CheckError::Device(error @ (DeviceError::TooLarge { .. } | DeviceError::Ended(_)))) => {
            context.finish();
            let (reason, detail) = match error {
                DeviceError::Ended(over) => {
                    let words = context.monitor.last_words(over);
                    (over.into(), words.detail)
                }
                _ => (Reason::Capacity, Some(error.to_string())),
            };
            let unknown = verdict::unknown(&model, &request.question, reason, detail);
            let Outcome { engine, target, time_s, device, .. } = outcome;
            return Ok(verdict::show(
                context,
                &Outcome { engine, target, time_s, device, ..unknown },
            ));
        }
        Err(error) => return Err(error.into()),
    };
    // Only now: the device is not kept waiting for what is done here.
    let checked = found.judge(&model, &request, &mut |progress| {
        context.follow(&model, &request.question, &outcome, progress);
    });
    let answered = Answered {
        model: &model,
        args: &args.model,
        ask: &args.ask,
        question: &request.question,
        proof: &args.proof,
        checked: &checked,
    };
    verdict::report(&answered, outcome, context)
}

/// The dialogue with the device. What becomes known of it is put into `outcome`.
fn on_device(
    args: &RunArgs,
    model: &Loaded,
    request: &Request,
    outcome: &mut Outcome,
    context: &mut Context,
) -> Result<Found, CheckError> {
    let mut client = connect(&args.device, context)?;
    let answer = dialogue(args, model, request, outcome, context, &mut client);
    finish(client, answer, context)
}

/// The dialogue itself.
fn dialogue(
    args: &RunArgs,
    model: &Loaded,
    request: &Request,
    outcome: &mut Outcome,
    context: &mut Context,
    client: &mut Client,
) -> Result<Found, CheckError> {
    let info = client.info().clone();
    let known = |n: u32| (n > 0).then_some(u64::from(n));
    let mut device = Device {
        board: Some(info.board.clone()),
        ram_bytes: known(info.ram),
        flash_bytes: known(info.flash),
        build: Some(info.build.clone()).filter(|b| !b.is_empty()),
        firmware_bytes: known(info.firmware),
        ..Device::default()
    };
    outcome.device = Some(device.clone());
    context.tell(|| {
        let free = size(info.heap.into());
        format!("{}: firmware {}, {free} for a model and its proof", info.board, info.build)
    });

    context.stage(&format!("loading onto {}", info.board));
    if args.log {
        follow_log(client, context);
    }
    let loaded = check::load(model, client, args.stored, |sent, all| {
        context.advance(|| format!("{} of {}", size(sent as u64), size(all as u64)));
    })?;
    context.tell(|| {
        let (minimum, available) = (size(loaded.minimum.into()), size(loaded.available.into()));
        format!("loaded; a proof needs at least {minimum}, there are {available}")
    });

    context.stage(&format!("proving on {}", info.board));
    let found = check::search(model, request, By::Device(client), &mut |progress| {
        context.follow(model, &request.question, outcome, progress);
    })?;
    outcome.time_s = Some(found.time.as_secs_f64());
    let answer = &found.answer;
    device.instructions = answer.instructions;
    device.image_bytes = Some(client.image_bytes());
    device.arena_bytes = Some(answer.arena_bytes);
    device.certificate_holds = certificate(args, model).map(|known| {
        let is_known = |c: &(usize, Vec<u32>)| follows(c, &known);
        answer.verdicts.contains(&Verdict::Safe) && answer.clauses.iter().all(is_known)
    });
    outcome.device = Some(device);
    verdict::add_stats(outcome, &answer.stats);
    let (quality, image_bytes) = (client.quality(), client.image_bytes());
    context.tell(|| {
        let (arena, image) = (size(answer.arena_bytes), size(image_bytes));
        let LineQuality { garbled, repeated } = quality;
        format!(
            "the image took {image}, the proof was given {arena}; {garbled} frames damaged, \
             {repeated} requests repeated"
        )
    });
    Ok(found)
}

/// The clauses of the certificate that the device has stored with the model.
fn certificate(args: &RunArgs, model: &Loaded) -> Option<Vec<(usize, Vec<u32>)>> {
    args.stored.then(|| certified::clauses(&model.image).ok().flatten()).flatten()
}

/// Whether a clause is weaker than one of these: nothing had to be found for it.
fn follows(clause: &(usize, Vec<u32>), known: &[(usize, Vec<u32>)]) -> bool {
    let is_part = |lits: &[u32]| lits.iter().all(|l| clause.1.contains(l));
    known.iter().any(|(at, lits)| *at == clause.0 && is_part(lits))
}

/// Greets the device. The end of the command is told to it from here on.
pub fn connect(args: &DeviceArgs, context: &mut Context) -> Result<Client, DeviceError> {
    context.stage(&format!("reaching {}", args.target));
    let mut client = Client::connect(&args.target, &args.settings(), Patience::default())?;
    client.stop_at(context.deadline().clone());
    Ok(client)
}

/// Ends a dialogue with this result. What the device keeps is saved, whatever the result is.
pub fn finish<T, E: From<DeviceError>>(
    client: Client,
    result: Result<T, E>,
    context: &Context,
) -> Result<T, E> {
    match (client.finish(), result) {
        (Ok(()), result) => result,
        (Err(error), Ok(_)) => Err(error.into()),
        // The first failure is the one to be told.
        (Err(error), Err(first)) => {
            context.alarm(&format!("error: {error}"));
            Err(first)
        }
    }
}

/// Shows the device's log from here on.
fn follow_log(client: &mut Client, context: &Context) {
    let Some(elf) = client.firmware().map(|e| e.to_path_buf()) else {
        context.note("this target has no log that could be decoded");
        return;
    };
    match vouch_host::log::decoder(&elf, context.lines()) {
        Ok(sink) => client.log_to(sink),
        Err(error) => context.note(&format!("the log cannot be shown: {error:#}")),
    }
}
