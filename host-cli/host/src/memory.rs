//! How much memory the process has, as far as the system tells. Only Linux does.

use std::fs;

/// Bytes that are in use now.
pub fn resident() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The most bytes that were in use at any time.
pub fn peak() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// All bytes that there are for this process: those of the machine, or of the group that it is confined to.
pub fn installed() -> Option<u64> {
    let machine = field(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse::<u64>().ok());
    Some(group.map_or(machine, |group| machine.min(group)))
}

/// The number of kilobytes after a name, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found() {
        let text = "Name:\tvouch\nVmHWM:\t    1204 kB\nVmRSS:\t 12 kB\nThreads:\t1\n";
        assert_eq!(field(text, "VmHWM:"), Some(1204 << 10));
        assert_eq!(field(text, "VmRSS:"), Some(12 << 10));
        assert_eq!(field(text, "Threads:"), None);
        assert_eq!(field(text, "VmSwap:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_some() {
        let (now, peak, all) = (resident().unwrap(), peak().unwrap(), installed().unwrap());
        assert!(now > 1 << 16 && now <= peak + (1 << 22) && peak < all);
    }
}
