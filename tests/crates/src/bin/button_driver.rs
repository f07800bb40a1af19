//! Clicks: `button-driver`, generic over pins and clocks. The clock does not run backwards.
#![no_std]
#![no_main]

use button_driver::{Button, ButtonConfig, InstantProvider, Mode};
use embedded_hal::digital::{ErrorType, InputPin};
use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};

struct Pin;
impl ErrorType for Pin {
    type Error = core::convert::Infallible;
}
impl InputPin for Pin {
    fn is_high(&mut self) -> Result<bool, Self::Error> {
        Ok(vouch_input_bool())
    }
    fn is_low(&mut self) -> Result<bool, Self::Error> {
        self.is_high().map(|high| !high)
    }
}

static mut NOW: u32 = 0;

#[derive(Clone, PartialEq)]
struct Instant(u32);
impl core::ops::Sub for Instant {
    type Output = u32;
    fn sub(self, other: Instant) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}
impl InstantProvider<u32> for Instant {
    fn now() -> Self {
        Instant(unsafe { NOW })
    }
}

struct Counter {
    button: Button<Pin, Instant, u32>,
    served: usize,
}

const CONFIG: ButtonConfig<u32> =
    ButtonConfig { debounce: 2, release: 10, hold: 50, mode: Mode::PullDown };

machine!(Counter, Counter { button: Button::new(Pin, CONFIG), served: 0 }, |counter| {
    unsafe { NOW = NOW.wrapping_add(u32::from(vouch_input_u8())) };
    counter.button.tick();
    let button = &mut counter.button;
    if button.clicks() > if FAULT { 4 } else { 2 } || button.holds() > 2 {
        button.reset();
        counter.served = (counter.served + 1) % 100;
    }
    check(button.clicks() <= 3 && counter.served < 100);
});
