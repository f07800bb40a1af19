//! What is heard from a board, and what it is asked for.

use super::case::Case;
use std::io::Write;
use std::os::unix::net::UnixStream;
use vouch_core::link::MAX_PAYLOAD;
use vouch_core::link::frame::{Received, Receiver, receiver_len};
use vouch_core::link::message::Reply;

/// A boot as its port has it.
pub struct Dialogue<'c> {
    request: Option<&'c [u8]>,
    asked: bool,
    /// All that came.
    pub heard: Vec<u8>,
}

impl Dialogue<'_> {
    pub fn new(case: &Case) -> Dialogue<'_> {
        Dialogue { request: case.request.as_deref(), asked: false, heard: Vec::new() }
    }

    /// Takes what came. The first byte says that the port is up.
    pub fn hear(&mut self, bytes: &[u8], mut port: &UnixStream) {
        self.heard.extend_from_slice(bytes);
        if let Some(request) = self.request
            && !self.heard.is_empty()
            && !std::mem::replace(&mut self.asked, true)
        {
            // If the board is gone, that is seen when it is listened to.
            let _ = port.write_all(request);
        }
    }

    /// In lines of text: what the board said, or what it replied.
    pub fn text(&self) -> String {
        match self.request {
            Some(_) => replies(&self.heard),
            None => String::from_utf8_lossy(&self.heard).into_owned(),
        }
    }

    /// Whether it has come to its end.
    pub fn has_ended(&self) -> bool {
        uart_end(&self.text()).is_some()
    }
}

/// The replies among what came, each of which is an end.
fn replies(bytes: &[u8]) -> String {
    let mut receiver = Receiver::<{ receiver_len(MAX_PAYLOAD) }>::new();
    let mut text = String::new();
    for byte in bytes {
        if receiver.push(*byte) == Received::Payload
            && let [3, _, body @ ..] = receiver.payload()
            && let Some(reply) = Reply::decode(body)
        {
            text += &format!("{reply:?}\ndone\n");
        }
    }
    text
}

/// Where a boot has ended that said this. A panic or fault restarts the board.
pub fn uart_end(text: &str) -> Option<usize> {
    let after = |line: &str, nth: usize| {
        text.match_indices(line).nth(nth).map(|(at, found)| at + found.len())
    };
    let ends = [after("done\n", 0), after("restarting\n", 0), after(" starts\n", 1)];
    ends.into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_core::link::frame;

    #[test]
    fn a_boot_ends_with_its_last_line_or_with_the_next_boot() {
        assert_eq!(uart_end("a starts\nno model: hash\n"), None);
        assert_eq!(uart_end("a starts\nno model: hash\ndone\nmore"), Some(29));
        assert_eq!(uart_end("a starts\nrestarting\na starts\n"), Some(20));
        assert_eq!(uart_end("a starts\na starts\nmore"), Some(18));
    }

    #[test]
    fn a_reply_is_an_end_and_nothing_else_at_the_port_is() {
        let mut payload = [0; MAX_PAYLOAD];
        let len = Reply::Done.encode(1, &mut payload).unwrap();
        let mut bytes = vec![0];
        frame::send_log(b"up", &mut |piece| bytes.extend_from_slice(piece));
        assert_eq!(replies(&bytes), "");
        frame::send(&payload[..len], &[], &mut |piece| bytes.extend_from_slice(piece));
        assert_eq!(replies(&bytes), "Done\ndone\n");
    }
}
