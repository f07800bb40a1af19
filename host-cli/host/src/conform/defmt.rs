//! Logs as a defmt stream: numbers on the line, their texts in the firmware's ELF file.
//!
//! A message of nothing but `name=value`, as `defmt::info!("level={} open={}", level, open)` makes it, is a line of
//! the log. All others tell of something else.

use super::log::{Line, LogError};
use defmt_decoder::{DecodeError, Table};

/// The lines of a stream; each has the number of its message.
pub fn lines(table: &Table, stream: &[u8]) -> Result<Vec<Line>, LogError> {
    let mut decoder = table.new_stream_decoder();
    decoder.received(stream);
    let mut lines = vec![];
    for number in 1.. {
        crate::deadline::tick();
        match decoder.decode() {
            Ok(frame) => {
                let fields = fields(&frame.display_message().to_string());
                lines.extend(fields.map(|fields| Line { number, fields }));
            }
            // The recording ended in the middle of a message.
            Err(DecodeError::UnexpectedEof) => break,
            Err(DecodeError::Malformed) => {
                let message = "the stream cannot be decoded from this message on\n\
                     help: name the ELF file of exactly this firmware, and record from its reset on, without gaps";
                return Err(LogError { line: number, column: None, message: message.into() });
            }
        }
    }
    Ok(lines)
}

/// The names and values of a message that has nothing else.
fn fields(message: &str) -> Option<Vec<(String, String)>> {
    let words = message.split([' ', ',']).filter(|word| !word.is_empty());
    let fields: Option<Vec<_>> = words
        .map(|word| word.split_once('=').filter(|(name, _)| !name.is_empty()))
        .map(|field| field.map(|(name, value)| (name.to_string(), value.to_string())))
        .collect();
    fields.filter(|fields| !fields.is_empty())
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn only_messages_of_nothing_but_fields_are_lines() {
        let field = |name: &str, value: &str| (name.to_string(), value.to_string());
        let both = vec![field("level", "3"), field("pump.on", "true")];
        assert_eq!(fields("level=3 pump.on=true"), Some(both.clone()));
        assert_eq!(fields("level=3, pump.on=true"), Some(both));
        assert_eq!(fields("level="), Some(vec![field("level", "")]));
        for other in ["", "started", "level = 3", "now level=3", "=3"] {
            assert_eq!(fields(other), None, "{other}");
        }
    }
}
