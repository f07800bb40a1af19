//! Ways to reach a device: in this process, in QEMU, over TCP or a serial port.
