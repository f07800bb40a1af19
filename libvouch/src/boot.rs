//! The self-check at boot.

use crate::raw::{self, Callback, Region};
use core::ffi::{c_char, c_void};
use vouch_core::image::Image;
use vouch_device::boot::{self, MAX_PARAMETERS, Method, Outcome, Permit, SelfCheck, Verdict, Why};
use vouch_device::code::Code;

/// Names of required properties at most.
const MAX_REQUIRED: usize = 16;

/// A parameter that this device has.
#[repr(C)]
pub struct Parameter {
    name: *const c_char,
    value: u64,
}

impl Parameter {
    /// Its name.
    pub fn name(&self) -> &str {
        raw::text(self.name)
    }
    /// Its value.
    pub fn value(&self) -> u64 {
        self.value
    }
}

/// What is checked, `vouch_check` of the header.
#[repr(C)]
pub struct Check {
    parameters: *const Parameter,
    parameter_count: usize,
    required: *const *const c_char,
    required_count: usize,
    budget: u64,
    slice: u32,
    idle: Callback,
    context: *mut c_void,
    code: Region,
    must_be_bound: u32,
}

impl Check {
    /// Which code the model must be of.
    fn code(&self) -> Code<'_> {
        match (self.must_be_bound, self.code.is_empty()) {
            (0, true) => Code::Unseen,
            (0, false) => Code::Optional(&self.code),
            _ => Code::Required(&self.code),
        }
    }
    /// The parameters that this device has.
    pub fn parameters(&self) -> &[Parameter] {
        raw::slice(self.parameters, self.parameter_count)
    }
    /// Names of properties that the model must have.
    pub fn required(&self) -> &[*const c_char] {
        raw::slice(self.required, self.required_count)
    }
    /// Work after which it gives up; 0: no limit.
    pub fn budget(&self) -> u64 {
        self.budget
    }
    /// Work between two calls of [`Check::idle`].
    pub fn slice(&self) -> u32 {
        self.slice.max(1)
    }
    /// Feeds the watchdog.
    pub fn idle(&self) {
        raw::call(self.idle, self.context);
    }
}

/// What came of it, `vouch_outcome` of the header.
#[repr(C)]
pub struct Report {
    decision: u32,
    verdict: u32,
    reason: u32,
    detail: u32,
    work: u64,
    peak_bytes: u32,
    is_proof: u32,
}

/// What is to be started.
#[derive(Clone, Copy)]
pub struct Application {
    /// The function.
    pub function: Callback,
    /// What it is called with.
    pub argument: *mut c_void,
}

/// Why nothing is known, as numbers of the header; and what belongs to it.
fn reason(why: Why) -> (u32, usize) {
    match why {
        Why::Budget => (1, 0),
        Why::Memory { needed } => (2, needed),
        Why::NoSuchParameter(at) => (3, at),
        Why::OutOfRange(at) => (4, at),
        Why::NoCertificate => (5, 0),
        Why::NoSuchProperty(at) => (6, at),
        Why::NoProperties => (7, 0),
        Why::Missing(at) => (8, at),
        Why::Fault => (9, 0),
        Why::CodeDiffers => (10, 0),
        Why::Unbound => (11, 0),
    }
}

/// The image is none; a number of the header.
pub const NO_IMAGE: u32 = 100;
/// More parameters or names than there is room for.
pub const TOO_MANY: u32 = 101;

/// That nothing starts, and why.
pub fn refusal(why: u32) -> Report {
    let (decision, verdict) = (boot::Decision::Refuse as u32, 3);
    Report { decision, verdict, reason: why, detail: 0, work: 0, peak_bytes: 0, is_proof: 0 }
}

impl Report {
    fn of(outcome: &Outcome) -> Report {
        let (verdict, (reason, detail)) = match outcome.verdict {
            Verdict::Safe => (1, (0, 0)),
            Verdict::Unsafe { property } => (2, (0, property)),
            Verdict::Unknown(why) => (3, reason(why)),
        };
        Report {
            decision: outcome.decision as u32,
            verdict,
            reason,
            detail: detail as u32,
            work: outcome.work,
            peak_bytes: outcome.peak_bytes as u32,
            is_proof: u32::from(outcome.method == Method::Proof),
        }
    }
}

/// Checks an image; what comes of it is passed on as long as its own pieces live.
pub fn checked<R>(
    image: Result<Image<'_, u16>, vouch_core::image::ImageError>,
    check: &Check,
    memory: &mut [u32],
    then: impl FnOnce(&Outcome) -> R,
) -> Result<R, Report> {
    let image = image.map_err(|_| refusal(NO_IMAGE))?;
    let (given, names) = (check.parameters(), check.required());
    if given.len() > MAX_PARAMETERS || names.len() > MAX_REQUIRED {
        return Err(refusal(TOO_MANY));
    }
    let mut parameters = [("", 0); MAX_PARAMETERS];
    for (to, from) in parameters.iter_mut().zip(given) {
        *to = (from.name(), from.value());
    }
    let mut required = [""; MAX_REQUIRED];
    for (to, from) in required.iter_mut().zip(names) {
        *to = raw::text(*from);
    }
    let what = SelfCheck {
        parameters: parameters.get(..given.len()).unwrap_or_default(),
        required: required.get(..names.len()).unwrap_or_default(),
        budget: check.budget,
        slice: check.slice(),
        code: check.code(),
        ..SelfCheck::default()
    };
    let mut idle = || check.idle();
    Ok(then(&boot::check(&image, &what, memory, &mut idle)))
}

/// Starts the application if it may, and tells what came of it.
#[inline(always)]
pub fn start(outcome: &Outcome, application: Application) -> Report {
    outcome.start(|permit| started(permit, application));
    Report::of(outcome)
}

/// Not inlined, and what comes first is to ask whether it is here by right.
#[inline(never)]
fn started(permit: Permit<'_>, application: Application) {
    permit.confirm();
    raw::call(application.function, application.argument);
}

/// `vouch_boot_check` of the header.
#[allow(unsafe_code)]
// SAFETY: no other function of the product has this name; the header reserves `vouch_`.
#[unsafe(no_mangle)]
pub extern "C" fn vouch_boot_check(
    image: *const u8,
    length: usize,
    check: *const Check,
    memory: *mut u32,
    words: usize,
    application: Callback,
    argument: *mut c_void,
    report: *mut Report,
) {
    let bytes = raw::slice(image, length);
    let memory = raw::slice_mut(memory, words);
    let application = Application { function: application, argument };
    let said = match raw::read(check) {
        Some(check) => {
            let image = Image::<u16>::new_checked(bytes);
            checked(image, check, memory, |outcome| start(outcome, application))
        }
        None => Err(refusal(NO_IMAGE)),
    };
    if let Some(report) = raw::write(report) {
        *report = said.unwrap_or_else(|refusal| refusal);
    }
}
