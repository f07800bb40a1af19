//! Flags that say where a device is, and how to get there.

use super::args::bytes;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use vouch_host::transport::probe::ProbeSettings;
use vouch_host::transport::{Settings, Target};

/// Where the device is.
#[derive(Args, Debug)]
#[command(next_help_heading = "Device")]
pub struct DeviceArgs {
    /// Where the device is: sim, qemu:BOARD, serial:PATH, usb:VENDOR:PRODUCT[:SERIAL], tcp:HOST:PORT, rfc2217:HOST:PORT,
    /// probe[:SELECTOR], labgrid:PLACE
    #[arg(long, short, env = "VOUCH_TARGET", hide_env = true)]
    #[arg(value_name = "sim|qemu:BOARD|serial:PATH|…")]
    pub target: Target,
    /// Speed of a serial port
    #[arg(long, env = "VOUCH_BAUD", hide_env = true, default_value_t = 115_200)]
    pub baud: u32,
    /// Memory of the simulated device for model and proof, as in 12K
    #[arg(long, env = "VOUCH_SIM_RAM", hide_env = true, value_name = "BYTES")]
    #[arg(value_parser = bytes, default_value = "40K")]
    pub sim_ram: usize,
    /// Where the flash of a simulated or emulated device is kept from one run to the next
    #[arg(long, env = "VOUCH_FLASH_FILE", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub flash_file: Option<PathBuf>,
    #[command(flatten)]
    pub emulator: EmulatorArgs,
    #[command(flatten)]
    pub probe: ProbeArgs,
}

/// Where what emulated boards need is.
#[derive(Args, Debug)]
#[command(next_help_heading = "Device")]
pub struct EmulatorArgs {
    /// Folder of the boards' firmware [default: firmware/out, here or in a folder above]
    #[arg(long, env = "VOUCH_FIRMWARE_DIR", hide_env = true, value_name = "FOLDER")]
    #[arg(value_hint = ValueHint::DirPath)]
    pub firmware_dir: Option<PathBuf>,
    /// QEMU's program [default: the one for the board's processor, as qemu-system-arm]
    #[arg(long, env = "VOUCH_QEMU", hide_env = true, value_name = "PROGRAM")]
    #[arg(value_hint = ValueHint::CommandName)]
    pub qemu: Option<PathBuf>,
}

/// What is on a probe.
#[derive(Args, Debug)]
#[command(next_help_heading = "Device")]
pub struct ProbeArgs {
    /// Chip of the device on a probe, as in nRF52840_xxAA
    #[arg(long, env = "VOUCH_CHIP", hide_env = true)]
    pub chip: Option<String>,
    /// Firmware of the device on a probe [default: the chip's, from the folder of firmware]
    #[arg(long, env = "VOUCH_FIRMWARE", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub firmware: Option<PathBuf>,
    /// Write the firmware to the device on a probe first
    #[arg(long, env = "VOUCH_PROGRAM", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub program: bool,
}

impl DeviceArgs {
    /// As the transport wants it.
    pub fn settings(&self) -> Settings {
        Settings {
            sim_ram: self.sim_ram,
            baud: self.baud,
            flash_file: self.flash_file.clone(),
            probe: ProbeSettings {
                chip: self.probe.chip.clone(),
                firmware: self.probe.firmware.clone(),
                program: self.probe.program,
            },
            ..self.emulator.settings()
        }
    }
}

impl EmulatorArgs {
    /// As the transport wants it.
    pub fn settings(&self) -> Settings {
        Settings {
            firmware_dir: self.firmware_dir.clone(),
            qemu: self.qemu.clone(),
            ..Settings::default()
        }
    }
}
