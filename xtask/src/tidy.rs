//! x
pub fn run()->anyhow::Result<()>{Ok(())}
pub fn task(_:&[String])->anyhow::Result<()>{Ok(())}
