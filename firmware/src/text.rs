//! Lines of text on the port to the host, for firmware that people read with a terminal.

use core::fmt::{Result, Write};

/// The port as a sink of text.
pub struct Text;

impl Write for Text {
    fn write_str(&mut self, text: &str) -> Result {
        crate::send(text.as_bytes());
        Ok(())
    }
}

/// Writes a line: `say!("model: {name}")`.
#[macro_export]
macro_rules! say {
    ($($arg:tt)*) => {{
        // The port takes everything.
        let _ = ::core::fmt::Write::write_fmt(&mut $crate::text::Text, ::core::format_args!($($arg)*));
        $crate::send(b"\n");
    }};
}
