//! A board at a place that labgrid manages: its coordinator lends the place, its exporter shares the serial port and the power switch.
//!
//! Everything goes through `labgrid-client`, which finds the coordinator by itself (`LG_COORDINATOR`). A place is acquired when a line
//! to it is opened and released with the line, unless this user had it before.

use super::companion::{find, wait};
use super::{OpenError, Settings, Transport, rfc2217, tcp};
use crate::deadline;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The command of labgrid that everything goes through.
const CLIENT: &str = "labgrid-client";
/// Serial ports that are shared over the network.
const PORTS: [&str; 2] = ["NetworkSerialPort", "RawNetworkSerialPort"];

/// How long one of its commands may take; a power cycle takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place that was acquired here, and is released with this.
pub struct Place {
    name: String,
    /// Whether to give it back.
    is_ours: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_ours {
            // It stays acquired then, which labgrid shows; there is nothing left to do it with.
            let _ = client(&self.name, &["release"]);
        }
    }
}

/// A line to a place.
struct Line {
    inner: Box<dyn Transport>,
    place: Place,
}

/// What a place offers, as `labgrid-client env` prints it.
#[derive(Deserialize)]
struct Environment {
    targets: BTreeMap<String, Offered>,
}

#[derive(Deserialize)]
struct Offered {
    resources: serde_yaml_ng::Value,
}

/// A serial port.
#[derive(Deserialize, Debug, PartialEq)]
struct Port {
    host: String,
    port: u16,
    protocol: Option<String>,
}

/// Acquires a place and opens the line to its serial port.
pub fn open(name: &str, settings: &Settings) -> Result<Box<dyn Transport>, OpenError> {
    let error = |e: &dyn Display| OpenError::new(format_args!("labgrid:{name}"), e);
    let place = acquire(name).map_err(|e| {
        error(&e).hint(format!(
            "`{CLIENT} places` lists the places, `{CLIENT} who` who has them; the coordinator's address is LG_COORDINATOR"
        ))
    })?;
    let text = client(name, &["env"]).map_err(|e| error(&e))?;
    let port = serial_port(&text).ok_or_else(|| {
        error(&"the place has no serial port that is shared over the network").hint(format!(
            "`{CLIENT} -p {name} show` lists what it has; vouch needs a NetworkSerialPort"
        ))
    })?;
    let address = match port.host.contains(':') {
        true => format!("[{}]:{}", port.host, port.port),
        false => format!("{}:{}", port.host, port.port),
    };
    // As labgrid: RFC 2217 unless it says otherwise.
    let inner: Box<dyn Transport> = match port.protocol.as_deref() {
        Some("raw") => Box::new(tcp::connect(&address).map_err(|e| error(&e.reason))?),
        _ => Box::new(rfc2217::connect(&address, settings.baud).map_err(|e| error(&e.reason))?),
    };
    Ok(Box::new(Line { inner, place }))
}

/// Switches the power of a place off and on.
pub fn power_cycle(name: &str) -> Result<(), String> {
    let place = acquire(name)?;
    client(&place.name, &["power", "cycle"]).map(drop)
}

/// Acquires a place, unless this user has it.
pub fn acquire(name: &str) -> Result<Place, String> {
    let name = name.to_string();
    match client(&name, &["acquire"]) {
        Ok(_) => Ok(Place { name, is_ours: true }),
        // Who has acquired it for a whole session keeps it.
        Err(why) if why.contains("You have already acquired") => Ok(Place { name, is_ours: false }),
        Err(why) => Err(why),
    }
}

/// What `labgrid-client` says, or why it does not.
fn client(place: &str, args: &[&str]) -> Result<String, String> {
    let program = find(Path::new(CLIENT))
        .ok_or_else(|| format!("{CLIENT} is not installed (`pip install labgrid`)"))?;
    let mut command = Command::new(program);
    command.args(["-p", place]).args(args).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|e| format!("{CLIENT}: {e}"))?;
    let ended = wait(&mut child, PATIENCE, || deadline::current().is_stopped())
        .map_err(|e| format!("{CLIENT}: {e}"))?;
    if ended.is_none() {
        let (what, seconds) = (args.join(" "), PATIENCE.as_secs());
        return Err(format!(
            "{CLIENT} {what}: no answer within {seconds} s; is the coordinator reachable?"
        ));
    }
    // It says a few lines, which the pipe holds.
    let output = child.wait_with_output().map_err(|e| format!("{CLIENT}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => {
            let said = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
            let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
            Err(format!("{CLIENT} {}: {}", args.join(" "), last.unwrap_or("it failed")))
        }
    }
}

/// The first serial port that a place offers.
fn serial_port(text: &str) -> Option<Port> {
    let environment: Environment = serde_yaml_ng::from_str(text).ok()?;
    let mut open: Vec<serde_yaml_ng::Value> =
        environment.targets.into_values().map(|offered| offered.resources).collect();
    // Resources are a mapping by class, or a list of such with names.
    while let Some(value) = open.pop() {
        match value {
            serde_yaml_ng::Value::Mapping(mapping) => {
                for (key, value) in mapping {
                    let is_port = key.as_str().is_some_and(|key| PORTS.contains(&key));
                    match is_port.then(|| serde_yaml_ng::from_value(value.clone())) {
                        Some(Ok(port)) => return Some(port),
                        _ => open.push(value),
                    }
                }
            }
            serde_yaml_ng::Value::Sequence(list) => open.extend(list),
            _ => {}
        }
    }
    None
}

impl Transport for Line {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.send(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.inner.recv(buffer, timeout)
    }
    fn describe(&self) -> String {
        format!("the device at labgrid:{}", self.place.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_a_place() {
        let port = |protocol: Option<&str>| {
            let protocol = protocol.map(str::to_string);
            Some(Port { host: "10.0.0.7".into(), port: 4001, protocol })
        };
        let by_class = "targets:\n  a:\n    resources:\n      NetworkPowerPort: {host: p, index: 1}\n      \
                        NetworkSerialPort:\n        host: 10.0.0.7\n        port: 4001\n        protocol: raw\n        speed: 115200\n";
        assert_eq!(serial_port(by_class), port(Some("raw")));
        let listed = "targets:\n  a:\n    resources:\n    - NetworkSerialPort:\n        name: console\n        \
                      host: 10.0.0.7\n        port: 4001\n        protocol: null\n";
        assert_eq!(serial_port(listed), port(None));
        for none in [
            "",
            "targets: 3",
            "targets:\n  a:\n    resources: {}\n",
            "{",
            "targets:\n  a:\n    resources:\n      NetworkSerialPort: {host: x}\n",
        ] {
            assert_eq!(serial_port(none), None, "{none}");
        }
    }
}
