//! Framing and messages between host and device (`docs/formats/protocol.md`).
