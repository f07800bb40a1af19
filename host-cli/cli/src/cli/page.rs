//! A verdict as a page of its own.

use super::args::ModelArgs;
use super::context::Context;
use super::failure::Failure;
use super::verdict::{self, Answered};
use super::{files, picture};
use clap::{Args, ValueHint};
use std::path::PathBuf;
use vouch_host::explain::{self, Explanation};
use vouch_host::judge::Finding;
use vouch_host::pipeline::Loaded;
use vouch_host::report::html::{self, Page};
use vouch_host::report::json::Outcome;
use vouch_host::validate::Run;

/// Where a page goes.
#[derive(Args, Debug, Clone)]
pub struct PageArgs {
    /// Write a page for a browser: the machine, the run step by step with its waves and the source, or the
    /// invariant, and how it came about
    #[arg(long, env = "VOUCH_HTML", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
}

impl PageArgs {
    /// Writes the page of a check, if one is asked for.
    pub fn write_check(
        &self,
        answered: &Answered<'_>,
        so_far: &Outcome,
        context: &Context,
    ) -> Result<(), Failure> {
        if self.html.is_none() {
            return Ok(());
        }
        let Answered { model, args, question, checked, .. } = answered;
        let mut outcome = so_far.clone();
        let asked = match &question.properties[..] {
            [one] => Some(*one),
            _ => None,
        };
        let judgement = &checked.judgement;
        verdict::add_judgement(&mut outcome, model, asked, judgement, &checked.answer);
        let run = judgement.all().find_map(|(_, finding)| match finding {
            Finding::Unsafe(broken) => broken.run.as_ref(),
            _ => None,
        });
        // Where there was no time for it, the page does without.
        let explain = |certificate| {
            let explain = || explain::explain(&model.cfa, &verdict::words(model), certificate);
            context.deadline().enter(explain).ok()
        };
        let invariant = judgement.certificate.as_ref().and_then(explain);
        self.write(args, model, &outcome, run, invariant.as_ref(), context)
    }

    /// Writes a page, if one is asked for.
    pub fn write(
        &self,
        args: &ModelArgs,
        model: &Loaded,
        outcome: &Outcome,
        run: Option<&Run>,
        invariant: Option<&Explanation>,
        context: &Context,
    ) -> Result<(), Failure> {
        let Some(path) = &self.html else { return Ok(()) };
        let command: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let picture = picture::draw(model, args);
        let page = Page {
            cfa: &model.cfa,
            words: &verdict::words(model),
            source: &model.source,
            outcome,
            picture: &picture,
            run,
            invariant,
            command: &command,
        };
        files::write(path, html::write(&page).as_bytes(), &[&args.model])?;
        context.note(&format!("page written to {}", path.display()));
        Ok(())
    }
}
