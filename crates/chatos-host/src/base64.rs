//! Base64, for those who got a file as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The bytes that a Base64 text stands for.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.trim()).ok()
}

/// Any bytes as one line of Base64.
pub fn encode_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
