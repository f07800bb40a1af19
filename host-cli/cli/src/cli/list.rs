//! `vouch list`: boards, serial ports, probes and engines.

use super::args::ListArgs;
use super::context::{self, Context};
use super::failure::Failure;
use serde::Serialize;
use serde_json::json;
use serialport::{SerialPortInfo, SerialPortType};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use vouch_host::engines::Engine;
use vouch_host::escape;
use vouch_host::report::text::size;
use vouch_host::transport::qemu::{BOARDS, find_firmware};

#[derive(Serialize)]
struct Board {
    name: &'static str,
    target: String,
    about: String,
    ram_bytes: u32,
    flash_bytes: u32,
    /// Where its firmware is.
    firmware: Option<String>,
}

#[derive(Serialize)]
struct Port {
    target: String,
    about: Option<String>,
}

/// Runs `vouch list`; returns the exit code.
pub fn command(args: &ListArgs, context: &mut Context) -> Result<u8, Failure> {
    let emulator = &args.emulator;
    let settings = emulator.settings();
    let emulators = emulators(emulator.qemu.as_deref());
    let boards: Vec<Board> = BOARDS
        .iter()
        .map(|b| Board {
            name: &b.name,
            target: format!("qemu:{}", b.name),
            about: format!(
                "{}, {} RAM, {} flash",
                b.processor,
                size(b.ram.into()),
                size(b.flash.into())
            ),
            ram_bytes: b.ram,
            flash_bytes: b.flash,
            firmware: find_firmware(b, &settings).ok().map(|p| p.display().to_string()),
        })
        .collect();
    // A system that cannot list its ports has none that could be named.
    let ports = ports(&serialport::available_ports().unwrap_or_default());
    let probe_rs = first_line(Path::new("probe-rs"), "--version");
    let probes = probe_rs.as_ref().map_or(vec![], |_| probes());
    if context.json {
        let engine = |e: Engine| json!({ "name": e.name(), "about": e.about() });
        let text = json!({
            "qemu": emulators.iter().find_map(|(_, version)| version.as_deref()),
            "boards": boards,
            "ports": ports,
            "probe_rs": probe_rs,
            "probes": probes,
            "engines": Engine::ALL.map(engine),
        });
        context::print(&text.to_string());
        return Ok(0);
    }
    let mut text = String::from("boards\n");
    for b in &boards {
        let firmware = b.firmware.as_deref().unwrap_or("not built (`cargo xtask firmware`)");
        text.push_str(&format!("  {:18}{}\n", b.target, b.about));
        text.push_str(&format!("  {:18}firmware: {firmware}\n", ""));
    }
    for (program, version) in &emulators {
        let missing = || format!("{} is not installed (`cargo xtask setup`)", program.display());
        let version = version.as_deref().map_or_else(missing, escape::text);
        text.push_str(&format!("  emulator: {version}\n"));
    }
    text.push_str(&format!("  {:18}the device's program in this process\n", "sim"));
    text.push_str("\nserial ports\n");
    for port in &ports {
        text.push_str(&format!("  {}\n", shown(port)));
    }
    if ports.is_empty() {
        text.push_str("  none\n");
    }
    text.push_str("\nprobes\n");
    match &probe_rs {
        None => text.push_str("  probe-rs is not installed (https://probe.rs)\n"),
        Some(_) if probes.is_empty() => text.push_str("  none\n"),
        Some(_) => probes.iter().for_each(|p| text.push_str(&format!("  {}\n", escape::text(p)))),
    }
    text.push_str("\nengines\n");
    for engine in Engine::ALL {
        text.push_str(&format!("  {engine:14}{}\n", engine.about()));
    }
    context.print(&text);
    Ok(0)
}

/// The programs that emulate boards, each with its version if it is there.
fn emulators(chosen: Option<&Path>) -> Vec<(PathBuf, Option<String>)> {
    let mut programs: Vec<PathBuf> = match chosen {
        Some(program) => vec![program.to_path_buf()],
        None => BOARDS.iter().map(|board| (&board.qemu.program).into()).collect(),
    };
    programs.dedup();
    let version = |program: PathBuf| (program.clone(), first_line(&program, "--version"));
    programs.into_iter().map(version).collect()
}

/// The first line that a program prints; `None` if it is not there.
fn first_line(program: &Path, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.lines().next().unwrap_or("").to_string())
}

/// What probe-rs finds: lines as `[0]: …`.
fn probes() -> Vec<String> {
    let Ok(output) = Command::new("probe-rs").arg("list").stdin(Stdio::null()).output() else {
        return vec![];
    };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|l| l.starts_with('[')).map(str::to_string).collect()
}

fn ports(found: &[SerialPortInfo]) -> Vec<Port> {
    let about = |kind: &SerialPortType| match kind {
        SerialPortType::UsbPort(usb) => {
            let named = usb.product.clone().map_or(String::new(), |p| format!(" {p}"));
            Some(format!("USB {:04x}:{:04x}{named}", usb.vid, usb.pid))
        }
        SerialPortType::BluetoothPort => Some("Bluetooth".to_string()),
        SerialPortType::PciPort => Some("PCI".to_string()),
        SerialPortType::Unknown => None,
    };
    let port = |p: &SerialPortInfo| Port {
        target: format!("serial:{}", p.port_name),
        about: about(&p.port_type),
    };
    let mut ports: Vec<Port> = found.iter().map(port).collect();
    ports.sort_by(|a, b| a.target.cmp(&b.target));
    ports
}

/// A port in a line. What it is called is up to whoever made the device.
fn shown(port: &Port) -> String {
    escape::text(format!("{}  {}", port.target, port.about.as_deref().unwrap_or("")).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serialport::UsbPortInfo;

    #[test]
    fn a_device_cannot_write_to_the_terminal_by_its_name() {
        let usb = UsbPortInfo {
            vid: 0x0483,
            pid: 0x374b,
            serial_number: None,
            manufacturer: None,
            product: Some("ST\x1b[2J\r\n  serial:/dev/forged\u{9b}31m".into()),
        };
        let port = |name: &str, port_type| SerialPortInfo { port_name: name.into(), port_type };
        let found = [
            port("/dev/ttyS0\x07", SerialPortType::Unknown),
            port("/dev/ttyACM0", SerialPortType::UsbPort(usb)),
        ];
        let lines: Vec<String> = ports(&found).iter().map(shown).collect();
        assert_eq!(
            lines,
            [
                "serial:/dev/ttyACM0  USB 0483:374b ST\\u{1b}[2J\\r\\n  serial:/dev/forged\\u{9b}31m",
                "serial:/dev/ttyS0\\u{7}"
            ]
        );
    }
}
