//! The device's side of a dialogue with a host, without I/O.
