//! debug
